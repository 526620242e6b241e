// What the tests of the linter share.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "sim/lint.hpp"
#include "tests/support/scenario_builder.hpp"

namespace halfopen::sim::testing {

// An upstream over `letters` with the defaults of health and as much traffic as said, if any.
inline Scenario pool(const std::string& letters, double rate_rps = 0, bool poisson = false) {
  Scenario scenario = scenario_over(letters, 4000);
  api(scenario).health.emplace();
  if (rate_rps <= 0) return scenario;
  Traffic traffic;
  traffic.upstream = "api";
  ArrivalProcess process;
  process.poisson = poisson;
  process.rate_rps = rate_rps;
  traffic.source = process;
  scenario.traffic.push_back(traffic);
  return scenario;
}

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
