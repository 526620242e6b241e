// Pools against real trackers, and the functions of probability that all exact models share.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sim/exact.hpp"
#include "sim/exact_numbers.hpp"
#include "tests/sim/exact_pool_judge.hpp"

namespace halfopen::sim::exact {
namespace {

using namespace judging;

TEST_CASE(
    "exact pool: the last of four goes within the bounds, with the others' traffic and the ratio rule") {
  PoolQuestion q{small_rule(), 4, {80, true}};
  q.rule.window_ms = 10'000;
  q.rule.eject_ms = 30'000;
  const Answer<PoolSick> pool = sick_pool(q, 0.7, 0.01);
  REQUIRE(pool);
  REQUIRE(pool->no_quantile.empty());
  CHECK(pool->gone_before_return.low > 0.999);
  CHECK(pool->within_95_s.low > 0.8 * pool->within_95_s.high);
  CHECK(errors_of_p95(q, 0.7, 0.01, pool->within_95_s.high, 1'000) > -WIDTH);
  CHECK(errors_of_p95(q, 0.7, 0.01, pool->within_95_s.low, 1'000) < WIDTH);
  PoolQuestion later = q;
  later.rule.consecutive_failures = 8;
  later.rule.failure_min_volume = 4'000'000'000;
  CHECK(errors_of_p95(later, 0.7, 0.01, pool->within_95_s.high, 300) < -WIDTH);
}

TEST_CASE("exact pool: without failures before, and nearly certain ones since, there is an answer") {
  for (const double per_s : {2.0, 30.0, 1000.0}) {
    for (const double p : {0.95, 0.97, 1.0}) {
      const PoolQuestion q{HealthParams{}, 4, {per_s, true}};
      CHECK(sick_pool(q, p, 0).value.has_value());
    }
  }
}

TEST_CASE("exact pool: streaks begun before the turn are in the lower bound") {
  PoolQuestion q{small_rule(), 10, {100, true}};
  q.rule.failure_min_volume = 4'000'000'000;
  q.rule.eject_ms = 30'000;
  const Answer<PoolSick> pool = sick_pool(q, 1, 0.3);
  REQUIRE(pool);
  CHECK(errors_of_p95(q, 1, 0.3, pool->within_95_s.low, 2'000) < WIDTH);
  CHECK(errors_of_p95(q, 1, 0.3, pool->within_95_s.high, 2'000) > -WIDTH);
}

TEST_CASE("exact pool: where the first is back before the last is out there is no such time") {
  PoolQuestion q{HealthParams{}, 10, {100, true}};
  q.rule.failure_ratio = 0.9;
  q.rule.eject_ms = 1000;
  const Answer<PoolSick> pool = sick_pool(q, 0.3, 0.005);
  REQUIRE(pool);
  CHECK(pool->no_quantile == "an ejected endpoint may be back before the last is out");
  CHECK(pool->gone_before_return.low < 0.01);
}

struct Shares {
  std::vector<double> fail_open, emptied_per_hour;
};
Shares run_pools(const PoolQuestion& q, double p, double run_s, std::uint64_t runs) {
  Shares out;
  for (std::uint64_t r = 0; r < runs; ++r) {
    Pool pool(q, Luck(63, r));
    while (pool.now_s() < run_s) pool.request(p);
    out.fail_open.push_back(pool.fail_open / pool.requests);
    out.emptied_per_hour.push_back(pool.emptied / run_s * 3600);
  }
  return out;
}

TEST_CASE("exact pool: one endpoint alone fails open for exactly so many requests, so often") {
  for (const bool poisson : {true, false}) {
    PoolQuestion q{small_rule(), 1, {20, poisson}};
    q.rule.failure_min_volume = 4'000'000'000;
    q.rule.eject_ms = 70;
    const Answer<PoolSick> sick = sick_pool(q, 0.7, 0);
    const Answer<PoolHealthy> healthy = healthy_pool(q, 0.7);
    REQUIRE(sick);
    REQUIRE(healthy);
    CHECK(sick->fail_open_share.exact());
    const Shares shares = run_pools(q, 0.7, 400, 50);
    CHECK(mean_agrees(shares.fail_open, sick->fail_open_share.low, sick->fail_open_share.high));
    CHECK(
        mean_agrees(shares.emptied_per_hour, healthy->emptied_per_hour.low, healthy->emptied_per_hour.high));
    PoolQuestion longer = q;
    longer.rule.eject_ms += 60;
    CHECK_FALSE(mean_agrees(run_pools(longer, 0.7, 400, 50).fail_open, sick->fail_open_share.low,
                            sick->fail_open_share.high));
  }
}

TEST_CASE("exact pool: three sick endpoints fail open for no more of the requests than the bound says") {
  const PoolQuestion q{small_rule(), 3, {60, true}};
  const Answer<PoolSick> sick = sick_pool(q, 0.7, 0);
  REQUIRE(sick);
  const Shares shares = run_pools(q, 0.7, 100, 40);
  CHECK(mean_agrees(shares.fail_open, 0, sick->fail_open_share.high));
  PoolQuestion for_long = q;
  for_long.rule.eject_ms = 60'000;  // nobody comes back but by a success: the bound is nearly met
  const Shares most = run_pools(for_long, 0.7, 100, 40);
  double mean = 0;
  for (const double share : most.fail_open) mean += share / 40;
  CHECK(mean_agrees(most.fail_open, 0, sick->fail_open_share.high));
  CHECK(mean > 0.6 * sick->fail_open_share.high);
  const Answer<PoolSick> dead = sick_pool(q, 1, 0);
  REQUIRE(dead);
  CHECK(mean_agrees(run_pools(q, 1, 100, 20).fail_open, dead->fail_open_share.low, 1));
  CHECK(dead->fail_open_share.low == doctest::Approx(0.9));  // three trials in 500 ms, of 30 requests
}

TEST_CASE("exact pool: false ejections empty a pool that fails open as often as Erlang's formula says") {
  PoolQuestion q{small_rule(), 2, {20, true}};
  q.rule.consecutive_failures = 2;
  q.rule.failure_min_volume = 4'000'000'000;
  q.rule.eject_ms = 1000;
  const Answer<PoolHealthy> pool = healthy_pool(q, 0.04);
  REQUIRE(pool);
  CHECK(pool->emptied_per_hour.high < 1.2 * pool->emptied_per_hour.low * 1.05);
  const Shares shares = run_pools(q, 0.04, 2000, 50);
  CHECK(mean_agrees(shares.emptied_per_hour, pool->emptied_per_hour.low, pool->emptied_per_hour.high));
  PoolQuestion longer = q;
  longer.rule.eject_ms = 2000;
  const Shares twice = run_pools(longer, 0.04, 2000, 25);
  CHECK_FALSE(mean_agrees(twice.emptied_per_hour, pool->emptied_per_hour.low, pool->emptied_per_hour.high));
  CHECK(healthy_pool(q, 0.3).refusal.find("likely to be empty again") != std::string::npos);
  CHECK_FALSE(healthy_pool(q, 1));
  q.rule.failure_min_volume = 10;
  q.rule.failure_ratio = 0.2;
  CHECK(healthy_pool(q, 0.04).refusal.find("the ratio rule has a part in it") == 0);
}

TEST_CASE("exact pool: Erlang's formula at its corners") {
  CHECK(erlang_b(0, 5) == 1);
  CHECK(erlang_b(1, 1) == doctest::Approx(0.5));
  CHECK(erlang_b(2, 1) == doctest::Approx(0.2));
  CHECK(erlang_b(10, 0) == 0);
}

TEST_CASE("exact numbers: binomial and Poisson tails against their definitions") {
  CHECK(binomial_at_least(20, 0.5, 10) == doctest::Approx(0.5880985260009766).epsilon(1e-12));
  CHECK(binomial_at_least(20, 0.005, 10) == doctest::Approx(1.7217e-18).epsilon(1e-3));
  CHECK(binomial_at_least(5, 0.3, 0) == 1);
  CHECK(binomial_at_least(5, 0.3, 6) == 0);
  CHECK(poisson_more_than(2, 1) == doctest::Approx(1 - 3 * std::exp(-2.0)).epsilon(1e-13));
  CHECK(ln_factorial(300) == doctest::Approx(std::lgamma(301.0)).epsilon(1e-14));
  CHECK(ln_1p(1e-12) == doctest::Approx(1e-12).epsilon(1e-11));
  CHECK(exp_m1(1e-12) == doctest::Approx(1e-12).epsilon(1e-11));
}

}  // namespace
}  // namespace halfopen::sim::exact
