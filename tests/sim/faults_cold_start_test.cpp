// Cold starts: a server that came back from a `down` or a flap is slower for a while.
#include <doctest/doctest.h>

#include <string>

#include "sim/draws.hpp"
#include "sim/endpoint_model.hpp"
#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

// A server of 0.1 ms that takes 0.3 ms for 7 ms after a return; whatever takes it down is added by the test.
Scenario cold_server(double from_ms = 0, double to_ms = TO_THE_END, Scope scope = Scope::both) {
  Scenario scenario = scenario_over("a", 100);
  server(scenario, 'a').latency = FixedLatency{0.1};
  add_fault(server(scenario, 'a'), ColdStartFault{ms(7), 3}, from_ms, to_ms, scope);
  return scenario;
}

void goes_down(Scenario& scenario, double from_ms, double to_ms, Scope scope = Scope::both,
               DownKind kind = DownKind::refused) {
  add_fault(server(scenario, 'a'), DownFault{kind}, from_ms, to_ms, scope);
}

// What a request at `at_ms` meets: "warm", "cold" or "down".
std::string meets(Scenario scenario, double at_ms) {
  requests_at(scenario, {at_ms});
  const Timeline timeline = simulate(scenario);
  if (timeline.summary.failed == 1) return "down";
  CHECK(timeline.summary.ok == 1);
  return timeline.summary.latency_p50_ms > 0.2 ? "cold" : "warm";
}

// The warm-ups of the run.
std::string warm_ups(const Scenario& scenario) {
  const std::vector<FaultLane> lanes = simulate(scenario).faults;
  CHECK(lanes.at(0).kind == "cold_start");
  return lane_text(lanes.at(0).intervals);
}

constexpr double NS = 1e-6;  // in ms

}  // namespace

TEST_CASE("cold start: slower from the instant of the return, for so long and not a nanosecond more") {
  Scenario scenario = cold_server();
  goes_down(scenario, 10, 20);
  CHECK(meets(scenario, 0) == "warm");
  CHECK(meets(scenario, 9) == "warm");
  CHECK(meets(scenario, 20 - NS) == "down");
  CHECK(meets(scenario, 20) == "cold");
  CHECK(meets(scenario, 27 - NS) == "cold");
  CHECK(meets(scenario, 27) == "warm");
  CHECK(warm_ups(scenario) == "20-27 active");
}

TEST_CASE("cold start: who was never down is warm") {
  CHECK(meets(cold_server(), 0) == "warm");
  CHECK(meets(cold_server(), 50) == "warm");
  CHECK(warm_ups(cold_server()).empty());
  Scenario bad = cold_server();  // failing is not being down
  add_fault(server(bad, 'a'), ErrorFault{1, 404}, 10, 20);
  CHECK(meets(bad, 20) == "warm");
}

TEST_CASE("cold start: of downs that overlap or touch the last one's end is the return") {
  Scenario scenario = cold_server();
  goes_down(scenario, 10, 20);
  goes_down(scenario, 15, 30);
  goes_down(scenario, 12, 18);
  goes_down(scenario, 30, 40);
  CHECK(meets(scenario, 20) == "down");
  CHECK(meets(scenario, 30) == "down");
  CHECK(meets(scenario, 40) == "cold");
  CHECK(warm_ups(scenario) == "40-47 active");
}

TEST_CASE("cold start: each return of a flap begins a warm-up, and going down ends it") {
  Scenario scenario = cold_server();
  add_fault(server(scenario, 'a'), FlapFault{ms(10), ms(5), 0, DownKind::refused}, 0, 53);
  // Down in [10, 15), [25, 30), [40, 45); up again to 55, but the flap ends at 53.
  CHECK(warm_ups(scenario) == "15-22 active, 30-37 active, 45-52 active");
  CHECK(meets(scenario, 30 - NS) == "down");
  CHECK(meets(scenario, 30) == "cold");
  CHECK(meets(scenario, 37) == "warm");
  std::get<ColdStartFault>(server(scenario, 'a').faults[0].kind).length = ms(12);
  CHECK(warm_ups(scenario) == "15-25 active, 30-40 active, 45-57 active");
  CHECK(meets(scenario, 24.5) == "cold");
  CHECK(meets(scenario, 57 - NS) == "cold");
}

TEST_CASE("cold start: a down phase that the flap's end cuts short is a return all the same") {
  Scenario scenario = cold_server();
  add_fault(server(scenario, 'a'), FlapFault{ms(10), ms(5), 0, DownKind::refused}, 0, 12);
  CHECK(warm_ups(scenario) == "12-19 active");
  CHECK(meets(scenario, 12 - NS) == "down");
  CHECK(meets(scenario, 12) == "cold");
}

TEST_CASE("cold start: a flap that goes down in the instant a down ends is no return, in either order") {
  for (const bool flap_first : {true, false}) {
    Scenario scenario = cold_server();
    if (!flap_first) goes_down(scenario, 0, 10);
    add_fault(server(scenario, 'a'), FlapFault{ms(10), ms(5), 0, DownKind::refused}, 0, 20);
    if (flap_first) goes_down(scenario, 0, 10);
    CHECK(warm_ups(scenario) == "15-22 active");
    CHECK(meets(scenario, 10) == "down");
    CHECK(meets(scenario, 15) == "cold");
    CHECK(meets(scenario, 22) == "warm");
  }
}

