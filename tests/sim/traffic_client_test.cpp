// Callers who give up and come again.
#include <doctest/doctest.h>

#include "tests/sim/clients.hpp"
#include "tests/sim/diary.hpp"
#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

TEST_CASE("clients: an answer in the instant of the timeout is in time, a nanosecond later it is not") {
  for (const bool tracked : {false, true}) {
    Scenario scenario = scenario_over("a", 100);
    requests_at(scenario, {0}).client = impatient(20, 0);
    if (tracked) server(scenario, 'a').capacity = Capacity{5, 5, 503};
    const auto with_latency = [&scenario](double latency_ms) {
      server(scenario, 'a').latency = FixedLatency{latency_ms};
      return diary_of(scenario);
    };
    CHECK(with_latency(19.999999) == "0 0 asks, 19.999999 0 ok");
    CHECK(with_latency(20) == "0 0 asks, 20 0 ok");
    CHECK(with_latency(20.000001) == "0 0 asks, 20 0 leaves");
  }
}

TEST_CASE("clients: the gateway's own timeout in the same instant comes first, its due retry too late") {
  Scenario scenario = scenario_over("a", 100);
  server(scenario, 'a').latency = FixedLatency{50};
  api(scenario).timeouts.read_ms = 20;
  requests_at(scenario, {0}).client = impatient(20, 0);
  CHECK(diary_of(scenario) == "0 0 asks, 20 0 failed");
  api(scenario).retries = retry_at_once(1);
  const Told told = tell(scenario);
  CHECK(told.diary == "0 0 asks, 20 0 leaves");
  CHECK(told.timeline.summary.retries == 1);
  CHECK(told.timeline.summary.attempts == 1);
}

TEST_CASE("clients: who gives up is abandoned, each try a request, and the server works on for nobody") {
  Scenario scenario = scenario_over("a", 200);
  server(scenario, 'a').capacity = Capacity{1, 5, 503};
  server(scenario, 'a').latency = FixedLatency{50};
  requests_at(scenario, {0}).client = impatient(20, 2);
  const Told told = tell(scenario);
  // The second try waits for the first's place until 50, the third for the second's until 100.
  CHECK(told.diary == "0 0 asks, 20 0 leaves, 20 0+1 asks, 40 0+1 leaves, 40 0+2 asks, 60 0+2 leaves");
  CHECK(told.timeline.summary.requests == 3);
  CHECK(told.timeline.summary.abandoned == 3);
  CHECK(told.timeline.summary.attempts == 3);
  CHECK(told.timeline.summary.failed == 0);
  CHECK(told.timeline.summary.unfinished == 0);
}

TEST_CASE("clients: a failed try is tried again until one is served or all are used up") {
  Scenario scenario = scenario_over("a", 200);
  add_fault(server(scenario, 'a'), script({503, 500, 404, 503, 503, 503, 503}));
  requests_at(scenario, {0, 50}).client = persistent(2);
  CHECK(diary_of(scenario) ==
        "0 0 asks, 10 0 failed, 10 0+1 asks, 20 0+1 failed, 20 0+2 asks, 30 0+2 ok, "
        "50 1 asks, 60 1 failed, 60 1+1 asks, 70 1+1 failed, 70 1+2 asks, 80 1+2 failed");
}

TEST_CASE("clients: a body that breaks off and a request without an endpoint count as failed") {
  Scenario scenario = scenario_over("a", 200);
  add_fault(server(scenario, 'a'), TruncateFault{1}, 0, 5);
  requests_at(scenario, {0}).client = persistent(1);
  CHECK(diary_of(scenario) == "0 0 asks, 10 0 failed, 10 0+1 asks, 20 0+1 ok");
  api(scenario).name = "other";
  CHECK(diary_of(scenario) == "0 0 asks, 0 0 refused, 0 0+1 asks, 0 0+1 refused");
}

TEST_CASE("clients: the gateway's retries come first, and a new try has them all again") {
  Scenario scenario = scenario_over("a", 200);
  api(scenario).retries = retry_at_once(1);
  add_fault(server(scenario, 'a'), script({503, 503, 503, 200}));
  requests_at(scenario, {0}).client = persistent(1);
  const Told told = tell(scenario);
  CHECK(told.diary == "0 0 asks, 20 0 failed, 20 0+1 asks, 40 0+1 ok");
  CHECK(told.timeline.summary.retries == 2);
}

