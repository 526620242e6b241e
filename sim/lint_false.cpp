// What chance alone does to healthy endpoints. Exact answers cost more than reading settings may, so the rule
// judges by bounds that are on the safe side, and only what it tells is worked out.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sim/analysis_inputs.hpp"
#include "sim/analysis_words.hpp"
#include "sim/exact_ejection.hpp"
#include "sim/exact_numbers.hpp"
#include "sim/lint_parts.hpp"
#include "sim/real_math.hpp"

namespace halfopen::sim {

namespace {

constexpr double DAY_S = 86'400;

// The chance that a failure which finds a whole window behind it meets the ratio rule.
struct Meets {
  double at_least = 0, at_most = 0;
};

Meets meets_ratio(const HealthParams& rule, double p, const exact::Arrivals& arrivals, double in_window) {
  constexpr double FOLLOWED = 20'000;  // beyond, Chernoff's bound: see exact_ejection.hpp
  if (in_window > FOLLOWED)
    return {0, real::exp(in_window * exact::exp_m1(-exact::relative_entropy(rule.failure_ratio, p)))};
  const auto with = [&](std::uint64_t others) {
    const std::uint64_t need = exact::failures_needed(rule, others + 1);
    return need == 0 ? 0.0 : exact::binomial_at_least(others, p, need - 1);
  };
  if (arrivals.poisson) {
    const exact::PoissonWeights others = exact::poisson_weights(in_window);
    double sum = 0;
    for (std::size_t i = 0; i < others.weight.size(); ++i) sum += others.weight[i] * with(others.first + i);
    return {sum, sum};
  }
  // Evenly spaced: one less or more, as the machine's whole ms fall.
  const auto most = static_cast<std::uint64_t>(std::ceil(in_window)) + 1;
  Meets out{1, 0};
  for (std::uint64_t others = most > 3 ? most - 3 : 0; others < most; ++others) {
    const double chance = with(others);
    out = {std::min(out.at_least, chance), std::max(out.at_most, chance)};
  }
  return out;
}

// E T of the time until either rule, from fresh, is at most `within_s` + `left` * the lesser of
//   streak_s  the streak alone, which is never further away than from fresh;
//   ratio_s   the ratio rule, from any moment and whatever came before: time is cut into pieces of (1 + f)
//             windows. In the last f of a piece there is a failure with chance q; before the last of them
//             lies a whole window within the piece, whose observations are as random as ever, so with chance
//             g it meets the ratio rule, if nothing has ejected before. Pieces are independent, so
//             (1 + f) window / (g q) is the mean time until one of them does.
struct ByChance {
  double within_s = 0;  // E of the time before T within the first window, exact
  double left = 1;      // P(T > the first window)
  double streak_s = 0, ratio_s = 0;
  double per_s = 0;  // so often a streak is complete or a full window meets the ratio, at most

