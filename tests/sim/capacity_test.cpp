// Servers that take only so many at once: who gets in, who queues, who is sent away, and what empties a
// place.
#include <doctest/doctest.h>

#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

// One server "a" of 10 ms that serves `concurrency` at once.
Scenario server_of(std::uint32_t concurrency, std::uint32_t queue, double duration_ms = 300) {
  Scenario scenario = scenario_over("a", duration_ms);
  server(scenario, 'a').capacity = Capacity{concurrency, queue, 503};
  return scenario;
}

// A brownout that costs capacity alone.
BrownoutFault shrinking_to(double factor) { return {0, 503, 1, factor}; }

}  // namespace

TEST_CASE("capacity: without one a server serves everybody at once") {
  Scenario scenario = scenario_over("a", 50);
  requests_at(scenario, {0, 0, 0, 0, 1});
  CHECK(when(simulate(scenario).series.ok) == "10 10 10 10 11");
}

TEST_CASE("capacity: who finds no place waits, first in, first out") {
  Scenario scenario = server_of(1, 10);
  requests_at(scenario, {0, 1, 2});
  const Timeline timeline = simulate(scenario);
  CHECK(when(timeline.series.ok) == "10 20 30");
  CHECK(timeline.series.latency_p50_ms[20] == doctest::Approx(19).epsilon(0.01));
  CHECK(timeline.series.latency_p50_ms[30] == doctest::Approx(28).epsilon(0.01));
}

TEST_CASE("capacity: two places serve two at once") {
  Scenario scenario = server_of(2, 10);
  requests_at(scenario, {0, 0, 0, 0, 0});
  CHECK(when(simulate(scenario).series.ok) == "10 10 20 20 30");
}

TEST_CASE("capacity: without a queue the next one is told 503 in the same instant, and it costs no place") {
  Scenario scenario = server_of(1, 0);
  requests_at(scenario, {0, 1, 2, 10});
  const Timeline timeline = simulate(scenario);
  CHECK(when(timeline.series.ok) == "10 20");
  CHECK(when(timeline.series.failed) == "1 2");
  CHECK(when(lane(timeline, 'a').failures) == "1 2");
  CHECK(timeline.summary.fast_failed == 0);
}

TEST_CASE("capacity: the queue holds as many as it says and overflows with its status") {
  Scenario scenario = server_of(1, 2);
  server(scenario, 'a').capacity->overflow_status = 429;
  requests_at(scenario, {0, 1, 2, 3, 4});
  const Timeline timeline = simulate(scenario);
  CHECK(when(timeline.series.ok) == "3 4 10 20 30");  // below 500 is no failure
  CHECK(timeline.summary.failures == 0);
}

TEST_CASE("capacity: an overflow that resets is a transport error") {
  Scenario scenario = server_of(1, 0);
  server(scenario, 'a').capacity->overflow_status.reset();
  api(scenario).retries = retry_at_once(1);
  api(scenario).retries.retry_statuses.reset();
  requests_at(scenario, {0, 1});
  const Timeline timeline = simulate(scenario);
  CHECK(when(timeline.series.retried) == "1");
  CHECK(when(timeline.series.failed) == "1");
}

TEST_CASE("capacity: overflow uses up an entry of the outcomes") {
  Scenario scenario = server_of(1, 0);
  add_fault(server(scenario, 'a'), script({200, 200, 503}));
  requests_at(scenario, {0, 1, 20});
  const Timeline timeline = simulate(scenario);
  CHECK(when(timeline.series.failed) == "1 30");
}

TEST_CASE("capacity: a brownout shrinks it from its from_ms on, and whoever is in service stays") {
  Scenario scenario = server_of(2, 10);
  add_fault(server(scenario, 'a'), shrinking_to(0.5), 5);
  requests_at(scenario, {0, 4, 5, 6});
  CHECK(when(simulate(scenario).series.ok) == "10 14 24 34");
}

TEST_CASE("capacity: at a brownout's to_ms the queue's head enters at once") {
  Scenario scenario = server_of(3, 10);
  server(scenario, 'a').latency = FixedLatency{50};
  add_fault(server(scenario, 'a'), shrinking_to(0.01), 0, 30);
  requests_at(scenario, {0, 1, 2, 3});
  CHECK(when(simulate(scenario).series.ok) == "50 80 80 100");
}

