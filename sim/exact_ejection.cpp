#include "sim/exact_ejection.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sim/exact_coins.hpp"
#include "sim/exact_moments.hpp"
#include "sim/exact_numbers.hpp"
#include "sim/real_math.hpp"

namespace halfopen::sim::exact {

namespace {

constexpr double CHERNOFF_FROM = 20'000;  // observations in a window
constexpr std::uint64_t MAX_HORIZON = 1'000'000;
constexpr double HOUR_S = 3600;

// At most the chance that a failure which finds `others` in the window meets the ratio rule.
double meets_ratio(const HealthParams& rule, const Coins& coins, std::uint64_t others) {
  const std::uint64_t need = failures_needed(rule, others + 1);
  if (need == 0) return 0;
  const double p = coins.of(others);
  const double all = static_cast<double>(others);
  if (coins.turns > 0 && static_cast<double>(need - 1) < all * p + 1) return 1;
  if (all > CHERNOFF_FROM)
    return real::exp(-all * std::min(700.0, relative_entropy(static_cast<double>(need - 1) / all, p)));
  return binomial_at_least(others, p, need - 1);
}

// At most the chance that a failure meets the ratio rule on a full window.
double meets_poisson(const HealthParams& rule, const Coins& coin, double in_window) {
  if (in_window > CHERNOFF_FROM) {
    // A window with half of them or fewer has a chance of exp(-0.15 * 20,000).
    const double kl =
        relative_entropy(rule.failure_ratio, coin.of(static_cast<std::uint64_t>(in_window / 2)));
    const double enough = poisson_more_than(in_window, rule.failure_min_volume - 2.0);  // others in it
    const double met = real::exp(in_window * exp_m1(-kl));  // together with failing
    return std::min(enough, met < coin.mean ? met / coin.mean : 1);
  }
  const PoissonWeights others = poisson_weights(in_window);
  double chance = 0;
  for (std::size_t i = 0; i < others.weight.size(); ++i) {
    if (others.weight[i] > 0) chance += others.weight[i] * meets_ratio(rule, coin, others.first + i);
  }
  return std::min(1.0, chance);
}

// The number in a window of evenly spaced attempts, floored to the ms, is one of a few.
double meets_even(const HealthParams& rule, const Coins& coins, const Arrivals& arrivals, bool& can_fire) {
  const EvenVolume volume = even_volume(rule.window_ms, arrivals.per_s);
  double chance = 0;
  for (std::uint64_t n = volume.fewest; n <= volume.most; ++n) {
    chance = std::max(chance, meets_ratio(rule, coins, n - 1));
  }
  can_fire = failures_needed(rule, volume.most) != 0;
  return chance;
}

// The two bounds of P(T > t).
class Survival {
 public:
  explicit Survival(const Ejection& e)
      : e_(e), streak_(e.streak, e.arrivals), window_(e.first_window, e.arrivals) {}

  double within_window(double t_s) const { return window_.survival(t_s); }
  double at_most(double t_s) const {
    double ratio = window_.survival(std::min(t_s, e_.window_s));
    if (t_s > e_.window_s && e_.window_misses < 1) {
      const double windows = std::min(1e9, std::floor((t_s - e_.window_s) / e_.window_apart_s));
      ratio *= real::exp(std::max(-700.0, windows * real::ln(std::max(e_.window_misses, 1e-300))));
    }
    return std::min(streak_.survival(t_s), ratio);
  }
  double at_least(double t_s) const {
    if (t_s <= e_.window_s) return window_.survival(t_s);
    const double met = e_.ratio_spread + e_.ratio_per_s * (t_s - e_.window_s);
    const double ratio = (1 - e_.by_window_ratio) * real::exp(std::max(-700.0, -met));
    return ratio * streak_.survival(t_s);
  }

