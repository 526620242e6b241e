// What becomes of an attempt that was not answered well: given up, tried again, refused, ended.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "sim/draws.hpp"
#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

// The delay before retry n, from 1, of a request.
Nanos delay(std::uint64_t seed, std::uint64_t entry, std::uint64_t index, std::uint32_t n, double base,
            double cap) {
  const double nominal = std::min(base * std::pow(2, n - 1), std::max(cap, base));
  const double u = Stream(seed, "retry-jitter:" + std::to_string(entry)).unit(index, 0, n, entry);
  return static_cast<Nanos>(std::floor(u * (nominal + 1))) * NANOS_PER_MS;
}

Scenario scripted(const std::vector<std::uint16_t>& statuses, std::uint32_t attempts,
                  double duration_ms = 200) {
  Scenario scenario = scenario_over("a", duration_ms);
  add_fault(server(scenario, 'a'), script(statuses));
  api(scenario).retries = retry_at_once(attempts);
  return scenario;
}

}  // namespace

TEST_CASE("timeouts: an attempt that takes too long is one failure, and its later answer reaches nobody") {
  Scenario scenario = scenario_over("a", 100);
  server(scenario, 'a').latency = FixedLatency{50};
  api(scenario).timeouts.read_ms = 20;
  api(scenario).health = eject_after(2);
  requests_at(scenario, {0});
  const Timeline timeline = simulate(scenario);
  CHECK(when(timeline.series.failed) == "20");
  CHECK(when(lane(timeline, 'a').failures) == "20");
  CHECK(timeline.summary.ok == 0);
  CHECK(timeline.summary.failures == 1);
  CHECK(events_of(timeline).empty());
}

TEST_CASE("timeouts: an answer in the very instant of the bound is in time, a nanosecond later it is not") {
  Scenario scenario = scenario_over("ab", 100);
  server(scenario, 'a').latency = FixedLatency{20};
  server(scenario, 'b').latency = FixedLatency{20.000001};
  api(scenario).timeouts.read_ms = 20;
  requests_at(scenario, {0, 0});
  for (const bool tracked : {false, true}) {
    if (tracked) server(scenario, 'a').capacity = server(scenario, 'b').capacity = Capacity{5, 5, 503};
    const Timeline timeline = simulate(scenario);
    CHECK(when(timeline.series.ok) == "20");
    CHECK(when(timeline.series.failed) == "20");
    CHECK(when(lane(timeline, 'b').failures) == "20");
  }
}

TEST_CASE("timeouts: a late success neither recovers its endpoint nor closes the breaker") {
  Scenario scenario = scenario_over("a", 200);
  server(scenario, 'a').latency = FixedLatency{50};
  api(scenario).timeouts.read_ms = 20;
  api(scenario).health = eject_after(1);
  api(scenario).breaker = open_after(1);
  requests_at(scenario, {0});
  CHECK(events_of(simulate(scenario)) ==
        "20 a:1 endpoint_ejected consecutive_failures, 20 api breaker_opened consecutive_failures");
}

TEST_CASE(
    "timeouts: who never accepts is bounded by connect_ms, who hangs by read_ms, and without it by nothing") {
  Scenario scenario = scenario_over("a", 100);
  api(scenario).timeouts.connect_ms = 30;
  api(scenario).timeouts.read_ms = 20;
  add_fault(server(scenario, 'a'), DownFault{DownKind::timeout}, 0, 1);
  add_fault(server(scenario, 'a'), HangFault{1}, 5, 6);
  requests_at(scenario, {0, 5});
  CHECK(when(simulate(scenario).series.failed) == "25 30");
  api(scenario).timeouts.read_ms.reset();
  const Timeline timeline = simulate(scenario);
  CHECK(when(timeline.series.failed) == "30");
  CHECK(timeline.summary.unfinished == 1);
}

TEST_CASE("timeouts: the default bound on connecting is five seconds") {
  Scenario scenario = scenario_over("a", 6000);
  add_fault(server(scenario, 'a'), DownFault{DownKind::timeout});
  requests_at(scenario, {0});
  CHECK(when(simulate(scenario).series.failed) == "5000");
}

TEST_CASE("timeouts: time in the queue counts") {
  Scenario scenario = scenario_over("a", 100);
  server(scenario, 'a').capacity = Capacity{1, 5, 503};
  api(scenario).timeouts.read_ms = 25;
  requests_at(scenario, {0, 0, 0});
  const Timeline timeline = simulate(scenario);
  CHECK(when(timeline.series.ok) == "10 20");
  CHECK(when(timeline.series.failed) == "25");
}

