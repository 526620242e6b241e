// What only the simulation knows, worked out by hand: how long a fault went unnoticed, what it cost, and
// which ejections nothing justified.
#include <doctest/doctest.h>

#include "sim/metrics.hpp"
#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

using Number = std::optional<double>;

Number of(const Timeline& timeline, std::string_view metric, const MetricScope& scope = {}) {
  return value(*find_metric(metric), timeline, scope);
}
Number of(const Scenario& scenario, std::string_view metric, const MetricScope& scope = {}) {
  return of(simulate(scenario), metric, scope);
}

MetricScope between(double from_ms, double to_ms) { return {Window{ms(from_ms), ms(to_ms)}, ""}; }
MetricScope only(const std::string& endpoint) { return {{}, endpoint}; }

// One endpoint that a single failure puts out for 100 ms; 400 ms of run.
Scenario touchy(const std::string& letters = "a") {
  Scenario scenario = scenario_over(letters, 400);
  api(scenario).health = eject_after(1, 100);
  return scenario;
}

// Attempts take 70 ms between `from` and `to` and are given up after 20: nothing fails, but it looks so.
Scenario slow_tail(double to_ms) {
  Scenario scenario = touchy();
  api(scenario).timeouts.read_ms = 20;
  add_fault(server(scenario, 'a'), LatencyFault{60, 1, 0}, 0, to_ms);
  requests_at(scenario, {0});
  return scenario;
}

}  // namespace

TEST_CASE("truth: time to detect runs from the fault's begin, not from its first victim, to the ejection") {
  Scenario scenario = touchy();
  add_fault(server(scenario, 'a'), ErrorFault{1, 503}, 50, 150);
  requests_at(scenario, {0, 45, 60});
  const Timeline timeline = simulate(scenario);
  CHECK(events_of(timeline) == "70 a:1 endpoint_ejected consecutive_failures");
  CHECK(of(timeline, "time_to_detect_ms") == 20.0);
  CHECK(of(timeline, "missed") == 0.0);
  CHECK(of(timeline, "lost_before_ejection") == 1.0);
  CHECK(of(timeline, "false_ejections") == 0.0);
}

TEST_CASE("truth: an ejection in the fault's first nanosecond is one of it, in its end no more") {
  Scenario scenario = touchy();
  requests_at(scenario, {0});
  Fault& fault = (add_fault(server(scenario, 'a'), ErrorFault{1, 503}), server(scenario, 'a').faults[0]);
  fault.to = ms(10);
  CHECK(of(scenario, "time_to_detect_ms") == std::nullopt);
  CHECK(of(scenario, "missed") == 1.0);
  CHECK(of(scenario, "lost_before_ejection") == 1.0);
  fault.to = ms(10) + 1;
  CHECK(of(scenario, "time_to_detect_ms") == 10.0);
  CHECK(of(scenario, "missed") == 0.0);
  // The script's failure at 10 is the first instant of the second fault, and one nanosecond before it.
  fault.kind = script({503});
  fault.to = NEVER;
  add_fault(server(scenario, 'a'), ErrorFault{1, 503}, 10);
  CHECK(of(scenario, "time_to_detect_ms", between(10, 11)) == 0.0);
  CHECK(of(scenario, "missed") == 0.0);
  server(scenario, 'a').faults[1].from = ms(10) + 1;
  CHECK(of(scenario, "time_to_detect_ms", between(10, 11)) == std::nullopt);
  CHECK(of(scenario, "missed") == 1.0);
}

