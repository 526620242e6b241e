// Reloads in the middle of a run: which settings a request and each of its attempts live by, and what is
// carried.
#include <doctest/doctest.h>

#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

Scenario failing_from(double from_ms, const std::string& letters = "a") {
  Scenario scenario = scenario_over(letters, 300);
  for (const char letter : letters) add_fault(server(scenario, letter), ErrorFault{1, 503}, from_ms);
  return scenario;
}

}  // namespace

TEST_CASE("simulated reload: it emits nothing, and an ejection stands with its until") {
  Scenario scenario = failing_from(0);
  api(scenario).health = eject_after(1, 100);
  requests_at(scenario, {0, 109, 110});
  reload_at(scenario, 50)[0].health->eject_ms = 5;
  const Timeline timeline = simulate(scenario);
  // 109 is a fail-open pick: its late failure, at 119, meets the half-open endpoint.
  CHECK(events_of(timeline) ==
        "10 a:1 endpoint_ejected consecutive_failures, 110 a:1 endpoint_half_open, "
        "119 a:1 endpoint_ejected half_open_probe_failed");
  CHECK(lane_text(timeline.lanes[0].intervals) ==
        "0-10 healthy, 10-110 ejected, 110-119 half_open, 119-300 ejected");
  CHECK(timeline.lanes[0].intervals[1].eligible == ms(110));
}

TEST_CASE("simulated reload: health goes by each attempt, the one in flight keeps what it was picked with") {
  Scenario scenario = failing_from(0);
  api(scenario).health = eject_after(3);
  reload_at(scenario, 5)[0].health->consecutive_failures = 1;
  requests_at(scenario, {0, 20});
  CHECK(events_of(simulate(scenario)) == "30 a:1 endpoint_ejected consecutive_failures");
}

TEST_CASE("simulated reload: the breaker goes by each attempt too") {
  Scenario scenario = failing_from(0);
  api(scenario).breaker = open_after(3);
  reload_at(scenario, 5)[0].breaker->consecutive_failures = 1;
  requests_at(scenario, {0, 20});
  CHECK(events_of(simulate(scenario)) == "30 api breaker_opened consecutive_failures");
}

TEST_CASE("simulated reload: late_reports goes by the attempt") {
  for (const LateReports first : {LateReports::count, LateReports::ignore}) {
    Scenario scenario = scenario_over("a", 300);
    api(scenario).health = eject_after(1, 100);
    api(scenario).late_reports = first;
    add_fault(server(scenario, 'a'), script({503}));
    add_fault(server(scenario, 'a'), LatencyFault{15, 1, 0}, 1, 2);
    requests_at(scenario, {0, 1});  // a failure at 10, a success of the same generation at 26
    reload_at(scenario, 5)[0].late_reports =
        first == LateReports::count ? LateReports::ignore : LateReports::count;
    const Timeline timeline = simulate(scenario);
    CHECK(timeline.summary.late_reports_ignored == (first == LateReports::ignore ? 1 : 0));
    CHECK(timeline.events.size() == (first == LateReports::ignore ? 1 : 2));
    if (timeline.events.size() == 2) CHECK(timeline.events[1].via == Via::late_report);
  }
}

TEST_CASE("simulated reload: retries of a request are those at its arrival") {
  Scenario more = failing_from(0);
  reload_at(more, 5)[0].retries = retry_at_once(2);
  requests_at(more, {0, 5});
  CHECK(when(simulate(more).lanes[0].attempts) == "0 5 15 25");
  Scenario fewer = failing_from(0);
  api(fewer).retries = retry_at_once(2);
  reload_at(fewer, 15)[0].retries = retry_at_once(0);
  requests_at(fewer, {0, 15});
  CHECK(when(simulate(fewer).lanes[0].attempts) == "0 10 15 20");
}

TEST_CASE("simulated reload: timeouts of a request are those at its arrival, for its later attempts too") {
  Scenario scenario = scenario_over("a", 300);
  server(scenario, 'a').latency = FixedLatency{50};
  api(scenario).retries = retry_at_once(1);
  api(scenario).timeouts.read_ms = 20;
  reload_at(scenario, 5)[0].timeouts.read_ms = 40;
  requests_at(scenario, {0, 100});
  const Timeline timeline = simulate(scenario);
  CHECK(when(lane(timeline, 'a').failures) == "20 40 140 180");
}

TEST_CASE("simulated reload: a removed endpoint's requests finish for their callers and tell nobody") {
  Scenario scenario = scenario_over("ab", 300);
  api(scenario).health = eject_after(1);
  add_fault(server(scenario, 'a'), script({503, 200}));
  requests_at(scenario, {0, 0, 0, 0});  // a b a b
  reload_at(scenario, 5)[0].endpoints = {{"b", 1, 1}};
  const Timeline timeline = simulate(scenario);
  CHECK(when(timeline.series.ok) == "10 10 10");
  CHECK(when(timeline.series.failed) == "10");
  CHECK(when(lane(timeline, 'a').failures) == "10");
  CHECK(events_of(timeline).empty());
  CHECK(lane_text(lane(timeline, 'a').intervals) == "0-5 healthy");
}

