// What a run writes down: bins, gauges, lanes and the summary.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

using Column = std::vector<std::uint64_t>;

// One bad answer at 10 ms puts "a" out for 100 ms of the machines' clock.
Scenario one_ejection(double duration_ms = 400) {
  Scenario scenario = scenario_over("a", duration_ms);
  api(scenario).health = eject_after(1, 100);
  add_fault(server(scenario, 'a'), script({503}));
  requests_at(scenario, {0});
  return scenario;
}

}  // namespace

TEST_CASE("recorder: counts go to the bin in which they happen, and a bin begins at its first nanosecond") {
  Scenario scenario = scenario_over("a", 100);
  scenario.sample = ms(20);
  add_fault(server(scenario, 'a'), script({200, 200, 503, 200}));
  requests_at(scenario, {0, 9.999999, 10, 20});
  const Timeline timeline = simulate(scenario);
  CHECK(timeline.series.requests == Column{3, 1, 0, 0, 0});
  CHECK(timeline.series.ok == Column{2, 1, 0, 0, 0});
  CHECK(timeline.series.failed == Column{0, 1, 0, 0, 0});
  CHECK(timeline.lanes[0].attempts == Column{3, 1, 0, 0, 0});
  CHECK(timeline.lanes[0].failures == Column{0, 1, 0, 0, 0});
}

TEST_CASE("recorder: the last bin may be a part, and one bin may be longer than the run") {
  Scenario scenario = scenario_over("a", 45);
  scenario.sample = ms(20);
  requests_at(scenario, {0, 33, 41});
  const Timeline part = simulate(scenario);
  CHECK(part.series.requests == Column{1, 1, 1});
  CHECK(part.series.ok == Column{1, 0, 1});
  CHECK(part.series.in_flight == Column{0, 1, 1});
  CHECK(part.lanes[0].state.size() == 3);
  scenario.sample = ms(1000);
  const Timeline one = simulate(scenario);
  CHECK(one.series.requests == Column{3});
  CHECK(one.series.in_flight == Column{1});
  CHECK(one.summary.requests == 3);
}

TEST_CASE(
    "recorder: a run without traffic has its bins all the same, without percentiles and without ratios") {
  Scenario scenario = scenario_over("a", 50);
  scenario.sample = ms(10);
  const Timeline timeline = simulate(scenario);
  CHECK(timeline.series.requests == Column(5, 0));
  CHECK(timeline.series.in_flight == Column(5, 0));
  for (const double p99 : timeline.series.latency_p99_ms) CHECK(std::isnan(p99));
  CHECK(std::isnan(timeline.summary.success_ratio));
  CHECK(std::isnan(timeline.summary.attempts_per_request));
  CHECK(std::isnan(timeline.summary.latency_p50_ms));
  CHECK(lane_text(timeline.lanes[0].intervals) == "0-50 healthy");
  CHECK(timeline.breakers.empty());
}

TEST_CASE("recorder: gauges show what is after everything at the bin's end") {
  Scenario scenario = scenario_over("a", 60);
  scenario.sample = ms(10);
  api(scenario).health = eject_after(1, 30);
  add_fault(server(scenario, 'a'), script({503}));
  requests_at(scenario, {0, 40});
  const Timeline timeline = simulate(scenario);
  // Out at 10, eligible at 40: the pick of that instant makes it half-open, its answer at 50 healthy.
  std::string states;
  for (const std::int8_t state : timeline.lanes[0].state)
    states += std::string(lane_state_name(LaneState(state))) + " ";
  CHECK(states == "ejected ejected ejected half_open healthy healthy ");
  CHECK(timeline.series.in_flight == Column{0, 0, 0, 1, 0, 0});
}

TEST_CASE("recorder: percentiles are of the ok requests that end in the bin, arrival to end") {
  Scenario scenario = scenario_over("a", 300);
  scenario.sample = ms(100);
  api(scenario).retries = retry_at_once(1);
  add_fault(server(scenario, 'a'), script({200, 503, 200, 500}));
  requests_at(scenario, {0, 50, 95, 150});
  const Timeline timeline = simulate(scenario);
  // 0: 10 ms. 50: retried, ends at 70 with the third entry. 95: the 500 that nobody retries. 150: 10 ms.
  CHECK(timeline.series.ok == Column{2, 1, 0});
  CHECK(timeline.series.failed == Column{0, 1, 0});
  CHECK(timeline.series.latency_p50_ms[0] == 9.984);
  CHECK(timeline.series.latency_p95_ms[0] == 19.968);
  CHECK(timeline.series.latency_p99_ms[1] == 9.984);
  CHECK(std::isnan(timeline.series.latency_p50_ms[2]));
  CHECK(timeline.summary.latency_p50_ms == 9.984);
  CHECK(timeline.summary.latency_p99_ms == 19.968);
}

