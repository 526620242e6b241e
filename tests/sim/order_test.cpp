// What happens first when everything happens at one instant: clock steps, reloads, fault boundaries,
// completions, attempt timeouts, departures, probes, due retries, arrivals, samples. Each pair that can be
// told apart is.
#include <doctest/doctest.h>

#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

// Endpoint "a" is picked as long as it is a candidate: 1000 to 1.
Scenario a_before_b(double duration_ms = 300) {
  Scenario scenario = scenario_over("ab", duration_ms);
  api(scenario).endpoints[0].weight = 1000;
  api(scenario).health = eject_after(1);
  return scenario;
}

}  // namespace

TEST_CASE("order: a clock step comes before the reload of its instant") {
  // Slow start begins at the reload's reading: had the step come after it, b would be at full weight at once.
  Scenario scenario = scenario_over("ab", 300);
  api(scenario) = upstream_over("api", "a");
  api(scenario).slow_start_ms = 1000;
  scenario.clock.steps = {{ms(50), 5000}};
  reload_at(scenario, 50)[0].endpoints = upstream_over("api", "ab").endpoints;
  requests_every(scenario, 1, 50, 60);
  CHECK(lane(simulate(scenario), 'b').total_attempts == 0);
}

TEST_CASE("order: a clock step comes before everything that reads the clock") {
  Scenario scenario = scenario_over("a", 300);
  api(scenario).health = eject_after(1, 1000);
  add_fault(server(scenario, 'a'), script({503}));
  scenario.clock.steps = {{ms(50), 960}};
  requests_at(scenario, {0, 50});
  CHECK(events_of(simulate(scenario)) ==
        "10 a:1 endpoint_ejected consecutive_failures, 50 a:1 endpoint_half_open, "
        "60 a:1 endpoint_recovered half_open_probe");
  scenario.clock.steps[0].by_ms = 959;
  CHECK(simulate(scenario).events[1].via == Via::fail_open);
}

TEST_CASE("order: a reload comes before the completions of its instant") {
  Scenario scenario = scenario_over("ab", 300);
  api(scenario) = upstream_over("api", "a");
  api(scenario).health = eject_after(1);
  add_fault(server(scenario, 'a'), ErrorFault{1, 503});
  requests_at(scenario, {0});
  reload_at(scenario, 10)[0].endpoints = {{"b", 1, 1}};
  CHECK(events_of(simulate(scenario)).empty());
  scenario.reloads[0].at += 1;
  CHECK(simulate(scenario).events.size() == 1);
}

TEST_CASE("order: a reload comes before the arrivals of its instant") {
  Scenario scenario = scenario_over("ab", 300);
  api(scenario) = upstream_over("api", "a");
  reload_at(scenario, 10)[0].endpoints = {{"b", 1, 1}};
  requests_at(scenario, {10});
  CHECK(lane(simulate(scenario), 'b').total_attempts == 1);
}

TEST_CASE("order: a reload comes before a probe that is due and before a verdict that is in") {
  Scenario scenario = scenario_over("a", 300);
  api(scenario).health = eject_after(99);
  api(scenario).active_health = probe_every(100);
  add_fault(server(scenario, 'a'), DownFault{});
  reload_at(scenario, 100);
  CHECK(events_of(simulate(scenario)) == "200 a:1 endpoint_ejected consecutive_failures");
  server(scenario, 'a').faults.clear();
  add_fault(server(scenario, 'a'), ErrorFault{1, 503});
  scenario.reloads[0].at = ms(110);
  CHECK(events_of(simulate(scenario)) == "220 a:1 endpoint_ejected consecutive_failures");
}

TEST_CASE("order: a down resets the attempt that would have completed in the instant of its start") {
  Scenario scenario = scenario_over("a", 100);
  add_fault(server(scenario, 'a'), DownFault{}, 10, 20);
  requests_at(scenario, {0, 20});
  const Timeline timeline = simulate(scenario);
  CHECK(when(timeline.series.failed) == "10");
  CHECK(when(timeline.series.ok) == "30");
}

TEST_CASE(
    "order: boundaries at one instant go by endpoint, fault and phase, not by when they were scheduled") {
  // The flap's second phase is scheduled during the run, b's down was known from the start.
  Scenario scenario = scenario_over("ab", 300);
  server(scenario, 'a').latency = server(scenario, 'b').latency = FixedLatency{100};
  api(scenario).health = eject_after(1);
  add_fault(server(scenario, 'a'), FlapFault{ms(50), ms(20), 0, DownKind::refused});
  add_fault(server(scenario, 'b'), DownFault{}, 50);
  requests_at(scenario, {0, 0});
  CHECK(events_of(simulate(scenario)) ==
        "50 a:1 endpoint_ejected consecutive_failures, 50 b:1 endpoint_ejected consecutive_failures");
}

TEST_CASE("order: an answer in the instant of its timeout is in time, and the timeout beats the departure") {
  Scenario scenario = scenario_over("a", 100);
  api(scenario).timeouts.read_ms = 10;
  requests_at(scenario, {0}).abandon = Abandon{1, ms(10)};
  CHECK(simulate(scenario).summary.ok == 1);
  server(scenario, 'a').latency = FixedLatency{11};
  const Timeline timeline = simulate(scenario);
  CHECK(timeline.summary.failed == 1);
  CHECK(timeline.summary.failures == 1);
  CHECK(timeline.summary.abandoned == 0);
}

TEST_CASE("order: a departure comes before the retry that is due in its instant") {
  Scenario scenario = scenario_over("a", 100);
  api(scenario).retries = retry_at_once(3);
  add_fault(server(scenario, 'a'), ErrorFault{1, 503});
  requests_at(scenario, {0}).abandon = Abandon{1, ms(10)};
  const Timeline timeline = simulate(scenario);
  CHECK(timeline.summary.attempts == 1);
  CHECK(timeline.summary.retries == 1);
  CHECK(timeline.summary.abandoned == 1);
}

