// Who asks, when, and with whose luck.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/balancer.hpp"
#include "sim/draws.hpp"
#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

TEST_CASE("traffic: every_ms begins at from_ms and ends before to_ms") {
  Scenario scenario = scenario_over("a", 100);
  requests_every(scenario, 10, 15, 45);
  CHECK(when(simulate(scenario).series.requests) == "15 25 35");
}

TEST_CASE("traffic: at_ms is absolute, in any order, and cut by from_ms, to_ms and the end of the run") {
  Scenario scenario = scenario_over("a", 50);
  Traffic& entry = requests_at(scenario, {30, 60, 10, 20, 50, 20, 5});
  entry.from = ms(10);
  entry.to = ms(30);
  CHECK(when(simulate(scenario).series.requests) == "10 20 20");
  scenario.traffic[0].to = NEVER;
  CHECK(when(simulate(scenario).series.requests) == "10 20 20 30");
}

TEST_CASE("traffic: what is in flight at the end is unfinished and in no ratio") {
  Scenario scenario = scenario_over("a", 50);
  requests_at(scenario, {0, 39.999999, 40, 49});
  const Timeline timeline = simulate(scenario);
  CHECK(timeline.summary.requests == 4);
  CHECK(timeline.summary.ok == 2);
  CHECK(timeline.summary.unfinished == 2);
  CHECK(timeline.summary.success_ratio == 1.0);
}

TEST_CASE("traffic: while its upstream does not exist, requests fail fast") {
  Scenario scenario = scenario_over("ab", 100);
  scenario.upstreams[0] = upstream_over("api", "a");
  reload_at(scenario, 20).push_back(upstream_over("web", "b"));
  reload_at(scenario, 60).pop_back();
  requests_at(scenario, {10, 19.999999, 20, 55, 60, 70}, "web");
  const Timeline timeline = simulate(scenario);
  CHECK(when(timeline.series.fast_failed) == "10 19 60 70");
  CHECK(when(timeline.series.failed) == "10 19 60 70");
  CHECK(when(timeline.series.ok) == "30 65");  // the one in flight at the removal finishes
  CHECK(timeline.summary.attempts == 2);
  CHECK(timeline.summary.attempts_per_request == 1.0);
}

TEST_CASE("traffic: a caller that leaves before the end is abandoned, apart from ok and failed") {
  Scenario scenario = scenario_over("a", 100);
  requests_at(scenario, {0, 20}).abandon = Abandon{1, ms(4)};
  requests_at(scenario, {50});
  const Timeline timeline = simulate(scenario);
  CHECK(timeline.summary.abandoned == 2);
  CHECK(timeline.summary.requests == 3);
  CHECK(timeline.summary.attempts == 3);
  CHECK(timeline.summary.ok == 1);
  CHECK(timeline.summary.failed == 0);
  CHECK(timeline.summary.unfinished == 0);
  CHECK(timeline.summary.success_ratio == 1.0);
  CHECK(when(timeline.series.in_flight) == "0 1 2 19 20 21 22 49 50 51 52 53 54 55 56 57 58");
}

TEST_CASE("traffic: a caller that means to leave after the end has not left") {
  Scenario scenario = scenario_over("a", 100);
  requests_at(scenario, {0}).abandon = Abandon{1, ms(10)};
  add_fault(server(scenario, 'a'), DownFault{}, 50);
  requests_at(scenario, {60}).abandon = Abandon{1, ms(1)};
  const Timeline timeline = simulate(scenario);
  CHECK(timeline.summary.abandoned == 0);
  CHECK(when(timeline.series.ok) == "10");
  CHECK(when(timeline.series.failed) == "60");
}

TEST_CASE("traffic: who leaves is drawn by the request's index, which for at_ms is its place in the list") {
  Scenario scenario = scenario_over("a", 2000);
  scenario.seed = 11;
  std::vector<double> at;
  for (int place = 0; place < 50; ++place) at.push_back(place * 37 % 50 * 20);
  requests_at(scenario, {1990});
  requests_at(scenario, at).abandon = Abandon{0.4, ms(3)};
  const Stream draws(11, "abandon:1");
  std::vector<int> stayed;
  for (std::size_t place = 0; place < at.size(); ++place) {
    if (draws.unit(place, 0, 0, 1) >= 0.4) stayed.push_back(static_cast<int>(at[place]) + 10);
  }
  std::sort(stayed.begin(), stayed.end());
  std::string expected;
  for (const int end : stayed) expected += (expected.empty() ? "" : " ") + std::to_string(end);
  const Timeline timeline = simulate(scenario);
  CHECK(when(timeline.series.ok) == expected);
  CHECK(timeline.summary.abandoned == 50 - stayed.size());
  CHECK(timeline.summary.abandoned > 10);
}

