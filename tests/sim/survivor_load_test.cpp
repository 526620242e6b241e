// How much more the others carry while somebody is ejected, worked out by hand.
#include <doctest/doctest.h>

#include "sim/metrics.hpp"
#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

std::optional<double> of(const Timeline& timeline, std::string_view metric, const MetricScope& scope = {}) {
  return value(*find_metric(metric), timeline, scope);
}
std::optional<double> of(const Scenario& scenario, std::string_view metric) {
  return of(simulate(scenario), metric);
}

MetricScope between(double from_ms, double to_ms) { return {Window{ms(from_ms), ms(to_ms)}, ""}; }
MetricScope only(const std::string& endpoint) { return {{}, endpoint}; }

// 10 requests a bin of 100 ms, a and b in turn, a first; from 200 on a fails: out at 210, for good.
Scenario two_in_turn(double duration_ms, double fails_from_ms = 200) {
  Scenario scenario = scenario_over("ab", duration_ms);
  scenario.sample = ms(100);
  api(scenario).health = eject_after(1);
  add_fault(server(scenario, 'a'), ErrorFault{1, 503}, fails_from_ms);
  requests_every(scenario, 10);
  return scenario;
}

}  // namespace

TEST_CASE("truth: survivors carry what the ejected one leaves, over the mean before the first ejection") {
  const Timeline timeline = simulate(two_in_turn(500));
  CHECK(timeline.lanes[1].attempts == std::vector<std::uint64_t>{5, 5, 9, 10, 10});
  CHECK(of(timeline, "survivor_load_max") == 2.0);
  CHECK(of(timeline, "survivor_load_mean") == (1.8 + 2.0 + 2.0) / 3);
  CHECK(of(timeline, "survivor_load_max", between(200, 300)) == 1.8);
  CHECK(of(timeline, "survivor_load_mean", between(200.000001, 400)) == 2.0);
  CHECK(of(timeline, "survivor_load_mean", between(0, 200)) == std::nullopt);
  CHECK(of(timeline, "survivor_load_max", only("b:1")) == 2.0);
  CHECK(of(timeline, "survivor_load_max", only("a:1")) == std::nullopt);
}

TEST_CASE("truth: a part of a bin at the run's end has no survivor load") {
  CHECK(of(two_in_turn(550), "survivor_load_mean") == (1.8 + 2.0 + 2.0) / 3);
}

TEST_CASE("truth: without a whole bin before the ejection, or anybody left, there is no survivor load") {
  CHECK(of(two_in_turn(500, 0), "survivor_load_max") == std::nullopt);
  CHECK(of(two_in_turn(500, 95), "survivor_load_max") == 2.0);  // out at 110, bin 0 is whole
  Scenario alone = two_in_turn(500);
  api(alone) = upstream_over("api", "a");
  api(alone).health = eject_after(1);
  CHECK(of(alone, "ejections") == 1.0);
  CHECK(of(alone, "survivor_load_max") == std::nullopt);
  CHECK(of(alone, "survivor_load_mean") == std::nullopt);
}

TEST_CASE("truth: survivors are those of the upstream in which somebody is out") {
  Scenario scenario = two_in_turn(500);
  scenario.upstreams.push_back(upstream_over("web", "c"));
  add_server(scenario, 'c');
  requests_every(scenario, 1).upstream = "web";
  CHECK(of(scenario, "survivor_load_max") == 2.0);
  CHECK(of(scenario, "survivor_load_mean") == (1.8 + 2.0 + 2.0) / 3);
}