 private:
  const Ejection& e_;
  InTime streak_, window_;
};

Bounds quantile_bounds(const Ejection& e, const Survival& survival, double level) {
  const double start_s = 1 / e.arrivals.per_s;
  if (e.by_window >= level) {
    const double at = time_until([&](double t) { return survival.within_window(t); }, level, start_s);
    return {at, at};
  }
  const double low = time_until([&](double t) { return survival.at_least(t); }, level, start_s);
  const double high = time_until([&](double t) { return survival.at_most(t); }, level, start_s);
  return {std::min(low, high), high};
}

Bounds chance_bounds(const Survival& survival, double t_s) {
  const double low = 1 - survival.at_most(t_s), high = 1 - survival.at_least(t_s);
  return {std::min(low, high), high};
}

// E T = the part within the first window, exact, and what is left.
Bounds mean_bounds(const Ejection& e) {
  const double within = mean_time_within_s(e.first_window, e.arrivals, e.window_s);
  if (1 - e.by_window <= CountLaw::COMPLETE) return {within, within};
  const double streak = mean_time_s(e.streak, e.arrivals);
  const double lead = mean_time_within_s(e.streak, e.arrivals, e.window_s) - within;
  const double killed = mean_time_killed_s(e.streak, e.arrivals, e.ratio_per_s) * (1 - e.by_window_ratio) *
                        real::exp(-std::min(700.0, e.ratio_spread));
  double high = streak - std::max(0.0, lead);
  if (e.window_misses < 1) {
    const double windows = (1 - e.by_window) / (1 - e.window_misses);  // on average, so many pass
    high = std::min(high, within + windows * e.window_apart_s);
  }
  return {std::min(std::max(within, killed), high), high};
}

std::string out_of_range(const FailureTurns& turns, const Arrivals& arrivals) {
  if (turns.empty()) return "at least one failure probability is needed";
  if (!(arrivals.per_s > 0 && arrivals.per_s <= 1e7)) {
    return fmt::format("a rate of {} attempts a second is not over 0 and at most 10,000,000", arrivals.per_s);
  }
  return "";
}

// How long no more than `known` attempts come, but for a chance of 10^-17.
double certain_s(double known, const Arrivals& arrivals) {
  if (!arrivals.poisson) return known / arrivals.per_s;
  return std::max(0.0, known - 9.5 * std::sqrt(known) - 40) / arrivals.per_s;
}

// Fills in what the two windows say, with and without the streak. `streak`: whether e.streak is known.
std::string fill_windows(Ejection& e, bool streak, const HealthParams& rule, const FailureTurns& turns) {
  const std::uint64_t horizon = observations_before_aging(rule.window_ms, e.arrivals);
  // Evenly spaced ones are counted, so that each of the later ones is one gap.
  e.window_s = e.arrivals.poisson ? static_cast<double>(rule.window_ms) / 1000
                                  : static_cast<double>(horizon) / e.arrivals.per_s;
  if (streak && horizon < rule.failure_min_volume) {  // the ratio rule is not asked
    e.first_window = e.streak;
    e.by_window = 1 - time_survival(e.streak, e.arrivals, e.window_s);
    return "";
  }
  HealthParams ratio_alone = rule;
  ratio_alone.consecutive_failures = std::numeric_limits<std::uint32_t>::max();
  Answer<CountLaw> both = window_law(rule, turns, std::min(horizon, MAX_HORIZON));
  if (!both) return both.refusal;
  const Answer<CountLaw> ratio = window_law(ratio_alone, turns, std::min(horizon, MAX_HORIZON));
  if (!ratio) return ratio.refusal;
  e.first_window = *both;
  double unseen = 0;
  for (const CountLaw* law : {&*both, &*ratio}) {
    if (law->complete() || law->known_to() >= static_cast<double>(horizon)) continue;
    e.window_s = std::min(e.window_s, certain_s(law->known_to(), e.arrivals));
    const double p = coins_of(turns).of(static_cast<std::uint64_t>(law->known_to()));
    const double kl = relative_entropy(rule.failure_ratio, p);
    unseen = kl > 0 ? std::min(1.0, real::exp(-kl * law->known_to()) / -exp_m1(-kl)) : 1;
    e.cut = true;
  }
  e.by_window = 1 - time_survival(e.first_window, e.arrivals, e.window_s);
  e.by_window_ratio = std::clamp(1 - time_survival(*ratio, e.arrivals, e.window_s) + unseen, 0.0, 1.0);
  return "";
}

}  // namespace

Answer<Ejection> ejection(const HealthParams& rule, const FailureTurns& turns, const Arrivals& given) {
  if (std::string why = out_of_range(turns, given); !why.empty())
    return Answer<Ejection>::refused(std::move(why));
  Ejection out;
  out.arrivals = given;
  const Answer<CountLaw> streak = streak_law(rule.consecutive_failures, turns);
  if (streak) {
    out.streak = turns.size() > 1 && given.poisson ? written_out(*streak) : *streak;
  } else {
    out.streak.tail = {0};
    out.streak_known = false;
  }
  if (std::string why = fill_windows(out, streak.value.has_value(), rule, turns); !why.empty()) {
    return Answer<Ejection>::refused(std::move(why));
  }
  // A streak that can't be followed doesn't matter where the ratio rule is certain to be first.
  if (!streak && 1 - out.by_window > CountLaw::COMPLETE) return Answer<Ejection>::refused(streak.refusal);
  out.streak_mean_s = turns.size() == 1 ? streak_mean(rule.consecutive_failures, turns[0]) / given.per_s
                                        : mean_time_s(out.streak, out.arrivals);
  const Coins coins = coins_of(turns);
  const double in_window = out.arrivals.per_s * static_cast<double>(rule.window_ms) / 1000;
  const Coins::Hazard met =
      coins.hazard(out.arrivals.poisson ? meets_poisson(rule, coins, in_window)
                                        : meets_even(rule, coins, out.arrivals, out.ratio_can_fire));
  out.ratio_per_s = met.per_s(out.arrivals);
  out.ratio_spread = met.spread;
  const bool settled = 1 - out.by_window <= CountLaw::COMPLETE || !out.ratio_can_fire;
  const bool chernoff = out.cut || in_window > CHERNOFF_FROM;
  const Moments full(rule, coins, coins.mean, out.arrivals);
  out.window_misses = full.misses(static_cast<double>(rule.window_ms) / 1000);
  out.window_apart_s = full.apart_s();
  out.bound = settled ? "exact" : out.window_misses < 1 ? "streak, moment, Harris" : "streak, Harris";
  if (!settled && chernoff) out.bound += ", Chernoff";
  if (!settled && turns.size() > 1) out.bound += ", Hoeffding";
  out.mean_s = mean_bounds(out);
  const Survival survival(out);
  out.in_an_hour = chance_bounds(survival, HOUR_S);
  out.median_s = quantile_bounds(out, survival, 0.5);
  out.within_95_s = quantile_bounds(out, survival, 0.95);
  return out;
}

Bounds ejected_by(const Ejection& e, double t_s) { return chance_bounds(Survival(e), t_s); }

}  // namespace halfopen::sim::exact