TEST_CASE(
    "recorder: every request is ok, failed, abandoned or unfinished, and fast_failed are among the failed") {
  Scenario scenario = scenario_over("abc", 1000);
  scenario.sample = ms(70);
  scenario.seed = 4;
  for (const char letter : {'a', 'b', 'c'}) {
    server(scenario, letter).latency = ExponentialLatency{20};
    server(scenario, letter).capacity = Capacity{2, 3, 503};
    add_fault(server(scenario, letter), BrownoutFault{0.4, 503, 2, 0.5}, 200, 600);
    add_fault(server(scenario, letter), TruncateFault{0.05});
    add_fault(server(scenario, letter), HangFault{0.02});
  }
  api(scenario).health = eject_after(3, 100);
  api(scenario).breaker = open_after(8, 50);
  api(scenario).retries = retry_at_once(2);
  api(scenario).timeouts.read_ms = 90;
  requests_every(scenario, 3).abandon = Abandon{0.1, ms(30)};
  const Timeline timeline = simulate(scenario);
  const Summary& summary = timeline.summary;
  CHECK(summary.requests == 334);
  CHECK(summary.ok + summary.failed + summary.abandoned + summary.unfinished == summary.requests);
  CHECK(summary.fast_failed <= summary.failed);
  for (const std::uint64_t some : {summary.ok, summary.failed, summary.abandoned, summary.unfinished,
                                   summary.fast_failed, summary.retries, summary.ejections}) {
    CHECK(some > 0);
  }
  CHECK(summary.requests - summary.admitted <= summary.fast_failed);
  CHECK(summary.success_ratio ==
        static_cast<double>(summary.ok) / static_cast<double>(summary.ok + summary.failed));
  CHECK(summary.attempts_per_request ==
        static_cast<double>(summary.attempts) / static_cast<double>(summary.admitted));
  std::uint64_t attempts = 0, failures = 0, in_flight = 0;
  for (const EndpointLane& each : timeline.lanes) {
    CHECK(each.attempts.size() == 15);
    for (const std::uint64_t count : each.attempts) attempts += count;
    for (const std::uint64_t count : each.failures) failures += count;
  }
  for (std::size_t bin = 0; bin < 15; ++bin) in_flight = timeline.series.in_flight[bin];
  CHECK(attempts == summary.attempts);
  CHECK(failures == summary.failures);
  CHECK(in_flight == summary.unfinished);
}

TEST_CASE(
    "recorder: a body that breaks off is one more failure of its endpoint, in the instant of the headers") {
  Scenario scenario = scenario_over("a", 100);
  add_fault(server(scenario, 'a'), TruncateFault{1});
  requests_at(scenario, {0, 20});
  const Timeline timeline = simulate(scenario);
  CHECK(when(timeline.series.failed) == "10 30");
  CHECK(when(timeline.lanes[0].failures) == "10 30");
  CHECK(timeline.summary.failures == 2);
}

TEST_CASE(
    "recorder: an ejected interval says from when a pick may make it half-open, clock steps to come "
    "included") {
  Scenario scenario = one_ejection();
  const auto eligible = [&] { return simulate(scenario).lanes[0].intervals[1].eligible; };
  CHECK(eligible() == ms(110));
  scenario.clock.steps = {{ms(60), -50}};
  CHECK(eligible() == ms(160));
  scenario.clock.steps = {{ms(60), 5000}};
  CHECK(eligible() == ms(60));
  scenario.clock.steps = {{ms(5), -50}};
  CHECK(eligible() == ms(110));
  scenario.clock.steps = {{ms(60), -50}, {ms(90), 30}};
  CHECK(eligible() == ms(130));
  scenario.clock.monotonic = true;
  CHECK(eligible() == ms(110));
}