TEST_CASE("capacity: who arrives at a brownout's to_ms comes behind the queue that it lets in") {
  Scenario scenario = server_of(2, 10);
  server(scenario, 'a').latency = FixedLatency{50};
  add_fault(server(scenario, 'a'), shrinking_to(0.5), 0, 30);
  requests_at(scenario, {0, 1, 30});
  const Timeline timeline = simulate(scenario);
  CHECK(when(timeline.series.ok) == "50 80 100");
  CHECK(timeline.series.latency_p50_ms[80] == doctest::Approx(79).epsilon(0.01));
}

TEST_CASE("capacity: a brownout may also make room") {
  Scenario scenario = server_of(1, 10);
  server(scenario, 'a').latency = FixedLatency{50};
  add_fault(server(scenario, 'a'), shrinking_to(3), 20);
  requests_at(scenario, {0, 1, 2, 3});
  CHECK(when(simulate(scenario).series.ok) == "50 70 70 100");
}

TEST_CASE("capacity: a hanging attempt holds its place until a down resets it, and the queue is untouched") {
  Scenario scenario = server_of(1, 5);
  add_fault(server(scenario, 'a'), HangFault{1}, 0, 5);
  add_fault(server(scenario, 'a'), DownFault{}, 50, 60);
  requests_at(scenario, {0, 6, 7});
  const Timeline timeline = simulate(scenario);
  CHECK(when(timeline.series.failed) == "50");
  CHECK(when(timeline.series.ok) == "60 70");
}

TEST_CASE("capacity: a hanging attempt that timed out holds its place all the same") {
  Scenario scenario = server_of(1, 5);
  api(scenario).timeouts.read_ms = 30;
  add_fault(server(scenario, 'a'), HangFault{1}, 0, 5);
  add_fault(server(scenario, 'a'), DownFault{}, 50, 51);
  requests_at(scenario, {0, 6, 45});
  const Timeline timeline = simulate(scenario);
  // The second one, given up at 36, is still served from 50 to 60: the third comes behind it.
  CHECK(when(timeline.series.failed) == "30 36");
  CHECK(when(timeline.series.ok) == "70");
}

TEST_CASE("capacity: an attempt that timed out keeps its place until the server is done with it") {
  Scenario scenario = server_of(1, 5);
  api(scenario).timeouts.read_ms = 30;
  add_fault(server(scenario, 'a'), LatencyFault{90, 1, 0}, 0, 1);
  requests_at(scenario, {0, 85});
  const Timeline timeline = simulate(scenario);
  CHECK(when(timeline.series.failed) == "30");
  CHECK(when(timeline.series.ok) == "110");
}

TEST_CASE("capacity: an attempt whose caller left keeps its place too, in service and in the queue") {
  Scenario scenario = server_of(1, 5);
  add_fault(server(scenario, 'a'), LatencyFault{90, 1, 0}, 0, 2);
  requests_at(scenario, {0, 1}).abandon = Abandon{1, ms(20)};
  requests_at(scenario, {85});
  const Timeline timeline = simulate(scenario);
  CHECK(timeline.summary.abandoned == 2);
  CHECK(when(timeline.series.ok) == "210");  // behind 100 ms and 100 ms more
}

TEST_CASE("capacity: a down takes no place, neither refusing nor resetting nor never accepting") {
  for (const DownKind kind : {DownKind::refused, DownKind::reset, DownKind::timeout}) {
    Scenario scenario = server_of(1, 0);
    api(scenario).timeouts.connect_ms = 20;
    add_fault(server(scenario, 'a'), DownFault{kind}, 0, 5);
    requests_at(scenario, {0, 1, 6});
    const Timeline timeline = simulate(scenario);
    CHECK(when(timeline.series.ok) == "16");
    const char* const failed = kind == DownKind::refused ? "0 1"
                               : kind == DownKind::reset ? "10 11"
                                                         : "20 21";
    CHECK(when(timeline.series.failed) == failed);
  }
}

