// What the tests of the linter share.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "sim/lint.hpp"
#include "tests/sim/pool.hpp"

namespace halfopen::sim::testing {

inline std::string ids(const Scenario& scenario, const LintOptions& options = {}) {
  std::string out;
  for (const LintFinding& finding : lint(scenario, options)) out += (out.empty() ? "" : " ") + finding.id;
  return out;
}

inline LintFinding only(const Scenario& scenario) {
  const std::vector<LintFinding> found = lint(scenario);
  REQUIRE(found.size() == 1);
  return found[0];
}

inline HealthParams& health(Scenario& scenario) { return *api(scenario).health; }
inline BreakerParams& breaker(Scenario& scenario) { return *api(scenario).breaker; }
inline ActiveParams& active(Scenario& scenario) { return *api(scenario).active_health; }
inline ArrivalProcess& process(Scenario& scenario) {
  return std::get<ArrivalProcess>(scenario.traffic[0].source);
}

}  // namespace halfopen::sim::testing
