// Real machines against exact answers: each replicate drives a machine of core/ until something happens, and
// the judge asks whether the exact answer lies within the replicates' confidence interval. Seeds are fixed,
// so a verdict never changes by itself.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/breaker.hpp"
#include "core/endpoint_health.hpp"
#include "core/random.hpp"
#include "sim/draws.hpp"
#include "sim/exact_rule.hpp"
#include "sim/real_math.hpp"

namespace halfopen::sim::exact::judging {

inline constexpr std::uint64_t REPLICATES = 100'000;
// Standard errors. A right machine is this far off once in 15,000 questions, and the seeds were not chosen.
inline constexpr double WIDTH = 4;

// Thresholds that are met within a second, so that 10^5 replicates are quick.
inline HealthParams small_rule() {
  HealthParams rule;
  rule.window_ms = 2000;
  rule.consecutive_failures = 5;
  rule.failure_min_volume = 10;
  rule.eject_ms = 500;
  return rule;
}

// What one attempt does to a machine: true once it has ejected, or opened.
struct HealthUnderTest {
  explicit HealthUnderTest(const HealthParams& rule) : params(rule) {}
  bool report(std::uint64_t now_ms, bool failure) {
    health.report(params, Instant{now_ms}, failure);
    return health.stored_state() == HealthState::ejected;
  }
  HealthParams params;
  EndpointHealth health;
};

struct BreakerUnderTest {
  explicit BreakerUnderTest(const HealthParams& rule) {
    params.consecutive_failures = rule.consecutive_failures;
    params.error_ratio = rule.failure_ratio;
    params.error_volume = rule.failure_min_volume;
  }
  bool report(std::uint64_t now_ms, bool failure) {
    breaker.check(params, Instant{now_ms});
    breaker.report(params, Instant{now_ms}, failure);
    return breaker.state() == BreakerState::open;
  }
  BreakerParams params;
  Breaker breaker;
};

// The luck of one replicate.
class Luck {
 public:
  Luck(std::uint64_t seed, std::uint64_t replicate) : seed_(seed), replicate_(replicate) {}
  double unit() { return halfopen::unit(philox_word0(at_++, replicate_, 0, 0, seed_, 0x6578616374)); }
  double exponential(double mean) { return -mean * real::ln(1 - unit()); }

 private:
  std::uint64_t seed_, replicate_, at_ = 0;
};

// Attempts, 1 ms apart, until a fresh machine ejects; `most` if it has not by then.
template <class Machine>
std::uint64_t attempts_until_out(const HealthParams& rule, const FailureTurns& turns, std::uint64_t most,
                                 Luck luck) {
  Machine machine(rule);
  for (std::uint64_t n = 1; n < most; ++n) {
    if (machine.report(1000 + n, luck.unit() < turns[(n - 1) % turns.size()])) return n;
  }
  return most;
}

template <class Machine>
std::vector<std::uint64_t> replicates_of(const HealthParams& rule, const FailureTurns& turns,
                                         std::uint64_t most, std::uint64_t seed) {
  std::vector<std::uint64_t> out(REPLICATES);
  for (std::uint64_t r = 0; r < REPLICATES; ++r)
    out[r] = attempts_until_out<Machine>(rule, turns, most, Luck(seed, r));
  std::sort(out.begin(), out.end());
  return out;
}

// How many standard errors a share is away from the probability that it should have.
inline double errors_away(double hits, double replicates, double probability) {
  const double sd = std::sqrt(std::max(probability * (1 - probability), 1e-12) / replicates);
  return std::abs(hits / replicates - probability) / sd;
}

// Does the law lie within the confidence intervals of the replicates, at twenty places of its distribution?
// `known`: attempts up to which the law is known.
inline bool agrees(const CountLaw& law, const std::vector<std::uint64_t>& sorted, double known) {
  const auto all = static_cast<double>(sorted.size());
  for (int i = 1; i <= 20; ++i) {
    const auto n = static_cast<double>(sorted[static_cast<std::size_t>(all * i / 21)]);
    if (n > known) break;
    const auto end = std::upper_bound(sorted.begin(), sorted.end(), static_cast<std::uint64_t>(n));
    if (errors_away(static_cast<double>(end - sorted.begin()), all, 1 - survival(law, n)) > WIDTH)
      return false;
  }
  return true;
}

// The same for a mean, given the replicates' values.
inline bool mean_agrees(const std::vector<double>& values, double low, double high) {
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double n = static_cast<double>(values.size()), mean = sum / n;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double error = WIDTH * std::sqrt(squares / (n - 1) / n);
  return mean + error >= low && mean - error <= high;
}

}  // namespace halfopen::sim::exact::judging
