#include "sim/exact_onset.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/exact_coins.hpp"
#include "sim/exact_numbers.hpp"
#include "sim/real_math.hpp"

namespace halfopen::sim::exact {

namespace {

constexpr std::size_t GRID = 128;  // moments of the first window
constexpr double HOUR_S = 3600;
constexpr double FLOOR_S = 0.001;  // the machines read ms: so much of the window they may not hold

// So many attempts of each kind are in a window.
struct Mix {
  double healthy = 0, sick = 0;
};

// What one window does to the ratio rule, some time after the turn.
class Moments {
 public:
  Moments(const Ejection& sick, const HealthParams& rule, const Coins& coins, double before)
      : rule_(rule),
        coins_(coins),
        before_(before),
        ratio_(rule.failure_ratio),
        rate_(sick.arrivals.per_s),
        window_s_(static_cast<double>(rule.window_ms) / 1000),
        poisson_(sick.arrivals.poisson),
        volume_(even_volume(rule.window_ms, sick.arrivals.per_s)),
        enough_(poisson_ ? poisson_more_than(rate_ * window_s_, rule.failure_min_volume - 2.0) : 1) {}

  // At most: a failure at t_s meets the ratio rule.
  double meets(double t_s) const {
    const double since = std::min(t_s, window_s_);
    if (poisson_) {
      // Failures of the whole window, successes of what it holds for certain.
      const double old = rate_ * (window_s_ - since), fresh = rate_ * since;
      const double failures = old * before_ + fresh * coins_.mean;
      const double successes =
          std::max(0.0, old * (1 - before_) + fresh * (1 - coins_.mean) - rate_ * FLOOR_S);
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
  double misses(double t_s) const {
    double out = 1;
    for (int i = 1; i <= 7; ++i) {
      out = std::min(out, misses(std::min(t_s, window_s_), window_s_ / static_cast<double>(1 << i)));
    }
    return out;
  }
  // A window and what is looked at before it: windows so far apart have nothing in common.
  double apart_s() const { return 1.5 * window_s_ + 0.002; }

 private:
  // ln E x^failures of a fixed number, x = 1 + one_less.
  double even_exponent(const Mix& mix, double one_less) const {
    return mix.healthy * ln_1p(before_ * one_less) + mix.sick * ln_1p(coins_.mean * one_less) +
           turns_exponent(one_less);
  }
  // What a part of a round adds to either, where a failure counts 1 + one_less times a success.
  double turns_exponent(double one_less) const {
    if (coins_.spread == 0) return 0;
    const double scale = one_less >= 0 ? 1 : 1 + coins_.mean * one_less;
    return std::abs(one_less) * coins_.spread / std::max(scale, 1e-300);
  }
  double none_fail(double attempts) const {
    const double p = coins_.mean, part = coins_.spread == 0 ? 0 : coins_.spread / (1 - p);
    if (poisson_) return real::exp(std::clamp(part - p * attempts, -700.0, 0.0));
    if (p >= 1) return attempts >= 1 ? 0 : 1;
    return real::exp(std::clamp(part + std::floor(attempts) * ln_1p(-p), -700.0, 0.0));
  }

  // The same, looked at in the last look_s of it.
  double misses(double t_s, double look_s) const {
    if (look_s >= t_s || look_s + FLOOR_S >= window_s_) return 1;
    const double kept_s = std::min(t_s, window_s_ - FLOOR_S) - look_s;  // of the sick ones before the look
    return poisson_ ? misses_poisson(t_s, look_s, kept_s) : misses_even(t_s, look_s, kept_s);
  }

  // Failures of (t - W, t - look], successes of (t - look - W, t].
  double misses_poisson(double t_s, double look_s, double kept_s) const {
    const double old = rate_ * std::max(0.0, window_s_ - FLOOR_S - t_s);
    const double failures = old * before_ + rate_ * kept_s * coins_.mean;
    const double successes = rate_ * ((window_s_ + look_s - t_s) * (1 - before_) + t_s * (1 - coins_.mean));
    const double low = chernoff([&](double theta) {
      return -theta * (1 - ratio_) + failures * exp_m1(-theta * (1 - ratio_)) +
             successes * exp_m1(theta * ratio_) + turns_exponent(exp_m1(-theta));
    });
    // Others that the window holds for certain, fewer than the volume needs. Chernoff again.
    const double held = rate_ * (window_s_ - FLOOR_S - look_s), few = rule_.failure_min_volume - 2.0;
    double too_few = few < 0 ? 0 : few >= held ? 1 : real::exp(std::max(-700.0, -held));
    if (few > 0 && few < held)
      too_few = real::exp(std::clamp(few - held - few * real::ln(few / held), -700.0, 0.0));
    return std::min(1.0, none_fail(rate_ * look_s) + too_few + low);
  }

  double misses_even(double t_s, double look_s, double kept_s) const {
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

  const HealthParams& rule_;
  const Coins& coins_;
  double before_, ratio_, rate_, window_s_;
  bool poisson_;
  EvenVolume volume_;
  double enough_;  // at most: a Poisson window holds the volume
};

// The two bounds of P(T > t).
class Turn {
 public:
  Turn(const Ejection& sick, const HealthParams& rule, const FailureTurns& turns, double before)
      : coins_(coins_of(turns)),
        moments_(sick, rule, coins_, before),
        streak_(sick.streak, sick.arrivals),
        before_(before),
        gap_s_(sick.arrivals.poisson ? 0 : 1 / sick.arrivals.per_s),
        window_s_(static_cast<double>(rule.window_ms) / 1000) {
    const double rate = sick.arrivals.per_s;
    const auto hazard = [&](double met) {
      const double q = coins_.mean * met;
      return sick.arrivals.poisson ? rate * q : -rate * ln_1p(-std::min(q, 1 - 1e-15));
    };
    past_.push_back(0);
    missed_.push_back(1);
    for (std::size_t i = 1; i <= GRID; ++i) {
      const double t_s = window_s_ * static_cast<double>(i) / GRID;
      past_.push_back(past_.back() + hazard(moments_.meets(t_s)) * window_s_ / GRID);
      missed_.push_back(std::min(missed_.back(), moments_.misses(t_s)));
    }
    full_per_s_ = std::min(sick.ratio_per_s, hazard(moments_.meets(window_s_)));
  }

  double at_most(double t_s) const {
    double missed = missed_[place(t_s)];
    if (t_s > window_s_) {
      const double more = std::min(1e9, std::floor((t_s - window_s_) / moments_.apart_s()));
      missed *= real::exp(std::max(-700.0, more * real::ln(std::max(missed_.back(), 1e-300))));
    }
    return std::min(streak_.survival(t_s), missed);
  }
  // Evenly spaced ones begin anywhere within the first gap: here, at the turn.
  double at_least(double turned_s) const {
    const double t_s = turned_s + gap_s_;
    double past = past_[std::min<std::size_t>(GRID, place(t_s) + 1)];
    if (t_s > window_s_) past += full_per_s_ * (t_s - window_s_);
    return std::min(at_most(t_s), (1 - before_) * streak_.survival(t_s) * real::exp(std::max(-700.0, -past)));
  }

 private:
  std::size_t place(double t_s) const {
    return static_cast<std::size_t>(std::min<double>(GRID, std::floor(t_s / window_s_ * GRID)));
  }

  Coins coins_;
  Moments moments_;
  InTime streak_;
  double before_, gap_s_, window_s_, full_per_s_ = 0;
  std::vector<double> past_, missed_;  // at i / GRID of the window: the integral of h; the least `misses`
};

std::string no_turn(const Ejection& sick, const FailureTurns& turns, double before) {
  if (!(before >= 0 && before <= 1))
    return fmt::format("a failure probability of {} before the turn is not within 0 and 1", before);
  if (coins_of(turns).mean < before) return "it fails less often than before the turn";
  if (!sick.streak_known) return "a streak this long can't be followed";
  return "";
}

}  // namespace

Answer<Onset> onset(const Ejection& sick, const HealthParams& rule, const FailureTurns& turns,
                    double before) {
  if (std::string why = no_turn(sick, turns, before); !why.empty())
    return Answer<Onset>::refused(std::move(why));
  const Turn turn(sick, rule, turns, before);
  const auto quantile = [&](double level) {
    const double start = 1 / sick.arrivals.per_s;
    const double low = time_until([&](double t) { return turn.at_least(t); }, level, start);
    return Bounds{low, std::max(low, time_until([&](double t) { return turn.at_most(t); }, level, start))};
  };
  Onset out;
  out.bound = sick.ratio_can_fire ? "streak, moment, Harris" : "streak alone";
  out.median_s = quantile(0.5);
  out.within_95_s = quantile(0.95);
  out.in_an_hour = {1 - turn.at_most(HOUR_S), 1 - turn.at_least(HOUR_S)};
  return out;
}

Answer<Bounds> onset_by(const Ejection& sick, const HealthParams& rule, const FailureTurns& turns,
                        double before, double t_s) {
  if (std::string why = no_turn(sick, turns, before); !why.empty())
    return Answer<Bounds>::refused(std::move(why));
  const Turn turn(sick, rule, turns, before);
  return Bounds{1 - turn.at_most(t_s), 1 - turn.at_least(t_s)};
}

}  // namespace halfopen::sim::exact
