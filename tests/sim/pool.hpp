// A scenario of one upstream, for tests of what is read from settings.
#pragma once

#include <string>

#include "tests/support/scenario_builder.hpp"

namespace halfopen::sim::testing {

// An upstream over `letters` with the defaults of health and as much traffic as said, if any.
inline Scenario pool(const std::string& letters, double rate_rps = 0, bool poisson = false) {
  Scenario scenario = scenario_over(letters, 4000);
  scenario.sample = ms(1000);
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

}  // namespace halfopen::sim::testing