TEST_CASE("traffic: an abandoned trial gives its slot back, so nothing wedges") {
  Scenario scenario = scenario_over("a", 300);
  api(scenario).health = eject_after(1, 50);
  api(scenario).breaker = open_after(1, 50);
  add_fault(server(scenario, 'a'), script({503}));
  requests_at(scenario, {0});
  requests_at(scenario, {80}).abandon = Abandon{1, ms(5)};
  requests_at(scenario, {84, 85});  // one while the slot is taken, one in the instant in which it returns
  CHECK(events_of(simulate(scenario)) ==
        "10 a:1 endpoint_ejected consecutive_failures, 10 api breaker_opened consecutive_failures, "
        "80 api breaker_half_open, 80 a:1 endpoint_half_open, "
        "95 a:1 endpoint_recovered half_open_probe, 95 api breaker_closed");
}

TEST_CASE("traffic: ip_hash without keys is round_robin") {
  Scenario scenario = scenario_over("ab", 200);
  api(scenario).load_balancer = Algorithm::ip_hash;
  requests_every(scenario, 10, 0, 100);
  const Timeline timeline = simulate(scenario);
  CHECK(lane(timeline, 'a').total_attempts == 5);
  CHECK(lane(timeline, 'b').total_attempts == 5);
}

TEST_CASE("traffic: a client keeps its endpoint, whenever it comes and whoever else is removed") {
  Scenario scenario = scenario_over("abcd", 400);
  api(scenario).load_balancer = Algorithm::ip_hash;
  requests_every(scenario, 1, 0, 300).keys = Keys{1, 0};
  const Timeline whole = simulate(scenario);
  char owner = 0;
  for (const char letter : {'a', 'b', 'c', 'd'}) {
    if (lane(whole, letter).total_attempts == 300) owner = letter;
  }
  REQUIRE(owner != 0);
  auto& endpoints = reload_at(scenario, 100)[0].endpoints;
  std::erase_if(endpoints,
                [owner](const EndpointConfig& one) { return one.address[0] != owner && one.address != "a"; });
  const Timeline reduced = simulate(scenario);
  CHECK(lane(reduced, owner).total_attempts == 300);
}

TEST_CASE("traffic: many clients reach every endpoint, and the same ones at each run and reload") {
  Scenario scenario = scenario_over("abc", 1100);
  api(scenario).load_balancer = Algorithm::ip_hash;
  requests_every(scenario, 1, 0, 1000).keys = Keys{500, 0};
  const Timeline plain = simulate(scenario);
  for (const EndpointLane& each : plain.lanes) CHECK(each.total_attempts > 150);
  reload_at(scenario, 333);
  const Timeline reloaded = simulate(scenario);
  for (std::size_t i = 0; i < 3; ++i) CHECK(reloaded.lanes[i].attempts == plain.lanes[i].attempts);
}

TEST_CASE("traffic: a retry brings the key of its request") {
  Scenario scenario = scenario_over("abcd", 600);
  api(scenario).load_balancer = Algorithm::ip_hash;
  api(scenario).retries = retry_at_once(1);
  for (const char letter : {'a', 'b', 'c', 'd'}) add_fault(server(scenario, letter), ErrorFault{1, 503});
  requests_every(scenario, 20, 0, 500).keys = Keys{100, 0};
  const Timeline timeline = simulate(scenario);
  for (const EndpointLane& each : timeline.lanes) {
    for (std::size_t bin = 0; bin < 500; bin += 20) CHECK(each.attempts[bin] == each.attempts[bin + 10]);
  }
}

TEST_CASE("traffic: with a zipf exponent the first client asks more often than all others") {
  Scenario scenario = scenario_over("ab", 2100);
  api(scenario).load_balancer = Algorithm::ip_hash;
  requests_every(scenario, 1, 0, 2000).keys = Keys{1000, 2};
  const Timeline timeline = simulate(scenario);
  const auto most = std::max(timeline.lanes[0].total_attempts, timeline.lanes[1].total_attempts);
  CHECK(most > 1200);  // 1 of zeta(2) is 0.61
}

TEST_CASE("traffic: random draws its two words at index, attempt and entry of balance") {
  Scenario scenario = scenario_over("abc", 300);
  scenario.seed = 21;
  api(scenario).load_balancer = Algorithm::random;
  for (const char letter : {'a', 'b', 'c'}) add_fault(server(scenario, letter), ErrorFault{1, 503});
  api(scenario).retries = retry_at_once(1);
  requests_at(scenario, {});
  requests_every(scenario, 20, 0, 200);
  const Timeline timeline = simulate(scenario);
  const Stream balance(21, "balance:api");
  for (std::uint64_t index = 0; index < 10; ++index) {
    for (std::uint32_t attempt = 0; attempt < 2; ++attempt) {
      const auto words = balance.words(index, 0, attempt, 1);
      const auto pair = two_choices(words[0], words[1], 3);
      const std::uint32_t chosen = std::min(pair.first, pair.second);  // all are idle: the lower index
      CHECK(timeline.lanes[chosen].attempts[index * 20 + attempt * 10] == 1);
    }
  }
}