TEST_CASE("retries: a listed status is tried again until it is good or the attempts are used up") {
  Scenario scenario = scripted({503, 502, 200, 504, 504, 504, 504}, 2);
  requests_at(scenario, {0, 50});
  const Timeline timeline = simulate(scenario);
  CHECK(when(timeline.series.ok) == "30");
  CHECK(when(timeline.series.failed) == "80");
  CHECK(when(lane(timeline, 'a').attempts) == "0 10 20 50 60 70");
  CHECK(timeline.summary.failures == 5);
  CHECK(timeline.summary.retries == 4);
  CHECK(timeline.summary.retries_denied == 0);
  CHECK(timeline.summary.attempts_per_request == 3.0);
  CHECK(timeline.series.latency_p50_ms[30] == doctest::Approx(30).epsilon(0.01));
}

TEST_CASE("retries: whether an outcome was a failure is another question than whether it is listed") {
  Scenario scenario = scripted({429, 500, 200}, 1);
  api(scenario).retries.retry_statuses.set(429);
  requests_at(scenario, {0});
  const Timeline listed = simulate(scenario);
  CHECK(listed.summary.retries == 1);
  CHECK(listed.summary.failures == 1);
  CHECK(when(listed.series.failed) == "20");
  api(scenario).retries.retry_statuses.reset(429);
  const Timeline unlisted = simulate(scenario);
  CHECK(unlisted.summary.retries == 0);
  CHECK(when(unlisted.series.ok) == "10");
}

TEST_CASE("retries: transport errors are retried unless the settings say no") {
  Scenario scenario = scripted({0, 200}, 1);
  requests_at(scenario, {0});
  CHECK(when(simulate(scenario).series.ok) == "20");
  api(scenario).retries.retry_transport = false;
  CHECK(when(simulate(scenario).series.failed) == "10");
}

TEST_CASE("retries: a broken body fails the request and is never retried") {
  Scenario scenario = scenario_over("a", 100);
  add_fault(server(scenario, 'a'), TruncateFault{1});
  api(scenario).retries = retry_at_once(5);
  api(scenario).retries.retry_statuses.set(200);
  api(scenario).health = eject_after(2);
  requests_at(scenario, {0, 20});
  const Timeline timeline = simulate(scenario);
  CHECK(when(timeline.series.failed) == "10 30");
  CHECK(timeline.summary.retries == 0);
  CHECK(timeline.summary.attempts == 2);
  CHECK(events_of(timeline).empty());  // each was a success first, so no streak of 2
}

TEST_CASE("retries: bodies that always break off eject by ratio, in the instant of their headers") {
  Scenario scenario = scenario_over("a", 100);
  add_fault(server(scenario, 'a'), TruncateFault{1});
  api(scenario).health = eject_after(2);
  api(scenario).health->failure_min_volume = 4;
  requests_at(scenario, {0, 20});
  CHECK(events_of(simulate(scenario)) == "30 a:1 endpoint_ejected failure_ratio");
}

TEST_CASE("retries: the delay has to end before the deadline, not at it") {
  Scenario scenario = scripted({503, 200, 503, 200}, 1);
  api(scenario).retries.total_deadline_ms = 10;
  requests_at(scenario, {0});
  const Timeline at = simulate(scenario);
  CHECK(when(at.series.failed) == "10");
  CHECK(at.summary.retries_denied == 0);
  api(scenario).retries.total_deadline_ms = 11;
  CHECK(when(simulate(scenario).series.ok) == "20");
  server(scenario, 'a').latency = FixedLatency{9.999999};
  api(scenario).retries.total_deadline_ms = 10;
  CHECK(simulate(scenario).summary.ok == 1);  // judged in virtual nanoseconds
}

TEST_CASE("retries: the budget denies, counts what it denied, and the request ends with its last answer") {
  Scenario scenario = scripted({503, 503, 503, 503}, 2);
  api(scenario).retries.budget_percent = 50;
  requests_at(scenario, {0, 20, 40});
  const Timeline timeline = simulate(scenario);
  // One request entered: 100 <= 50 fails. Two entered: 100 <= 100 holds. Then 200 <= 100 and 200 <= 150 fail.
  CHECK(when(timeline.series.retried) == "30");
  CHECK(timeline.summary.retries_denied == 3);
  CHECK(when(timeline.series.failed) == "10 40 50");
  CHECK(timeline.summary.fast_failed == 0);
}