TEST_CASE("clients: Retry-After of an open breaker is waited for in whole seconds, by those who honour it") {
  Scenario scenario = scenario_over("a", 4000);
  api(scenario).breaker = open_after(1, 1500);
  add_fault(server(scenario, 'a'), script({503}));
  Client client = persistent(2);
  requests_at(scenario, {0, 20}).client = client;
  CHECK(diary_of(scenario) ==
        "0 0 asks, 10 0 failed, 10 0+1 asks, 10 0+1 refused, 10 0+2 asks, 10 0+2 refused, "
        "20 1 asks, 20 1 refused, 20 1+1 asks, 20 1+1 refused, 20 1+2 asks, 20 1+2 refused");
  // 1,500 ms are told as 2 s, and so are the 1,490 that are left at 20. At 2010 the trial; its answer at 2020
  // closes the breaker before that instant's arrival.
  client.honours_retry_after = true;
  scenario.traffic[0].client = client;
  const Told told = tell(scenario);
  CHECK(told.diary ==
        "0 0 asks, 10 0 failed, 10 0+1 asks, 10 0+1 refused, 20 1 asks, 20 1 refused, "
        "2010 0+2 asks, 2020 0+2 ok, 2020 1+1 asks, 2030 1+1 ok");
  CHECK(events_of(told.timeline) ==
        "10 api breaker_opened consecutive_failures, 2010 api breaker_half_open, 2020 api breaker_closed");
}

TEST_CASE("clients: who honours Retry-After waits for nothing when the gateway says none") {
  Scenario scenario = scenario_over("a", 200);
  add_fault(server(scenario, 'a'), ErrorFault{1, 503}, 0, 15);
  Client client = persistent(3);
  client.honours_retry_after = true;
  requests_at(scenario, {0}).client = client;
  CHECK(diary_of(scenario) == "0 0 asks, 10 0 failed, 10 0+1 asks, 20 0+1 failed, 20 0+2 asks, 30 0+2 ok");
}

TEST_CASE("clients: who goes away for good does not come again, not even in the instant of the timeout") {
  Scenario scenario = scenario_over("a", 300);
  server(scenario, 'a').latency = FixedLatency{50};
  Traffic& entry = requests_at(scenario, {0});
  entry.client = impatient(20, 2);
  const auto leaving_after = [&](double after_ms) {
    entry.abandon = Abandon{1, ms(after_ms)};
    return diary_of(scenario);
  };
  CHECK(leaving_after(19.999999) == "0 0 asks, 19.999999 0 leaves");
  CHECK(leaving_after(20) == "0 0 asks, 20 0 leaves");
  CHECK(leaving_after(20.000001) ==
        "0 0 asks, 20 0 leaves, 20 0+1 asks, 40 0+1 leaves, 40 0+2 asks, 60 0+2 leaves");
}

TEST_CASE("clients: a trial that its client gave up returns its slot, and the next try is the trial") {
  Scenario scenario = scenario_over("a", 300);
  api(scenario).breaker = open_after(1, 50);
  add_fault(server(scenario, 'a'), script({503}));
  add_fault(server(scenario, 'a'), LatencyFault{100, 1, 0}, 60, 90);
  requests_at(scenario, {0});
  requests_at(scenario, {70}).client = impatient(20, 1);
  const Told told = tell(scenario);
  CHECK(told.diary == "0 0 asks, 10 0 failed, 70 e1:0 asks, 90 e1:0 leaves, 90 e1:0+1 asks, 100 e1:0+1 ok");
  CHECK(events_of(told.timeline) ==
        "10 api breaker_opened consecutive_failures, 70 api breaker_half_open, 100 api breaker_closed");
}

TEST_CASE(
    "clients: at one instant everybody goes by entry and request, whether for the first time or again") {
  Scenario scenario = scenario_over("a", 300);
  add_fault(server(scenario, 'a'), ErrorFault{1, 503}, 0, 10);
  requests_at(scenario, {10});
  requests_at(scenario, {10, 0, 10}).client = persistent(1);
  requests_at(scenario, {0, 10}).client = persistent(1);
  CHECK(diary_of(scenario) ==
        "0 e1:1 asks, 0 e2:0 asks, 10 e1:1 failed, 10 e2:0 failed, "
        "10 0 asks, 10 e1:0 asks, 10 e1:1+1 asks, 10 e1:2 asks, 10 e2:0+1 asks, 10 e2:1 asks, "
        "20 0 ok, 20 e1:0 ok, 20 e1:1+1 ok, 20 e1:2 ok, 20 e2:0+1 ok, 20 e2:1 ok");
}

TEST_CASE("clients: who comes again at one instant goes by request, whoever failed first") {
  Scenario scenario = scenario_over("ab", 35);
  server(scenario, 'a').latency = FixedLatency{20};
  for (const char letter : {'a', 'b'}) add_fault(server(scenario, letter), ErrorFault{1, 503}, 0, 15);
  requests_at(scenario, {10, 0}).client = persistent(1);
  CHECK(diary_of(scenario) ==
        "0 1 asks, 10 0 asks, 20 1 failed, 20 0 failed, 20 0+1 asks, 20 1+1 asks, 30 1+1 ok");
}

TEST_CASE("clients: what has begun is tried again after the entry's end, but not after the run's") {
  Scenario scenario = scenario_over("a", 40);
  add_fault(server(scenario, 'a'), ErrorFault{1, 503});
  Traffic& entry = requests_every(scenario, 5, 0, 5);
  entry.client = persistent(9);
  CHECK(diary_of(scenario) ==
        "0 0 asks, 10 0 failed, 10 0+1 asks, 20 0+1 failed, 20 0+2 asks, 30 0+2 failed, 30 0+3 asks");
}