TEST_CASE("simulated reload: an endpoint that is removed and added again is fresh") {
  Scenario scenario = failing_from(0, "ab");
  api(scenario).health = eject_after(1);
  requests_at(scenario, {0});
  reload_at(scenario, 50)[0].endpoints = {{"b", 1, 1}};
  reload_at(scenario, 80)[0].endpoints = {{"a", 1, 1}, {"b", 1, 1}};
  const Timeline timeline = simulate(scenario);
  CHECK(lane_text(lane(timeline, 'a').intervals) == "0-10 healthy, 10-50 ejected, 80-300 healthy");
  CHECK(lane(timeline, 'a').state[49] == -1);
  CHECK(lane(timeline, 'a').state[79] == static_cast<int>(LaneState::healthy));
}

TEST_CASE("simulated reload: two at one instant apply in file order") {
  Scenario scenario = scenario_over("ab", 300);
  api(scenario) = upstream_over("api", "a");
  reload_at(scenario, 50)[0] = upstream_over("api", "b");
  reload_at(scenario, 50)[0] = upstream_over("api", "a");
  requests_at(scenario, {50});
  CHECK(lane(simulate(scenario), 'a').total_attempts == 1);
}

TEST_CASE("simulated reload: without health all are in rotation, and health that comes back starts fresh") {
  Scenario scenario = failing_from(0);
  api(scenario).health = eject_after(1);
  requests_at(scenario, {0, 60, 120});
  reload_at(scenario, 50)[0].health.reset();
  reload_at(scenario, 100)[0].health = eject_after(2);
  const Timeline timeline = simulate(scenario);
  CHECK(lane_text(timeline.lanes[0].intervals) == "0-10 healthy, 10-50 ejected, 50-300 healthy");
  CHECK(timeline.events.size() == 1);
}

TEST_CASE("simulated reload: a breaker that a reload drops is gone, and one that comes back is closed") {
  Scenario scenario = failing_from(0);
  api(scenario).breaker = open_after(1);
  requests_at(scenario, {0, 40, 60, 110});
  reload_at(scenario, 50)[0].breaker.reset();
  reload_at(scenario, 100)[0].breaker = open_after(9);
  const Timeline timeline = simulate(scenario);
  REQUIRE(timeline.breakers.size() == 1);
  CHECK(lane_text(timeline.breakers[0].intervals) == "0-10 closed, 10-50 open, 100-300 closed");
  CHECK(when(timeline.series.fast_failed) == "40");
  CHECK(timeline.summary.breaker_open_ms == 40.0);
}

TEST_CASE(
    "simulated reload: an upstream that is removed and added again is fresh, but for its retry budget") {
  Scenario scenario = failing_from(30);
  api(scenario).health = eject_after(1);
  api(scenario).retries = retry_at_once(1);
  api(scenario).retries.budget_percent = 50;
  requests_at(scenario, {0, 0, 0, 70});
  const auto whole = scenario.upstreams;
  reload_at(scenario, 20).clear();
  reload_at(scenario, 60) = whole;
  const Timeline timeline = simulate(scenario);
  // Four requests in ten seconds: a retry is granted. The one after removal alone would have none.
  CHECK(when(timeline.series.retried) == "80");
  CHECK(timeline.summary.retries_denied == 0);
  CHECK(events_of(timeline) == "80 a:1 endpoint_ejected consecutive_failures");
}

TEST_CASE("simulated reload: a retry goes to the set in force, and a weight change moves nobody's tracker") {
  Scenario scenario = scenario_over("ab", 300);
  api(scenario) = upstream_over("api", "a");
  api(scenario).retries = retry_at_once(1);
  add_fault(server(scenario, 'a'), ErrorFault{1, 503});
  requests_at(scenario, {0});
  reload_at(scenario, 5)[0].endpoints = {{"b", 1, 1}};
  const Timeline timeline = simulate(scenario);
  CHECK(when(lane(timeline, 'b').attempts) == "10");
  CHECK(when(timeline.series.ok) == "20");
}

TEST_CASE("simulated reload: lanes exist for every generation, by first appearance") {
  Scenario scenario = scenario_over("abc", 300);
  api(scenario) = upstream_over("api", "b");
  reload_at(scenario, 50)[0] = upstream_over("api", "ac");
  const Timeline timeline = simulate(scenario);
  REQUIRE(timeline.lanes.size() == 3);
  CHECK(timeline.lanes[0].endpoint == "b:1");
  CHECK(timeline.lanes[1].endpoint == "a:1");
  CHECK(lane_text(timeline.lanes[2].intervals) == "50-300 healthy");
  for (const EndpointLane& each : timeline.lanes) CHECK(each.attempts.size() == 300);
}