TEST_CASE("capacity: the start of a down resets whoever is in service in its scope") {
  Scenario scenario = scenario_over("a", 100);
  add_fault(server(scenario, 'a'), DownFault{}, 10, 20);
  add_fault(server(scenario, 'a'), DownFault{}, 45, 50, Scope::probes);
  requests_at(scenario, {0, 1, 9.5, 20, 40});
  const Timeline timeline = simulate(scenario);
  CHECK(when(timeline.series.failed) == "10 10 10");
  CHECK(when(timeline.series.ok) == "30 50");
}

TEST_CASE("capacity: a flap that goes down resets too, each time") {
  Scenario scenario = scenario_over("a", 100);
  add_fault(server(scenario, 'a'), FlapFault{ms(20), ms(5), 0, DownKind::refused});
  requests_at(scenario, {5, 15, 21, 26, 40});
  const Timeline timeline = simulate(scenario);
  CHECK(when(timeline.series.failed) == "20 21 45");
  CHECK(when(timeline.series.ok) == "15 36");
}

TEST_CASE(
    "capacity: a reset comes in the order of entry, not of arrival at the upstream and not of completion") {
  for (const bool web_first : {false, true}) {
    Scenario scenario = scenario_over("a", 100);
    scenario.upstreams.push_back(upstream_over("web", "a"));
    for (UpstreamConfig& upstream : scenario.upstreams) upstream.health = eject_after(1);
    add_fault(server(scenario, 'a'), LatencyFault{30, 1, 0}, 0,
              1);  // the first to enter would be the last to leave
    add_fault(server(scenario, 'a'), DownFault{}, 8);
    requests_at(scenario, {0}, web_first ? "web" : "api");
    requests_at(scenario, {5}, web_first ? "api" : "web");
    const Timeline timeline = simulate(scenario);
    REQUIRE(timeline.events.size() == 2);
    CHECK(timeline.upstream_names[timeline.events[0].upstream] == (web_first ? "web" : "api"));
    CHECK(timeline.upstream_names[timeline.events[1].upstream] == (web_first ? "api" : "web"));
    CHECK(timeline.events[1].t == ms(8));
  }
}

TEST_CASE("capacity: a server is one address and port, whoever names it") {
  Scenario scenario = server_of(1, 5);
  scenario.upstreams.push_back(upstream_over("web", "a"));
  requests_at(scenario, {0}, "web");
  requests_at(scenario, {1});
  CHECK(when(simulate(scenario).series.ok) == "10 20");
}

TEST_CASE("capacity: a probe queues as traffic does, and holds its place when its time is over") {
  Scenario scenario = server_of(1, 5);
  api(scenario).health = eject_after(99);
  api(scenario).active_health = probe_every(5, 8);
  requests_at(scenario, {0, 14});
  const Timeline timeline = simulate(scenario);
  // The probe of 5 would be answered at 20 and is given up at 13.
  CHECK(events_of(timeline).starts_with("13 a:1 endpoint_ejected consecutive_failures"));
  CHECK(when(timeline.series.ok) == "10 30");
}

TEST_CASE("capacity: a probe whose own concurrency has room still waits behind a queue of traffic") {
  Scenario scenario = server_of(2, 5);
  api(scenario).health = eject_after(99);
  api(scenario).active_health = probe_every(5, 12);
  add_fault(server(scenario, 'a'), shrinking_to(0.5), 0, TO_THE_END, Scope::traffic);
  requests_at(scenario, {0, 1});
  const Timeline timeline = simulate(scenario);
  CHECK(when(timeline.series.ok) == "10 20");
  // In at 5 it would have passed at 15; in at 10, behind the queue, it is too late at 17.
  CHECK(events_of(timeline).starts_with("17 a:1 endpoint_ejected consecutive_failures"));
}

TEST_CASE("capacity: a tcp probe needs no place") {
  Scenario scenario = server_of(1, 0);
  server(scenario, 'a').latency = FixedLatency{100};
  api(scenario).health = eject_after(99);
  api(scenario).active_health = probe_every(5, 5);
  api(scenario).active_health->kind = ProbeKind::tcp;
  requests_at(scenario, {0});
  const Timeline timeline = simulate(scenario);
  CHECK(events_of(timeline).empty());
  CHECK(when(timeline.series.ok) == "100");
}
