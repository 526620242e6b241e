// The exact answers that tests judge by some thousands of replicates, by 100,000 each: bounds hold for all
// that.
#include "tests/sim/exact_onset_judge.hpp"
#include "tests/sim/exact_pool_judge.hpp"

namespace halfopen::sim::exact {
namespace {

using namespace judging;

TEST_CASE("soak: 100,000 endpoints and breakers that turn sick are out within the bounds") {
  for (const bool poisson : {true, false}) {
    Question streak{small_rule(), {0.6}, 0.005, {25, poisson}};
    streak.rule.window_ms = 8'000;
    judge<HealthUnderTest>(streak, streak, true, 0.1, REPLICATES);
    Question ratio{small_rule(), {0.7}, 0.01, {100, poisson}};
    ratio.rule.consecutive_failures = 9'000;
    judge<HealthUnderTest>(ratio, ratio, true, 1, REPLICATES);
    Question both{small_rule(), {0.5}, 0.1, {20, poisson}};
    both.rule.failure_ratio = 0.4;
    both.rule.consecutive_failures = 7;
    judge<HealthUnderTest>(both, both, true, 1, REPLICATES);
    Question turns{small_rule(), {0.1, 1, 0.9, 0.8}, 0.1, {10, poisson}};
    turns.rule.window_ms = BREAKER_WINDOW_MS;
    judge<BreakerUnderTest>(turns, turns, true, 1, REPLICATES);
  }
}

TEST_CASE("soak: the last of four endpoints goes within the bounds in 95 of 100 of 100,000 pools") {
  PoolQuestion q{small_rule(), 4, {80, true}};
  q.rule.window_ms = 10'000;
  q.rule.eject_ms = 30'000;
  const Answer<PoolSick> pool = sick_pool(q, 0.7, 0.01);
  REQUIRE(pool);
  CHECK(errors_of_p95(q, 0.7, 0.01, pool->within_95_s.high, REPLICATES) > -WIDTH);
  CHECK(errors_of_p95(q, 0.7, 0.01, pool->within_95_s.low, REPLICATES) < WIDTH);
}

}  // namespace
}  // namespace halfopen::sim::exact