TEST_CASE("truth: of two faults on one endpoint each is detected for itself, and the slowest counts") {
  Scenario scenario = touchy();
  add_fault(server(scenario, 'a'), script({503}));
  add_fault(server(scenario, 'a'), ErrorFault{1, 503}, 3);
  requests_at(scenario, {0, 5});
  const Timeline timeline = simulate(scenario);
  // 0 fails at 10 by the script: out. 5 fails at 15 by the error; it was sent after 3 and before the
  // ejection.
  CHECK(of(timeline, "time_to_detect_ms") == 10.0);
  CHECK(of(timeline, "time_to_detect_ms", between(3, 4)) == 7.0);
  CHECK(of(timeline, "lost_before_ejection", between(0, 1)) == 2.0);
  CHECK(of(timeline, "lost_before_ejection", between(3, 4)) == 1.0);
  CHECK(of(timeline, "lost_before_ejection") == 3.0);
  // Out from 10: the union of both faults was at work, and counts once.
  CHECK(of(timeline, "in_rotation_while_failing_ms") == 10.0);
}

TEST_CASE("truth: what was sent after the ejection, or after the fault, is not lost before it") {
  Scenario scenario = touchy();
  add_fault(server(scenario, 'a'), ErrorFault{1, 503});
  requests_at(scenario, {0, 5, 12});  // the third fails open
  CHECK(of(scenario, "failures") == 3.0);
  CHECK(of(scenario, "lost_before_ejection") == 2.0);
  server(scenario, 'a').faults[0].to = ms(8);
  requests_at(scenario, {8});
  CHECK(of(scenario, "lost_before_ejection") == 2.0);
  CHECK(of(scenario, "missed") == 1.0);
}

TEST_CASE("truth: a fault beyond the run, of probes alone, or without a failure is none") {
  Scenario scenario = touchy();
  requests_at(scenario, {0});
  add_fault(server(scenario, 'a'), ErrorFault{1, 503}, 400, 500);
  add_fault(server(scenario, 'a'), ErrorFault{1, 503}, 0, 300, Scope::probes);
  add_fault(server(scenario, 'a'), ErrorFault{1, 429}, 0, 300);
  add_fault(server(scenario, 'a'), HangFault{0}, 0, 300);
  const Timeline timeline = simulate(scenario);
  CHECK(of(timeline, "missed") == 0.0);
  CHECK(of(timeline, "time_to_detect_ms") == std::nullopt);
  CHECK(of(timeline, "time_to_return_ms") == std::nullopt);
  CHECK(of(timeline, "in_rotation_while_failing_ms") == 0.0);
  server(scenario, 'a').faults[0].from = ms(400) - 1;
  CHECK(of(scenario, "missed") == 1.0);
  CHECK(of(scenario, "in_rotation_while_failing_ms") == 0.000001);
}

TEST_CASE("truth: an ejection by a probe that met a fault of probes is no false one") {
  Scenario scenario = touchy();
  api(scenario).active_health = probe_every(50);
  add_fault(server(scenario, 'a'), ErrorFault{1, 503}, 0, 300, Scope::probes);
  const Timeline timeline = simulate(scenario);
  CHECK(timeline.summary.ejections == 1);
  CHECK(of(timeline, "false_ejections") == 0.0);
  CHECK(of(timeline, "overload") == 0.0);
  CHECK(of(timeline, "false_ejection_ms") == 0.0);
}

TEST_CASE("truth: a latency tail over read_ms ejects falsely, from there to the recovery") {
  Scenario scenario = slow_tail(100);
  requests_at(scenario, {130});
  const Timeline timeline = simulate(scenario);
  CHECK(lane_text(timeline.lanes[0].intervals) ==
        "0-20 healthy, 20-130 ejected, 130-140 half_open, 140-400 healthy");
  CHECK(of(timeline, "false_ejections") == 1.0);
  CHECK(of(timeline, "overload") == 0.0);
  CHECK(of(timeline, "false_ejection_ms") == 120.0);
  CHECK(of(timeline, "false_ejection_ms", between(0, 20)) == 0.0);
  CHECK(of(timeline, "false_ejection_ms", between(139.5, 200)) == 0.5);
  CHECK(of(timeline, "false_ejections", between(20, 20.000001)) == 1.0);
  CHECK(of(timeline, "false_ejections", between(19, 20)) == 0.0);
}