TEST_CASE("retries: a refused deadline or used-up attempts are not the budget's denials") {
  Scenario scenario = scripted({503, 503}, 1);
  api(scenario).retries.budget_percent = 1;
  api(scenario).retries.total_deadline_ms = 5;
  requests_at(scenario, {0});
  CHECK(simulate(scenario).summary.retries_denied == 0);
}

TEST_CASE("retries: refused by the breaker, a request ends with its last answer and is not fast_failed") {
  Scenario scenario = scripted({429, 503}, 1);
  api(scenario).retries.retry_statuses.set(429).reset(503);
  api(scenario).breaker = open_after(1);
  requests_at(scenario, {0, 0, 50});
  const Timeline timeline = simulate(scenario);
  CHECK(when(timeline.series.ok) == "10");  // 429, its retry refused
  CHECK(when(timeline.series.failed) == "10 50");
  CHECK(when(timeline.series.fast_failed) == "50");
  CHECK(timeline.summary.retries == 1);
  CHECK(timeline.summary.retries_denied == 0);
  CHECK(timeline.summary.attempts == 2);
  CHECK(timeline.summary.admitted == 2);
}

TEST_CASE("retries: for want of its upstream, a request ends with its last answer and is not fast_failed") {
  Scenario scenario = scripted({503}, 1);
  api(scenario).retries.backoff_base_ms = api(scenario).retries.backoff_cap_ms = 1000;
  scenario.duration = ms(2000);
  reload_at(scenario, 11).clear();
  requests_at(scenario, {0});
  const Timeline timeline = simulate(scenario);
  const Nanos due = ms(10) + delay(1, 0, 0, 1, 1000, 1000);
  REQUIRE(due > ms(11));
  CHECK(when(timeline.series.failed) == time_text(due));
  CHECK(timeline.summary.fast_failed == 0);
  CHECK(timeline.summary.retries == 1);
}

TEST_CASE("retries: the n-th backoff draws retry-jitter at attempt n, between 0 and its nominal length") {
  Scenario scenario = scenario_over("a", 3000);
  scenario.seed = 77;
  add_fault(server(scenario, 'a'), DownFault{});
  api(scenario).retries = retry_at_once(5);
  api(scenario).retries.backoff_base_ms = 40;
  api(scenario).retries.backoff_cap_ms = 200;
  scenario.clock.steps = {{ms(30), 5000}, {ms(60), -9000}};  // backoffs don't obey them
  requests_at(scenario, {});
  requests_at(scenario, {2500, 0});
  std::string expected;
  for (const std::uint64_t index : {1U, 0U}) {
    Nanos at = index == 0 ? ms(2500) : 0;
    expected += (expected.empty() ? "" : " ") + time_text(at);
    for (std::uint32_t n = 1; n <= 5; ++n) {
      at += delay(77, 1, index, n, 40, 200);
      if (at < scenario.duration) expected += " " + time_text(at);
    }
  }
  CHECK(when(simulate(scenario).series.fail_open_picks).empty());
  CHECK(when(lane(simulate(scenario), 'a').attempts) == expected);
}

TEST_CASE("retries: the n-th retry meets the service draw of attempt n") {
  Scenario scenario = scenario_over("a", 4000);
  scenario.seed = 9;
  server(scenario, 'a').latency = UniformLatency{1, 900};
  add_fault(server(scenario, 'a'), script({503, 503, 503}));
  api(scenario).retries = retry_at_once(3);
  requests_at(scenario, {0});
  const Stream service(9, "service:api/a:1");
  Nanos at = 0;
  std::string expected = "0";
  for (std::uint32_t attempt = 0; attempt < 3; ++attempt) {
    at += static_cast<Nanos>((1 + service.unit(0, 0, attempt) * 899) * 1e6);
    expected += " " + std::to_string(at / NANOS_PER_MS);
  }
  CHECK(when(lane(simulate(scenario), 'a').attempts) == expected);
}

TEST_CASE("retries: a caller that leaves during a backoff makes no further attempt") {
  Scenario scenario = scripted({503, 503, 503}, 3, 3000);
  api(scenario).retries.backoff_base_ms = api(scenario).retries.backoff_cap_ms = 1000;
  requests_at(scenario, {0}).abandon = Abandon{1, ms(11)};
  REQUIRE(delay(1, 0, 0, 1, 1000, 1000) > ms(1));
  const Timeline timeline = simulate(scenario);
  CHECK(timeline.summary.abandoned == 1);
  CHECK(timeline.summary.attempts == 1);
  CHECK(timeline.summary.failed == 0);
  CHECK(timeline.summary.failures == 1);
  CHECK(timeline.summary.retries == 1);
}