TEST_CASE("order: a departure comes before the arrival that gets its trial slot") {
  Scenario scenario = scenario_over("a", 300);
  api(scenario).breaker = open_after(1, 40);
  add_fault(server(scenario, 'a'), script({503}));
  requests_at(scenario, {0});
  requests_at(scenario, {60}).abandon = Abandon{1, ms(5)};
  requests_at(scenario, {64, 65});
  const Timeline timeline = simulate(scenario);
  CHECK(when(timeline.series.fast_failed) == "64");
  CHECK(when(timeline.series.ok) == "75");
}

TEST_CASE("order: a probe that is refused at once ejects before the retry and the arrival of its instant") {
  Scenario scenario = a_before_b();
  api(scenario).active_health = probe_every(100);
  add_fault(server(scenario, 'a'), DownFault{}, 0, TO_THE_END, Scope::probes);
  requests_at(scenario, {100});
  CHECK(lane(simulate(scenario), 'b').total_attempts == 1);
  scenario.traffic.clear();
  api(scenario).retries = retry_at_once(1);
  api(scenario).health = eject_after(99);
  add_fault(server(scenario, 'a'), script({503, 503}));
  requests_at(scenario, {90});
  const Timeline timeline = simulate(scenario);
  CHECK(when(lane(timeline, 'a').attempts) == "90");
  CHECK(when(lane(timeline, 'b').attempts) == "100");
}

TEST_CASE("order: a due retry comes before the arrival of its instant and gets the place") {
  Scenario scenario = scenario_over("a", 100);
  server(scenario, 'a').capacity = Capacity{1, 0, 503};
  api(scenario).retries = retry_at_once(1);
  add_fault(server(scenario, 'a'), script({504}));
  requests_at(scenario, {0, 10});
  const Timeline timeline = simulate(scenario);
  CHECK(when(timeline.series.ok) == "20");
  CHECK(when(timeline.series.failed) == "10");
}

TEST_CASE("order: arrivals of one instant go by entry, then by request") {
  for (const bool web_first : {false, true}) {
    Scenario scenario = scenario_over("a", 100);
    server(scenario, 'a').capacity = Capacity{1, 0, 503};
    scenario.upstreams.push_back(upstream_over("web", "a"));
    for (UpstreamConfig& upstream : scenario.upstreams) upstream.health = eject_after(1);
    requests_at(scenario, {10}, web_first ? "web" : "api");
    requests_at(scenario, {10}, web_first ? "api" : "web");
    const Timeline timeline = simulate(scenario);
    REQUIRE(timeline.events.size() == 1);
    CHECK(timeline.upstream_names[timeline.events[0].upstream] == (web_first ? "api" : "web"));
  }
}

TEST_CASE("order: what an arrival brings about at once comes before the next arrival of the instant") {
  Scenario scenario = a_before_b();
  add_fault(server(scenario, 'a'), DownFault{});
  requests_at(scenario, {10, 10, 10});
  const Timeline timeline = simulate(scenario);
  CHECK(lane(timeline, 'a').total_attempts == 1);
  CHECK(lane(timeline, 'b').total_attempts == 2);
}

TEST_CASE("order: completions of one instant come in the order in which they were scheduled") {
  // 429 first: it is a success and ends the streak of one.
  for (const bool failure_first : {false, true}) {
    Scenario scenario = scenario_over("a", 300);
    api(scenario).health = eject_after(2);
    add_fault(server(scenario, 'a'), failure_first ? script({503, 200, 503}) : script({200, 503, 503}));
    requests_at(scenario, {0, 0, 0});
    CHECK(simulate(scenario).events.empty() == failure_first);
  }
}

TEST_CASE(
    "order: the sample of a bin's end sees the arrival of that instant, whose count is in the next bin") {
  Scenario scenario = scenario_over("a", 100);
  scenario.sample = ms(20);
  requests_at(scenario, {20});
  const Timeline timeline = simulate(scenario);
  CHECK(timeline.series.requests == std::vector<std::uint64_t>{0, 1, 0, 0, 0});
  CHECK(timeline.series.in_flight == std::vector<std::uint64_t>{1, 0, 0, 0, 0});
}

TEST_CASE(
    "order: at a pick the breaker's half-open comes first, then each endpoint's in set order, selected or "
    "not") {
  Scenario scenario = scenario_over("bac", 300);
  api(scenario).health = eject_after(1, 50);
  api(scenario).breaker = open_after(3, 50);
  for (const char letter : {'a', 'b', 'c'}) add_fault(server(scenario, letter), script({503}));
  requests_at(scenario, {0, 0, 0, 100});
  const std::string told = events_of(simulate(scenario));
  CHECK(told.substr(told.find("100 "))
            .starts_with("100 api breaker_half_open, 100 b:1 endpoint_half_open, 100 a:1 endpoint_half_open, "
                         "100 c:1 endpoint_half_open"));
}

TEST_CASE("order: at a report the tracker's event comes before the breaker's") {
  Scenario scenario = scenario_over("a", 300);
  api(scenario).health = eject_after(1, 50);
  api(scenario).breaker = open_after(1, 50);
  add_fault(server(scenario, 'a'), script({503, 200}));
  requests_at(scenario, {0, 100});
  CHECK(events_of(simulate(scenario)) ==
        "10 a:1 endpoint_ejected consecutive_failures, 10 api breaker_opened consecutive_failures, "
        "100 api breaker_half_open, 100 a:1 endpoint_half_open, "
        "110 a:1 endpoint_recovered half_open_probe, 110 api breaker_closed");
}
