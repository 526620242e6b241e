// The rate that analyze and lint take from a scenario: that of its busiest moment.
#include "sim/analysis_inputs.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

ArrivalProcess& constant(Scenario& scenario, double rps, double from_ms, double to_ms = TO_THE_END) {
  Traffic& traffic = requests_every(scenario, 1, from_ms, to_ms);
  ArrivalProcess process;
  process.rate_rps = rps;
  traffic.source = process;
  return std::get<ArrivalProcess>(traffic.source);
}

RateFound rate(const Scenario& scenario) { return rate_of(scenario, "api"); }

}  // namespace

TEST_CASE("analysis inputs: entries one after the other are not added, at the same time they are") {
  Scenario scenario = scenario_over("ab", 4000);
  constant(scenario, 100, 0, 1000);
  constant(scenario, 70, 1000, 2000);
  CHECK(*rate(scenario).per_s == 100);
  CHECK(rate(scenario).evenly_spaced);
  scenario.traffic[1].from -= 1;  // they meet for a nanosecond
  CHECK(*rate(scenario).per_s == 170);
  CHECK_FALSE(rate(scenario).evenly_spaced);
  scenario.traffic[1].from = scenario.duration;  // never
  scenario.traffic[1].to = NEVER;
  CHECK(*rate(scenario).per_s == 100);
  scenario.traffic[1].upstream = "other";
  CHECK(*rate(scenario).per_s == 100);
  CHECK(rate_of(scenario, "other").why_not == "it has no traffic");
}

TEST_CASE("analysis inputs: evenly spaced needs one even entry whenever it is so busy") {
  Scenario scenario = scenario_over("ab", 4000);
  constant(scenario, 100, 0, 1000);
  constant(scenario, 100, 2000, 3000).poisson = true;
  CHECK_FALSE(rate(scenario).evenly_spaced);
  std::get<ArrivalProcess>(scenario.traffic[1].source).rate_rps = 99;
  CHECK(rate(scenario).evenly_spaced);
  requests_every(scenario, 4, 2500, 2600);  // 250 a second beside the 99
  CHECK(*rate(scenario).per_s == 349);
  CHECK_FALSE(rate(scenario).evenly_spaced);
  scenario.traffic[2].from = ms(3000);
  scenario.traffic[2].to = NEVER;
  CHECK(*rate(scenario).per_s == 250);
  CHECK(rate(scenario).evenly_spaced);
}

TEST_CASE("analysis inputs: stages meet where they stand, bursts and waves at their peak") {
  Scenario scenario = scenario_over("ab", 4000);
  ArrivalProcess& ramp = constant(scenario, 0, 0);
  ramp.stages = {{0, 200, ms(2000)}, {200, 200, ms(500)}, {200, 0, ms(1000)}};
  CHECK(*rate(scenario).per_s == 200);
  constant(scenario, 50, 0, 1000);  // while the ramp is at 0 to 100
  CHECK(*rate(scenario).per_s == 200);
  scenario.traffic[1].to = ms(1600);  // to 160
  CHECK(*rate(scenario).per_s == doctest::Approx(210).epsilon(1e-12));
  scenario.duration = ms(1200);  // the run ends at 120 and 50
  CHECK(*rate(scenario).per_s == doctest::Approx(170).epsilon(1e-12));
  scenario.duration = ms(4000);
  scenario.traffic.resize(1);
  std::get<ArrivalProcess>(scenario.traffic[0].source).stages.clear();
  std::get<ArrivalProcess>(scenario.traffic[0].source).burst = BurstShape{80, ms(10), ms(100)};
  CHECK(*rate(scenario).per_s == 80);
  CHECK_FALSE(rate(scenario).evenly_spaced);
  constant(scenario, 0, 3000).wave = WaveShape{30, 20, ms(10'000)};
  CHECK(*rate(scenario).per_s == 130);
}

TEST_CASE("analysis inputs: a hundred thousand stages are one walk") {
  Scenario scenario = scenario_over("ab", 400'000);
  ArrivalProcess& steps = constant(scenario, 0, 0);
  for (int n = 0; n < 100'000; ++n) steps.stages.push_back({1.0 + n % 1000, 1.0 + n % 1000, ms(1)});
  constant(scenario, 500, 50'000, 50'100);  // while the steps are at 1 to 100
  CHECK(*rate(scenario).per_s == 1000);
  CHECK(rate(scenario).evenly_spaced);
}

TEST_CASE("analysis inputs: no rate is told with its reason") {
  Scenario scenario = scenario_over("ab", 4000);
  CHECK(rate(scenario).why_not == "it has no traffic");
  constant(scenario, 5, 4000);  // after the end
  CHECK(rate(scenario).why_not == "it has no traffic");
  constant(scenario, 5, 0);
  requests_at(scenario, {1});
  CHECK(rate(scenario).why_not == "its traffic is a list of times");
  CHECK_FALSE(rate(scenario).per_s);
}
