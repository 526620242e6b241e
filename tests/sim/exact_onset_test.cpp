// What was healthy for longer than its window and turns sick: the bounds against the real machines.
#include "sim/exact_onset.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/exact_pool.hpp"
#include "tests/sim/exact_onset_judge.hpp"

namespace halfopen::sim::exact {
namespace {

using namespace judging;

// Bounds this tight leave no room for an empty window, which says 0.6 s in place of 1 s.
TEST_CASE("exact onset: a streak acts on what was healthy as soon as the bounds say, a full window or not") {
  for (const bool poisson : {true, false}) {
    Question q{small_rule(), {0.6}, 0.005, {25, poisson}};
    q.rule.window_ms = 8'000;
    judge<HealthUnderTest>(q, q, true, 0.1);
    Question longer = q;
    longer.rule.consecutive_failures = 6;
    judge<HealthUnderTest>(q, longer, false, 1);
  }
}

TEST_CASE("exact onset: the ratio alone has to wear down the successes of a full window") {
  for (const bool poisson : {true, false}) {
    Question q{small_rule(), {0.7}, 0.01, {100, poisson}};
    q.rule.consecutive_failures = 9'000;
    judge<HealthUnderTest>(q, q, true, 1);
    Question higher = q;
    higher.rule.failure_ratio = 0.65;
    judge<HealthUnderTest>(q, higher, false, 1);
    Question few = q;
    few.arrivals.per_s = 6;  // the volume is what a window holds, more or less
    judge<HealthUnderTest>(few, few, true, 1);
  }
}

TEST_CASE("exact onset: endpoints in turns, some of them sick, open a breaker within the bounds") {
  for (const bool poisson : {true, false}) {
    Question turns{small_rule(), {0.1, 1, 0.9, 0.8}, 0.1, {30, poisson}};
    turns.rule.window_ms = BREAKER_WINDOW_MS;
    turns.rule.consecutive_failures = 9'000;
    judge<BreakerUnderTest>(turns, turns, true, 1);
    turns.rule.consecutive_failures = 5;
    judge<BreakerUnderTest>(turns, turns, true, 0.6);
  }
}

// A certain failure in each round meets the ratio for certain in its turn, not with a 60th of it in each.
TEST_CASE("exact onset: one that always fails among many in turns is no mean of them") {
  for (const bool poisson : {true, false}) {
    Question q{small_rule(), FailureTurns(20, 0.001), 0.001, {4, poisson}};
    q.sick.back() = 1;
    q.rule.window_ms = BREAKER_WINDOW_MS;
    q.rule.failure_ratio = 0.02;
    judge<BreakerUnderTest>(q, q, true, 1);
    const Answer<Ejection> fresh = ejection(q.rule, q.sick, q.arrivals);
    REQUIRE(fresh);
    std::vector<double> times;
    for (std::uint64_t r = 0; r < 2'000; ++r) {
      BreakerUnderTest machine(q.rule);
      Luck luck(72, r);
      double t = 0;
      for (std::size_t i = 0;; ++i) {
        t += poisson ? luck.exponential(250) : 250;
        if (machine.report(1000 + static_cast<std::uint64_t>(t), luck.unit() < q.sick[i % 20])) break;
      }
      times.push_back(t / 1000);
    }
    CHECK(mean_agrees(times, fresh->mean_s.low, fresh->mean_s.high));
    std::sort(times.begin(), times.end());
    CHECK(times[1'940] >= fresh->within_95_s.low);
    CHECK(times[1'860] <= fresh->within_95_s.high);
  }
}

TEST_CASE("exact onset: what does not turn sick, and the largest settings, are refused or answered soon") {
  const HealthParams rule = small_rule();
  const Arrivals arrivals{10, true};
  const Answer<Ejection> well = ejection(rule, {0.1}, arrivals);
  REQUIRE(well);
  CHECK(onset(*well, rule, {0.1}, 0.2).refusal == "it fails less often than before the turn");
  CHECK_FALSE(onset(*well, rule, {0.1}, 1));
  CHECK_FALSE(onset(*well, rule, {0.1}, -0.1));
  CHECK_FALSE(pool_sick({rule, 2, arrivals}, *well, 0.1, 0.2));
  CHECK(onset(*well, rule, {0.1}, 0.1));
  for (const double rate : {1e-9, 1.0, 1e7}) {
    for (const double p : {0.0, 0.5, 1.0}) {
      for (const std::uint64_t window_ms : {std::uint64_t{1}, std::uint64_t{1'000'000'000'000}}) {
        HealthParams wide = rule;
        wide.window_ms = window_ms;
        for (const bool poisson : {true, false}) {
          const Answer<Ejection> e = ejection(wide, {p}, {rate, poisson});
          if (!e) continue;
          const Answer<Onset> turn = onset(*e, wide, {p}, 0);
          REQUIRE(turn);
          CHECK(turn->median_s.low <= turn->median_s.high);
          CHECK(turn->median_s.high <= turn->within_95_s.high);
          CHECK((turn->in_an_hour.low >= 0 && turn->in_an_hour.low <= turn->in_an_hour.high));
        }
      }
    }
  }
}

}  // namespace
}  // namespace halfopen::sim::exact
