// Pools against real trackers, and the functions of probability that all exact models share.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sim/exact.hpp"
#include "sim/exact_numbers.hpp"
#include "tests/sim/exact_judge.hpp"

namespace halfopen::sim::exact {
namespace {

using namespace judging;

// The share of the time from 10 s to `run_s` for which nobody of three may be picked; requests go to a random
// candidate.
double empty_share_of(const HealthParams& rule, double p, double per_s, double run_s, Luck luck) {
  std::array<EndpointHealth, 3> pool;
  double t = 0, empty = 0;
  for (;;) {
    t += luck.exponential(1000 / per_s);
    if (t > run_s * 1000) return empty / ((run_s - 10) * 1000);
    const Instant now{100'000 + static_cast<std::uint64_t>(t)};
    std::vector<EndpointHealth*> candidates;
    for (EndpointHealth& one : pool) {
      if (one.is_candidate(rule, now)) candidates.push_back(&one);
    }
    if (candidates.empty()) {
      if (t > 10'000) empty += 1000 / per_s;  // a Poisson stream sees the shares of the time
      continue;
    }
    EndpointHealth& picked =
        *candidates[static_cast<std::size_t>(luck.unit() * static_cast<double>(candidates.size()))];
    picked.acquire(rule, now);
    picked.report(rule, now, luck.unit() < p);
  }
}

TEST_CASE("exact pool: a pool of three real trackers is empty for Erlang's share of the time") {
  HealthParams rule = small_rule();
  rule.failure_min_volume = 4'000'000'000;
  const Answer<Ejection> one = ejection(rule, {0.7}, {20, true});
  REQUIRE(one);
  const Answer<PoolEmpty> pool = pool_empty(*one, 0.7, 3, rule.eject_ms);
  REQUIRE(pool);
  std::vector<double> shares, longer;
  HealthParams slow = rule;
  slow.eject_ms += 50;
  for (std::uint64_t r = 0; r < 300; ++r) {
    shares.push_back(empty_share_of(rule, 0.7, 60, 60, Luck(61, r)));
    longer.push_back(empty_share_of(slow, 0.7, 60, 60, Luck(61, r)));
  }
  CHECK(pool->empty_share.exact());
  CHECK(mean_agrees(shares, pool->empty_share.low, pool->empty_share.high));
  CHECK_FALSE(mean_agrees(longer, pool->empty_share.low, pool->empty_share.high));
  CHECK(pool->mean_requests.low == doctest::Approx(3 * streak_mean(5, 0.7)).epsilon(1e-9));
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
