#include "sim/exact_moments.hpp"

#include <algorithm>
#include <cmath>

#include "sim/exact_numbers.hpp"
#include "sim/real_math.hpp"

namespace halfopen::sim::exact {

namespace {

constexpr double FLOOR_S = 0.001;  // the machines read ms: so much of the window they may not hold

}  // namespace

Moments::Moments(const HealthParams& rule, const Coins& coins, double before, const Arrivals& arrivals)
    : rule_(rule),
      coins_(coins),
      before_(before),
      ratio_(rule.failure_ratio),
      rate_(arrivals.per_s),
      window_s_(static_cast<double>(rule.window_ms) / 1000),
      poisson_(arrivals.poisson),
      volume_(even_volume(rule.window_ms, arrivals.per_s)),
      enough_(poisson_ ? poisson_more_than(rate_ * window_s_, rule.failure_min_volume - 2.0) : 1) {}

// At most: a failure at t_s meets the ratio rule.
double Moments::meets(double t_s) const {
  const double since = std::min(t_s, window_s_);
  if (poisson_) {
    // Failures of the whole window, successes of what it holds for certain.
    const double old = rate_ * (window_s_ - since), fresh = rate_ * since;
    const double failures = old * before_ + fresh * coins_.mean;
    const double successes = std::max(0.0, old * (1 - before_) + fresh * (1 - coins_.mean) - rate_ * FLOOR_S);
    return std::min(enough_, chernoff([&](double theta) {
                      return theta * (1 - ratio_) + failures * exp_m1(theta * (1 - ratio_)) +
                             successes * exp_m1(-theta * ratio_) + turns_exponent(exp_m1(theta));
                    }));
  }
  const std::uint64_t volume = std::max<std::uint64_t>(volume_.fewest, rule_.failure_min_volume);
  if (volume > volume_.most) return 0;
  const double others = static_cast<double>(volume) - 1;
  const double sick = std::min(others, std::floor(rate_ * since + 1e-9));
  const double need = static_cast<double>(failures_needed(rule_, volume));
  return chernoff([&](double theta) {
    return even_exponent({others - sick, sick}, exp_m1(theta)) - theta * (need - 1);
  });
}

// At most: the ratio rule has not acted by t_s.
double Moments::misses(double t_s) const {
  double out = 1;
  for (int i = 1; i <= 7; ++i) {
    out = std::min(out, misses(std::min(t_s, window_s_), window_s_ / static_cast<double>(1 << i)));
  }
  return out;
}

// ln E x^failures of a fixed number, x = 1 + one_less.
double Moments::even_exponent(const Mix& mix, double one_less) const {
  return mix.healthy * ln_1p(before_ * one_less) + mix.sick * ln_1p(coins_.mean * one_less) +
         turns_exponent(one_less);
}
// What a part of a round adds to either, where a failure counts 1 + one_less times a success.
double Moments::turns_exponent(double one_less) const {
  if (coins_.spread == 0) return 0;
  const double scale = one_less >= 0 ? 1 : 1 + coins_.mean * one_less;
  return std::abs(one_less) * coins_.spread / std::max(scale, 1e-300);
}
double Moments::none_fail(double attempts) const {
  const double p = coins_.mean, part = coins_.spread == 0 ? 0 : coins_.spread / (1 - p);
  if (poisson_) return real::exp(std::clamp(part - p * attempts, -700.0, 0.0));
  if (p >= 1) return attempts >= 1 ? 0 : 1;
  return real::exp(std::clamp(part + std::floor(attempts) * ln_1p(-p), -700.0, 0.0));
}

// The same, looked at in the last look_s of it.
double Moments::misses(double t_s, double look_s) const {
  if (look_s >= t_s || look_s + FLOOR_S >= window_s_) return 1;
  const double kept_s = std::min(t_s, window_s_ - FLOOR_S) - look_s;  // of the sick ones before the look
  return poisson_ ? misses_poisson(t_s, look_s, kept_s) : misses_even(t_s, look_s, kept_s);
}

// Failures of (t - W, t - look], successes of (t - look - W, t].
double Moments::misses_poisson(double t_s, double look_s, double kept_s) const {
  const double old = rate_ * std::max(0.0, window_s_ - FLOOR_S - t_s);
  const double failures = old * before_ + rate_ * kept_s * coins_.mean;
  const double successes = rate_ * ((window_s_ + look_s - t_s) * (1 - before_) + t_s * (1 - coins_.mean));
  const double low = chernoff([&](double theta) {
    return -theta * (1 - ratio_) + failures * exp_m1(-theta * (1 - ratio_)) +
           successes * exp_m1(theta * ratio_) + turns_exponent(exp_m1(-theta)) +
           coins_.spread * exp_m1(theta * ratio_);  // of the look, whose successes alone count
  });
  // Others that the window holds for certain, fewer than the volume needs. Chernoff again.
  const double held = rate_ * (window_s_ - FLOOR_S - look_s), few = rule_.failure_min_volume - 2.0;
  double too_few = few < 0 ? 0 : few >= held ? 1 : real::exp(std::max(-700.0, -held));
  if (few > 0 && few < held)
    too_few = real::exp(std::clamp(few - held - few * real::ln(few / held), -700.0, 0.0));
  return std::min(1.0, none_fail(rate_ * look_s) + too_few + low);
}

double Moments::misses_even(double t_s, double look_s, double kept_s) const {
  if (volume_.fewest < rule_.failure_min_volume) return 1;
  const double looked = std::floor(rate_ * look_s), sick = std::floor(rate_ * kept_s) - 1;
  if (looked < 1 || sick < 1) return 1;
  const double old = std::max(0.0, static_cast<double>(volume_.fewest) - std::floor(rate_ * t_s) - 1);
  // The failure that looks counts itself: one less than need - 1 others are too few.
  const double need = static_cast<double>(failures_needed(rule_, volume_.most));
  const double low = need < 2 ? 0 : chernoff([&](double theta) {
    return theta * (need - 2) + even_exponent({old, sick}, exp_m1(-theta));
  });
  return std::min(1.0, none_fail(looked) + low);
}

}  // namespace halfopen::sim::exact