TEST_CASE("truth: ejected again before it recovered, the time out is counted once") {
  Scenario scenario = slow_tail(135);
  requests_at(scenario, {130, 290});  // the first trial is slow too, and fails at 150
  const Timeline timeline = simulate(scenario);
  CHECK(of(timeline, "false_ejections") == 2.0);
  CHECK(of(timeline, "false_ejection_ms") == 280.0);
}

TEST_CASE("truth: a false ejection ends with the run, with its endpoint, or with a reload that ends health") {
  CHECK(of(slow_tail(100), "false_ejection_ms") == 380.0);
  Scenario removed = slow_tail(100);
  add_server(removed, 'b');
  reload_at(removed, 60)[0] = upstream_over("api", "b");
  CHECK(of(removed, "false_ejection_ms") == 40.0);
  Scenario unwatched = slow_tail(100);
  reload_at(unwatched, 70)[0].health.reset();
  CHECK(lane_text(simulate(unwatched).lanes[0].intervals) == "0-20 healthy, 20-70 ejected, 70-400 healthy");
  CHECK(of(unwatched, "false_ejection_ms") == 50.0);
}

TEST_CASE("truth: ejections by overflow and by queueing are overload and not false") {
  Scenario scenario = touchy();
  server(scenario, 'a').capacity = Capacity{1, 0, 503};
  requests_at(scenario, {0, 5});  // the second overflows, in its own instant
  const Timeline overflow = simulate(scenario);
  CHECK(events_of(overflow).starts_with("5 a:1 endpoint_ejected"));
  CHECK(of(overflow, "overload") == 1.0);
  CHECK(of(overflow, "false_ejections") == 0.0);
  CHECK(of(overflow, "false_ejection_ms") == 0.0);
  server(scenario, 'a').capacity = Capacity{1, 5, 503};
  api(scenario).timeouts.read_ms = 14;  // the second waits from 5 to 10 and would be answered at 20
  CHECK(of(scenario, "overload") == 1.0);
  add_fault(server(scenario, 'a'), ErrorFault{0.000001, 503});  // at work, though it hits nobody
  CHECK(of(scenario, "overload") == 0.0);
  CHECK(of(scenario, "false_ejections") == 0.0);
}

TEST_CASE("truth: in rotation while failing is the lane's healthy time within the faults' own") {
  Scenario scenario = touchy();
  add_fault(server(scenario, 'a'), ErrorFault{1, 503}, 50, 150);
  add_fault(server(scenario, 'a'), HangFault{1}, 60, 140);
  add_fault(server(scenario, 'a'), LatencyFault{0, 1, 0}, 0, 400);  // no failing one
  requests_at(scenario, {60});
  const Timeline timeline = simulate(scenario);  // out at 70, and nobody asks again
  CHECK(of(timeline, "in_rotation_while_failing_ms") == 20.0);
  CHECK(of(timeline, "in_rotation_while_failing_ms", between(49, 55.5)) == 5.5);
  CHECK(of(timeline, "in_rotation_while_failing_ms", between(70, 400)) == 0.0);
}

TEST_CASE("truth: a flap fails in its down phases alone") {
  Scenario scenario = scenario_over("a", 100);
  add_fault(server(scenario, 'a'), FlapFault{ms(20), ms(10), 0, DownKind::refused}, 0, 85);
  const Timeline timeline = simulate(scenario);  // down from 20, 50 and 80, the last time to 85
  CHECK(of(timeline, "in_rotation_while_failing_ms") == 25.0);
  CHECK(of(timeline, "in_rotation_while_failing_ms", between(25, 55)) == 10.0);
}