  // Out before the first window is full, and that by more than what comes in any other window.
  double early() const { return 1 - left; }
  bool often_early(const HealthParams& rule) const {
    return early() >= LINT_EARLY_CHANCE &&
           early() * at_most_s() > 10 * static_cast<double>(rule.window_ms) / 1000;
  }
  bool often() const { return at_most_s() < LINT_RARE_S; }
  double at_most_s() const { return left <= 0 ? within_s : within_s + left * std::min(streak_s, ratio_s); }
  // E T >= a day, because P(T <= 2 days) is at most the first window's chance and what comes after it; and
  // that chance is small itself.
  bool rare() const { return early() < LINT_EARLY_CHANCE && early() + 2 * DAY_S * per_s <= 0.5; }
};

std::optional<ByChance> by_chance(const HealthParams& rule, double p, const exact::Arrivals& arrivals) {
  constexpr std::uint64_t MOST = 1'000'000;
  const std::uint64_t horizon = std::min(MOST, exact::observations_before_aging(rule.window_ms, arrivals));
  const auto law = exact::window_law(rule, {p}, horizon);
  if (!law || p <= 0 || p >= 1) return std::nullopt;
  const double window_s = static_cast<double>(rule.window_ms) / 1000, n = arrivals.per_s * window_s;
  // No more than the law knows come within so long, but for a chance of 10^-17.
  const double known = law->known_to();
  const double certain = arrivals.poisson ? std::max(0.0, known - 9.5 * std::sqrt(known) - 40) : known;
  const double known_s = law->complete() ? window_s : std::min(window_s, certain / arrivals.per_s);
  ByChance out;
  out.within_s = exact::mean_time_within_s(*law, arrivals, known_s);
  out.left = exact::time_survival(*law, arrivals, known_s);
  out.streak_s = exact::streak_mean(rule.consecutive_failures, p) / arrivals.per_s;
  const Meets g = meets_ratio(rule, p, arrivals, n);
  const double f = std::min(1.0, 3 / (n * p));
  const double q =
      arrivals.poisson ? -exact::exp_m1(-f * n * p) : -exact::exp_m1(std::floor(f * n) * exact::ln_1p(-p));
  out.ratio_s = g.at_least * q > 0 ? (1 + f) * window_s / (g.at_least * q) : exact::FOREVER;
  const double streak = real::exp(rule.consecutive_failures * real::ln(p));
  out.per_s = arrivals.per_s * (streak + p * g.at_most);
  return out;
}

bool speaks(const HealthParams& rule, double p, const exact::Arrivals& arrivals) {
  const std::optional<ByChance> chance = by_chance(rule, p, arrivals);
  return chance && (chance->often() || chance->often_early(rule));
}

bool is_rare(const HealthParams& rule, double p, const exact::Arrivals& arrivals) {
  const std::optional<ByChance> chance = by_chance(rule, p, arrivals);
  return chance && chance->rare();
}

// The least streak that comes by chance less than once a day.
std::uint32_t rare_streak(double p, double per_s) {
  constexpr std::uint32_t MOST = 10'000;
  std::uint32_t streak = 1;
  while (streak < MOST && exact::streak_mean(streak, p) / per_s < DAY_S) ++streak;
  return streak;
}

// The least ratio, in hundredths, with which both rules together are rare; none up to 1.
std::optional<double> rare_ratio(const LintBlock& block, HealthParams rule, const RuleNames& names,
                                 const exact::Arrivals& arrivals) {
  UpstreamConfig config = block.config;
  const auto rare = [&](double hundredths) {
    rule.failure_ratio = hundredths / 100;
    if (!names.breaker)
      config.health->failure_ratio = rule.failure_ratio;  // what counts as healthy goes by it
    return is_rare(rule, lasting_failures(block.scenario, config).value_or(ASSUMED_HEALTHY), arrivals);
  };
  double bad = std::floor(rule.failure_ratio * 100), good = 100;
  if (bad >= good || !rare(good)) return std::nullopt;
  while (good - bad > 1) {
    const double middle = std::floor((good + bad) / 2);
    (rare(middle) ? good : bad) = middle;
  }
  return good / 100;
}

void add_instead(const LintBlock& block, HealthParams rule, const RuleNames& names, double p,
                 const exact::Arrivals& arrivals, bool streak, LintFinding& f) {
  std::vector<LintChange> changes;
  bool no_ratio = false;
  if (streak) {
    rule.consecutive_failures = std::max(rule.consecutive_failures, rare_streak(p, arrivals.per_s));
    changes.push_back(block.change(names.key(names.streak), rule.consecutive_failures));
    f.instead = fmt::format("{} of at least {}", names.streak, rule.consecutive_failures);
  }
  if (speaks(rule, p, arrivals)) {
    const std::optional<double> ratio = rare_ratio(block, rule, names, arrivals);
    f.instead += streak ? " and " : "";
    no_ratio = !ratio;
    f.instead += ratio ? fmt::format("{} of at least {}", names.ratio, setting_words(*ratio))
                       : fmt::format("{} {} to have no ratio rule", names.volume, NO_VOLUME);
    changes.push_back(ratio ? block.change(names.key(names.ratio), *ratio)
                            : block.change(names.key(names.volume), NO_VOLUME));
  }
  f.instead += no_ratio              ? "."
               : changes.size() == 1 ? ", which chance meets less than once a day."
                                     : ", which chance meets less than once a day together.";
  f.instead_values.push_back(std::move(changes));
}

void tell_often(const HealthParams& rule, double p, const exact::Arrivals& arrivals, const ByChance& chance,
                bool breaker, LintFinding& f) {
  const auto exactly = exact::ejection(rule, {p}, arrivals);
  const exact::Bounds known = exactly ? exactly->mean_s : exact::Bounds{0, exact::FOREVER};
  const double high = std::min(chance.at_most_s(), known.high), low = std::min(known.low, high);
  f.sentence = breaker ? "The breaker opens above healthy endpoints, after less than an hour on average."
                       : "A healthy endpoint is ejected, after less than an hour in rotation on average.";
  const std::string what = breaker ? "mean time until it opens" : "mean time until it is ejected";
  if (time_words(low) == time_words(high) || low <= 0) {
    f.numbers = {{low > 0 ? what : what + ", at most", high, "s"}};
  } else {
    f.numbers = {{what + ", at most", high, "s"}, {"and at least", low, "s"}};
  }
}

}  // namespace

void lint_false(const LintBlock& block, const HealthParams& rule, const RuleNames& names, LintFindings& out) {
  const std::optional<exact::Arrivals>& arrivals =
      names.breaker ? block.requests : block.requests_at_endpoint;
  if (!arrivals || (!names.breaker && block.config.endpoints.size() == 1)) return;
  const std::optional<double> lasting = lasting_failures(block.scenario, block.config);
  const double p = lasting.value_or(ASSUMED_HEALTHY);
  const std::optional<ByChance> chance = by_chance(rule, p, *arrivals);
  if (!chance || (!chance->often() && !chance->often_early(rule))) return;
  const bool streak = chance->streak_s < LINT_RARE_S;
  LintFinding f = block.finding("false-ejections", {names.key(streak ? names.streak : names.ratio)});
  f.why = fmt::format("At {} errors{} and {} req/s {} {} is met by chance.", chance_words(p),
                      lasting ? " (its lasting faults)" : " (assumed of healthy endpoints)",
                      number_words(arrivals->per_s), streak ? names.streak : names.ratio,
                      streak ? setting_words(rule.consecutive_failures) : setting_words(rule.failure_ratio));
  if (chance->often()) {
    tell_often(rule, p, *arrivals, *chance, names.breaker, f);
  } else {
    f.sentence = names.breaker
                     ? "The breaker opens above healthy endpoints soon after a start or each closing."
                     : "A healthy endpoint is ejected soon after a start or each return.";
    f.why += fmt::format(" While the window fills, few requests past {} are enough for it.", names.volume);
    f.numbers = {{"chance of it before the window is full", chance->early(), "share"}};
  }
  add_instead(block, rule, names, p, *arrivals, streak, f);
  out.push_back(std::move(f));
}

}  // namespace halfopen::sim