TEST_CASE("recorder: eligible_ms is right where the file has its clock steps in no order") {
  Scenario scenario = one_ejection();
  scenario.clock.steps = {{ms(300), 1000}, {ms(60), -50}};
  CHECK(simulate(scenario).lanes[0].intervals[1].eligible == ms(160));
}

TEST_CASE("recorder: lanes show the stored state, so an expired ejection stays ejected until a pick") {
  Scenario scenario = one_ejection();
  requests_at(scenario, {300});
  CHECK(lane_text(simulate(scenario).lanes[0].intervals) ==
        "0-10 healthy, 10-300 ejected, 300-310 half_open, 310-400 healthy");
}

TEST_CASE("recorder: a lane ends with the run, to the nanosecond, and events carry virtual time") {
  Scenario scenario = one_ejection(100.000001);
  server(scenario, 'a').latency = FixedLatency{10.25};
  scenario.clock.steps = {{ms(5), -777}};
  const Timeline timeline = simulate(scenario);
  CHECK(lane_text(timeline.lanes[0].intervals) == "0-10.25 healthy, 10.25-100.000001 ejected");
  CHECK(events_of(timeline) == "10.25 a:1 endpoint_ejected consecutive_failures");
}

TEST_CASE("recorder: a state that lasted no time is told by the events and not by the lane") {
  Scenario scenario = scenario_over("a", 100);
  api(scenario).breaker = open_after(1, 20);
  add_fault(server(scenario, 'a'), DownFault{});
  requests_at(scenario, {0, 20, 40});
  const Timeline timeline = simulate(scenario);
  CHECK(timeline.events.size() == 5);
  CHECK(lane_text(timeline.breakers[0].intervals) == "0-20 open, 20-40 open, 40-100 open");
  CHECK(timeline.summary.breaker_openings == 3);
  CHECK(timeline.summary.breaker_open_ms == 100.0);
}

TEST_CASE("recorder: breaker_open_ms counts while it is stored as open, of all upstreams together") {
  Scenario scenario = scenario_over("ab", 200);
  api(scenario) = upstream_over("api", "a");
  scenario.upstreams.push_back(upstream_over("web", "b"));
  for (UpstreamConfig& upstream : scenario.upstreams) upstream.breaker = open_after(1, 30);
  for (const char letter : {'a', 'b'}) add_fault(server(scenario, letter), script({503}));
  requests_at(scenario, {0, 100});      // open 10 to 100, half-open to 110, closed
  requests_at(scenario, {0.5}, "web");  // open from 10.5 to the end
  const Timeline timeline = simulate(scenario);
  CHECK(timeline.summary.breaker_open_ms == 90 + 189.5);
  CHECK(lane_text(timeline.breakers[0].intervals) ==
        "0-10 closed, 10-100 open, 100-110 half_open, 110-200 closed");
}

TEST_CASE("recorder: a fault's lane is its period within the run, a flap's are its down phases") {
  Scenario scenario = scenario_over("a", 100);
  add_fault(server(scenario, 'a'), ErrorFault{0, 503}, 30, 200);
  add_fault(server(scenario, 'a'), FlapFault{ms(20), ms(10), 0, DownKind::refused}, 5, 58, Scope::probes);
  add_fault(server(scenario, 'a'), LatencyFault{}, 150, 160);
  const Timeline timeline = simulate(scenario);
  REQUIRE(timeline.faults.size() == 3);
  CHECK(timeline.faults[0].kind == "error");
  CHECK(lane_text(timeline.faults[0].intervals) == "30-100 active");
  CHECK(timeline.faults[1].scope == Scope::probes);
  CHECK(lane_text(timeline.faults[1].intervals) == "25-35 active, 55-58 active");
  CHECK(timeline.faults[2].intervals.empty());
}

TEST_CASE("recorder: fail-open picks are counted where they are made") {
  Scenario scenario = one_ejection();
  requests_at(scenario, {50, 60});
  const Timeline timeline = simulate(scenario);
  // 50 fails open and succeeds at 60, which recovers the endpoint before the arrival of that instant.
  CHECK(when(timeline.series.fail_open_picks) == "50");
  CHECK(timeline.summary.fail_open_picks == 1);
  CHECK(timeline.events[1].via == Via::fail_open);
}