TEST_CASE("cold start: only while the fault itself is active, be the return before it or not") {
  Scenario scenario = cold_server(23, 25);
  goes_down(scenario, 10, 20);
  CHECK(meets(scenario, 23 - NS) == "warm");
  CHECK(meets(scenario, 23) == "cold");
  CHECK(meets(scenario, 25 - NS) == "cold");
  CHECK(meets(scenario, 25) == "warm");
  CHECK(warm_ups(scenario) == "23-25 active");
  goes_down(scenario, 22, 24);  // ends the warm-up before the fault begins; the next one begins within
  CHECK(warm_ups(scenario) == "24-25 active");
  CHECK(meets(scenario, 24) == "cold");
  Scenario later = cold_server(27);
  goes_down(later, 10, 20);
  CHECK(meets(later, 27) == "warm");
  CHECK(warm_ups(later).empty());
}

TEST_CASE("cold start: a down that lasts to the run's end never returns, a warm-up ends with the run") {
  Scenario scenario = cold_server();
  goes_down(scenario, 10, TO_THE_END);
  CHECK(warm_ups(scenario).empty());
  Scenario at_the_end = cold_server();
  goes_down(at_the_end, 10, 100);
  CHECK(warm_ups(at_the_end).empty());
  Scenario just_before = cold_server();
  goes_down(just_before, 10, 96);
  CHECK(warm_ups(just_before) == "96-100 active");
}

TEST_CASE("cold start: traffic and probes return each from their own downs") {
  Scenario scenario = cold_server();
  goes_down(scenario, 10, 20, Scope::traffic);
  goes_down(scenario, 15, 25, Scope::probes);
  EndpointModel model(server(scenario, 'a'), 1);
  const Stream service(1, "service:api/a:1");
  const auto latency = [&](double at_ms, bool probe) {
    return model.judge(ms(at_ms), {0, 0, 0, probe, false}, service).latency;
  };
  for (const double at_ms : {10.0, 15.0, 20.0}) model.downs_changed(ms(at_ms));
  CHECK(latency(20, false) == ms(0.3));
  CHECK(model.judge(ms(20), {0, 0, 0, true, false}, service).manner == ServerAnswer::Manner::at_once);
  model.downs_changed(ms(25));
  CHECK(latency(25, true) == ms(0.3));
  CHECK(latency(27 - NS, false) == ms(0.3));
  CHECK(latency(27, false) == ms(0.1));
  CHECK(latency(32 - NS, true) == ms(0.3));
  CHECK(latency(32, true) == ms(0.1));
  CHECK(warm_ups(scenario) == "20-32 active");  // when the factor applies to anybody

  const auto scoped = [](Scope cold, Scope down) {
    Scenario one = cold_server(0, TO_THE_END, cold);
    goes_down(one, 10, 20, down);
    return warm_ups(one);
  };
  CHECK(scoped(Scope::traffic, Scope::traffic) == "20-27 active");
  CHECK(scoped(Scope::traffic, Scope::both) == "20-27 active");
  CHECK(scoped(Scope::both, Scope::probes) == "20-27 active");
  CHECK(scoped(Scope::traffic, Scope::probes).empty());
  CHECK(scoped(Scope::probes, Scope::traffic).empty());
}

TEST_CASE("cold start: when one scope goes down again the other's warm-up goes on in the lane") {
  Scenario scenario = cold_server();
  goes_down(scenario, 10, 20);
  goes_down(scenario, 22, 40, Scope::probes);
  CHECK(warm_ups(scenario) == "20-27 active, 40-47 active");
  CHECK(meets(scenario, 27 - NS) == "cold");
  CHECK(meets(scenario, 40) == "warm");
}

TEST_CASE("cold start: a reset by a server that is down again takes its ordinary time") {
  Scenario scenario = cold_server();
  server(scenario, 'a').latency = FixedLatency{10};
  goes_down(scenario, 10, 20);
  goes_down(scenario, 22, 30, Scope::both, DownKind::reset);
  requests_at(scenario, {21, 23});
  const Timeline timeline = simulate(scenario);
  // The first is reset in service at 22, the second by the latency of 10 ms at 33.
  CHECK(when(timeline.series.failed) == "22 33");
}

TEST_CASE("cold start: its factor stands among the others in file order, before any add") {
  Scenario scenario = scenario_over("a", 100);
  ServerModel& config = server(scenario, 'a');
  config.latency = FixedLatency{0.7};
  add_fault(config, LatencyFault{0.3, 1.1, 0});
  add_fault(config, ColdStartFault{ms(7), 3.3});
  add_fault(config, BrownoutFault{0, 503, 1.7, 1});
  add_fault(config, DownFault{}, 10, 20);
  add_fault(config, ColdStartFault{ms(9), 2});
  EndpointModel model(config, 1);
  const auto at = [&](double at_ms) {
    return model.judge(ms(at_ms), {}, Stream(1, "service:api/a:1")).latency;
  };
  model.downs_changed(ms(10));
  model.downs_changed(ms(20));
  const double slow = 1 + (1.1 - 1) * 1.0;
  CHECK(at(20) == static_cast<Nanos>((0.7 * slow * 3.3 * 1.7 * 2 + 0.3) * 1e6));
  CHECK(at(27) == static_cast<Nanos>((0.7 * slow * 1.7 * 2 + 0.3) * 1e6));
  CHECK(at(29) == static_cast<Nanos>((0.7 * slow * 1.7 + 0.3) * 1e6));
  CHECK_FALSE(model.judge(ms(20), {}, Stream(1, "service:api/a:1")).met_failing);  // slow is not failing
}