TEST_CASE("truth: time to return runs from the fault's end to the recovery, and is 0 when healthy then") {
  Scenario scenario = touchy();
  add_fault(server(scenario, 'a'), script({503}), 0, 50);
  requests_at(scenario, {0, 110});  // out at 10, a trial from 110 to 120
  const auto ends = [&](Nanos to) {
    server(scenario, 'a').faults[0].to = to;
    return of(scenario, "time_to_return_ms");
  };
  CHECK(ends(ms(9)) == 0.0);
  CHECK(ends(ms(10)) == 110.0);
  CHECK(ends(ms(50)) == 70.0);
  CHECK(ends(ms(120) - 1) == 0.000001);
  CHECK(ends(ms(120)) == 0.0);
  CHECK(ends(ms(120) + 1) == 0.0);
  CHECK(ends(ms(400) - 1) == 0.0);
  CHECK(ends(ms(400)) == std::nullopt);  // the run has ended with it
  CHECK(ends(NEVER) == std::nullopt);
}

TEST_CASE("truth: who never returns leaves no time to return, and the slowest of those who do counts") {
  Scenario scenario = touchy();
  add_fault(server(scenario, 'a'), script({503, 503}), 0, 50);
  add_fault(server(scenario, 'a'), ErrorFault{1, 503}, 0, 20);
  requests_at(scenario, {0});
  CHECK(of(scenario, "time_to_return_ms") == std::nullopt);  // nobody asks again
  requests_at(scenario, {160});                              // a trial, answered at 170
  const Timeline timeline = simulate(scenario);
  CHECK(of(timeline, "time_to_return_ms") == 150.0);
  CHECK(of(timeline, "time_to_return_ms", between(30, 60)) == 120.0);
  CHECK(of(timeline, "time_to_return_ms", between(50.1, 60)) == std::nullopt);
}

TEST_CASE("truth: a server that two upstreams share fails in both, and endpoints are told apart") {
  Scenario scenario = touchy();
  scenario.upstreams.push_back(upstream_over("web", "ab"));
  add_server(scenario, 'b');
  add_fault(server(scenario, 'a'), ErrorFault{1, 503}, 50, 150);
  requests_at(scenario, {60});
  const Timeline timeline = simulate(scenario);
  CHECK(of(timeline, "time_to_detect_ms") == 20.0);
  CHECK(of(timeline, "missed") == 1.0);  // web never looks
  CHECK(of(timeline, "in_rotation_while_failing_ms") == 120.0);
  CHECK(of(timeline, "missed", only("a:1")) == 1.0);
  CHECK(of(timeline, "missed", only("b:1")) == 0.0);
  CHECK(of(timeline, "time_to_detect_ms", only("b:1")) == std::nullopt);
  CHECK(of(timeline, "in_rotation_while_failing_ms", only("b:1")) == 0.0);
}

// A flap from 100 ms on, up for 400 ms and down for 100 ms; before its first down phase the endpoint is put
// out for a slowness of its own, and that is a false alarm and no detection. The down phase at 500 ms is what
// detects it.
TEST_CASE("truth: an ejection while a flap is up detects nothing") {
  Scenario scenario = scenario_over("ab", 1000);
  api(scenario).health = HealthParams{};
  api(scenario).health->consecutive_failures = 2;
  api(scenario).health->eject_ms = 50;
  api(scenario).timeouts.read_ms = 20;
  add_fault(server(scenario, 'a'), FlapFault{ms(400), ms(100), 0, DownKind::refused}, 100);
  add_fault(server(scenario, 'a'), LatencyFault{100, 1, 0}, 200, 240);
  requests_every(scenario, 10, 0, 1000);
  const Timeline timeline = simulate(scenario);
  const auto number = [&timeline](const char* name) { return value(*find_metric(name), timeline); };
  CHECK(number("false_ejections") == 1.0);
  CHECK(number("missed") == 0.0);
  REQUIRE(timeline.detections.size() == 1);
  REQUIRE(timeline.detections[0].ejected);
  CHECK(*timeline.detections[0].ejected >= ms(500));
  CHECK(*timeline.detections[0].ejected < ms(600));
  CHECK(number("lost_before_ejection") >= 2.0);
}
