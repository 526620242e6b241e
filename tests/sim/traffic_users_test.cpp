// The closed loop: who asks only after having been answered.
#include <doctest/doctest.h>

#include "tests/sim/diary.hpp"
#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

Traffic& closed_loop(Scenario& scenario, std::uint64_t count, double think_ms, double from_ms = 0,
                     double to_ms = TO_THE_END) {
  Traffic traffic;
  traffic.upstream = "api";
  traffic.source = Users{count, ms(think_ms)};
  traffic.from = ms(from_ms);
  if (to_ms >= 0) traffic.to = ms(to_ms);
  scenario.traffic.push_back(traffic);
  return scenario.traffic.back();
}

}  // namespace

TEST_CASE("users: each begins in turn, is answered, thinks and asks again, to the nanosecond") {
  Scenario scenario = scenario_over("a", 200);
  closed_loop(scenario, 3, 100, 5);
  CHECK(diary_of(scenario) ==
        "5 u0/0 asks, 15 u0/0 ok, 38 u1/0 asks, 48 u1/0 ok, 71 u2/0 asks, 81 u2/0 ok, "
        "115 u0/1 asks, 125 u0/1 ok, 148 u1/1 asks, 158 u1/1 ok, 181 u2/1 asks, 191 u2/1 ok");
}

TEST_CASE("users: nobody asks at or after the entry's end") {
  Scenario scenario = scenario_over("a", 300);
  closed_loop(scenario, 1, 40, 0, 100);
  CHECK(diary_of(scenario) == "0 u0/0 asks, 10 u0/0 ok, 50 u0/1 asks, 60 u0/1 ok");
  scenario.traffic[0].to += 1;
  CHECK(diary_of(scenario) ==
        "0 u0/0 asks, 10 u0/0 ok, 50 u0/1 asks, 60 u0/1 ok, 100 u0/2 asks, 110 u0/2 ok");
}

TEST_CASE("users: whoever is never answered never asks again") {
  Scenario scenario = scenario_over("a", 300);
  add_fault(server(scenario, 'a'), HangFault{1}, 40, 60);
  closed_loop(scenario, 1, 40);
  const Told told = tell(scenario);
  CHECK(told.diary == "0 u0/0 asks, 10 u0/0 ok, 50 u0/1 asks");
  CHECK(told.timeline.summary.unfinished == 1);
}

TEST_CASE("users: failed, refused or left, they think and ask for the next thing") {
  Scenario scenario = scenario_over("a", 130);
  api(scenario).breaker = open_after(1, 35);
  add_fault(server(scenario, 'a'), script({503}));
  Traffic& entry = closed_loop(scenario, 1, 30);
  // Failed at 10, refused at 40, the trial at 70.
  CHECK(diary_of(scenario) ==
        "0 u0/0 asks, 10 u0/0 failed, 40 u0/1 asks, 40 u0/1 refused, 70 u0/2 asks, 80 u0/2 ok, "
        "110 u0/3 asks, 120 u0/3 ok");
  entry.abandon = Abandon{1, ms(4)};
  CHECK(diary_of(scenario) ==
        "0 u0/0 asks, 4 u0/0 leaves, 34 u0/1 asks, 38 u0/1 leaves, 68 u0/2 asks, 72 u0/2 leaves, "
        "102 u0/3 asks, 106 u0/3 leaves");
}

TEST_CASE("users: they wait through all tries of a client and think after the last") {
  Scenario scenario = scenario_over("a", 150);
  add_fault(server(scenario, 'a'), ErrorFault{1, 503}, 0, 50);
  Client client;
  client.timeout = ms(4);
  client.retries = 2;
  client.backoff_base_ms = client.backoff_cap_ms = 0;
  Traffic& entry = closed_loop(scenario, 1, 30);
  entry.client = client;
  CHECK(diary_of(scenario) ==
        "0 u0/0 asks, 4 u0/0 leaves, 4 u0/0+1 asks, 8 u0/0+1 leaves, 8 u0/0+2 asks, 12 u0/0+2 leaves, "
        "42 u0/1 asks, 46 u0/1 leaves, 46 u0/1+1 asks, 50 u0/1+1 leaves, 50 u0/1+2 asks, "
        "54 u0/1+2 leaves, 84 u0/2 asks, 88 u0/2 leaves, 88 u0/2+1 asks, 92 u0/2+1 leaves, "
        "92 u0/2+2 asks, 96 u0/2+2 leaves, 126 u0/3 asks, 130 u0/3 leaves, 130 u0/3+1 asks, "
        "134 u0/3+1 leaves, 134 u0/3+2 asks, 138 u0/3+2 leaves");
  entry.client->timeout = ms(10);
  CHECK(diary_of(scenario) ==
        "0 u0/0 asks, 10 u0/0 failed, 10 u0/0+1 asks, 20 u0/0+1 failed, 20 u0/0+2 asks, "
        "30 u0/0+2 failed, 60 u0/1 asks, 70 u0/1 ok, 100 u0/2 asks, 110 u0/2 ok, 140 u0/3 asks");
}

TEST_CASE("users: who leaves for good during the tries comes back only for the next thing") {
  Scenario scenario = scenario_over("a", 60);
  server(scenario, 'a').latency = FixedLatency{20};
  Client client;
  client.timeout = ms(8);
  client.retries = 5;
  Traffic& entry = closed_loop(scenario, 1, 30);
  entry.client = client;
  entry.abandon = Abandon{1, ms(7)};
  CHECK(diary_of(scenario) == "0 u0/0 asks, 7 u0/0 leaves, 37 u0/1 asks, 44 u0/1 leaves");
}

TEST_CASE("users: a request that ends in its own instant stalls nothing") {
  Scenario scenario = scenario_over("a", 5);
  api(scenario).name = "other";
  Traffic& entry = closed_loop(scenario, 2, 1);
  entry.client = Client{NEVER, 1000, 0, 0, false};
  const Timeline timeline = simulate(scenario);
  CHECK(timeline.summary.fast_failed == 10 * 1001);  // at 0, 0.5, 1, … 4.5, each with all its tries
}

TEST_CASE("users: at one instant they go by their number, among all other arrivals") {
  Scenario scenario = scenario_over("a", 60);
  closed_loop(scenario, 2, 20);
  requests_at(scenario, {30, 40});
  // User 0 asks at 0 and 30, user 1 at 10 and 40.
  CHECK(diary_of(scenario) ==
        "0 u0/0 asks, 10 u0/0 ok, 10 u1/0 asks, 20 u1/0 ok, 30 u0/1 asks, 30 e1:0 asks, "
        "40 u0/1 ok, 40 e1:0 ok, 40 u1/1 asks, 40 e1:1 asks, 50 u1/1 ok, 50 e1:1 ok");
}

// Little's law: a user asks once in latency and think time.
TEST_CASE("users: a slower server is asked less, which is what hides its slowness") {
  Scenario scenario = scenario_over("a", 10'000);
  scenario.sample = ms(1000);
  closed_loop(scenario, 10, 90);
  CHECK(simulate(scenario).summary.requests == 1000);
  server(scenario, 'a').latency = FixedLatency{910};
  CHECK(simulate(scenario).summary.requests == 100);
}
