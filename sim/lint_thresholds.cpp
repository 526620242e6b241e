// The two rules of health and breaker in traffic: does the ratio rule get its volume, and do both leave
// healthy endpoints alone?
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/analysis_inputs.hpp"
#include "sim/analysis_words.hpp"
#include "sim/exact_ejection.hpp"
#include "sim/exact_numbers.hpp"
#include "sim/lint_parts.hpp"
#include "sim/text_layout.hpp"

namespace halfopen::sim {

namespace {

constexpr double DAY_S = 86'400;

// ---- volume-out-of-reach
// -----------------------------------------------------------------------------------

// The failure that is judged counts as well, so it needs volume - 1 others. Poisson attempts find Poisson
// many of them (Mecke's formula), and no more than rate * share a second find enough. Evenly spaced, n are in
// one window if n - 1 gaps are shorter than it.
struct Volume {
  double mean = 0, most = 0;
  double share = 0;    // of attempts that find enough, if nothing is ejected
  double every_s = 0;  // from one of those to the next, on average
};

Volume volume_of(const HealthParams& rule, const exact::Arrivals& arrivals) {
  Volume out;
  out.mean = arrivals.per_s * static_cast<double>(rule.window_ms) / 1000;
  out.most = std::max(1.0, std::ceil(out.mean - 1e-9));
  const double volume = rule.failure_min_volume;
  if (volume <= 1 || (!arrivals.poisson && volume <= out.most)) {
    out.share = 1;
  } else if (arrivals.poisson) {
    out.share = exact::poisson_more_than(out.mean, volume - 2);
  }
  out.every_s = out.share > 0 ? 1 / (arrivals.per_s * out.share) : exact::FOREVER;
  return out;
}

std::string instead_of_volume(const LintBlock& block, const HealthParams& rule, const RuleNames& names,
                              double fits, double per_s, LintFinding& f) {
  std::string out = fmt::format("{} of at most {}", names.volume, setting_words(fits));
  f.instead_values = {{block.change(names.key(names.volume), fits)}};
  const double window_ms = std::ceil(rule.failure_min_volume / per_s * 1000 - 1e-6);
  if (!names.breaker && window_ms <= MOST_MS) {
    out += fmt::format(", or window_ms of at least {}", setting_words(window_ms));
    f.instead_values.push_back({block.change(names.key("window_ms"), window_ms)});
  }
  f.instead_values.push_back({block.change(names.key(names.volume), NO_VOLUME)});
  return out + fmt::format("; {} {} to leave it to {}.", names.volume, NO_VOLUME, names.streak);
}

void lint_volume(const LintBlock& block, const HealthParams& rule, const RuleNames& names,
                 LintFindings& out) {
  const std::optional<exact::Arrivals>& arrivals =
      names.breaker ? block.attempts : block.attempts_at_endpoint;
  if (!arrivals || has_no_ratio_rule(rule)) return;
  const Volume volume = volume_of(rule, *arrivals);
  if (volume.share >= LINT_VOLUME_SHARE || volume.every_s < LINT_RARE_S) return;
  LintFinding f = block.finding("volume-out-of-reach", {names.key(names.volume), names.key("window_ms")});
  if (names.breaker) f.pointers.pop_back();  // its window is no setting
  f.sentence =
      fmt::format("{} {} is {} reached within {}: the ratio rule {}.", names.volume, rule.failure_min_volume,
                  volume.share > 0 ? "hardly ever" : "never", length_text(rule.window_ms * NANOS_PER_MS),
                  volume.share > 0 ? "can act less than once an hour, if all fail" : "does not act");
  f.why = fmt::format("The window holds {} {} at {} req/s{}.",
                      plural_words(arrivals->poisson ? volume.mean : volume.most, "observation"),
                      arrivals->poisson ? "on average" : "at most", number_words(arrivals->per_s),
                      names.breaker ? "" : " to an endpoint, which is the peak of the traffic");
  f.numbers = {
      {"observations that the window holds", arrivals->poisson ? volume.mean : volume.most, "observations"},
      {"attempts that find enough of them", volume.share, "share"},
      {"from one of those to the next, on average", volume.every_s, "s"}};
  const double fits = std::max(1.0, arrivals->poisson ? std::floor(volume.mean) : volume.most);
  f.instead = instead_of_volume(block, rule, names, fits, arrivals->per_s, f);
  out.push_back(std::move(f));
}

// ---- false-ejections
// ---------------------------------------------------------------------------------------

// At most E of the time until the ratio rule, from any moment and whatever came before. Time is cut into
// pieces of (1 + f) windows. In the last f of a piece there is a failure with chance q; before the last of
// them lies a whole window within the piece, whose observations are as random as ever, so with chance g it
// meets the ratio rule, if nothing has ejected before. Pieces are independent, so (1 + f) window / (g q) is
// the mean time until one of them does.
double ratio_mean_at_most_s(const HealthParams& rule, double p, const exact::Arrivals& arrivals) {
  constexpr double MOST_IN_WINDOW = 20'000;  // beyond, chance alone is out of the question
  const double window_s = static_cast<double>(rule.window_ms) / 1000, n = arrivals.per_s * window_s;
  if (n > MOST_IN_WINDOW || p <= 0) return exact::FOREVER;
  const auto meets = [&](std::uint64_t others) {
    const std::uint64_t need = exact::failures_needed(rule, others + 1);
    return need == 0 ? 0.0 : exact::binomial_at_least(others, p, need - 1);
  };
  double g = 0;
  if (arrivals.poisson) {
    const exact::PoissonWeights others = exact::poisson_weights(n);
    for (std::size_t i = 0; i < others.weight.size(); ++i) g += others.weight[i] * meets(others.first + i);
  } else {  // one less or more, as the machine's whole ms fall
    const auto most = static_cast<std::uint64_t>(std::ceil(n)) + 1;
    g = 1;
    for (std::uint64_t others = most > 3 ? most - 3 : 0; others < most; ++others)
      g = std::min(g, meets(others));
  }
  const double f = std::min(1.0, 3 / (n * p));
  const double q =
      arrivals.poisson ? -exact::exp_m1(-f * n * p) : -exact::exp_m1(std::floor(f * n) * exact::ln_1p(-p));
  return g * q > 0 ? (1 + f) * window_s / (g * q) : exact::FOREVER;
}

// At most E of the time until either rule, from fresh.
double mean_at_most_s(const HealthParams& rule, double p, const exact::Arrivals& arrivals,
                      const exact::Ejection& ejection) {
  const double within = exact::mean_time_within_s(ejection.first_window, arrivals, ejection.window_s);
  const double left = 1 - ejection.by_window;
  if (left <= exact::CountLaw::COMPLETE || p >= 1) return ejection.mean_s.high;
  return std::min(ejection.mean_s.high, within + left * ratio_mean_at_most_s(rule, p, arrivals));
}

bool is_often(const HealthParams& rule, double p, const exact::Arrivals& arrivals) {
  const auto ejection = exact::ejection(rule, {p}, arrivals);
  return ejection && mean_at_most_s(rule, p, arrivals, *ejection) < LINT_RARE_S;
}

// The least streak that comes by chance less than once a day.
std::uint32_t rare_streak(double p, double per_s) {
  constexpr std::uint32_t MOST = 10'000;
  std::uint32_t streak = 1;
  while (streak < MOST && exact::streak_mean(streak, p) / per_s < DAY_S) ++streak;
  return streak;
}

// The least ratio, in hundredths, that both rules together meet less than once a day; none up to 1.
std::optional<double> rare_ratio(HealthParams rule, double p, const exact::Arrivals& arrivals) {
  const auto rare = [&](double hundredths) {
    rule.failure_ratio = hundredths / 100;
    const auto ejection = exact::ejection(rule, {p}, arrivals);
    return ejection && ejection->mean_s.low >= DAY_S;
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
  if (streak) {
    rule.consecutive_failures = std::max(rule.consecutive_failures, rare_streak(p, arrivals.per_s));
    changes.push_back(block.change(names.key(names.streak), rule.consecutive_failures));
    f.instead = fmt::format("{} of at least {}", names.streak, rule.consecutive_failures);
  }
  if (is_often(rule, p, arrivals)) {
    const std::optional<double> ratio = rare_ratio(rule, p, arrivals);
    f.instead += streak ? " and " : "";
    f.instead += ratio ? fmt::format("{} of at least {}", names.ratio, setting_words(*ratio))
                       : fmt::format("{} {}, which is no ratio rule", names.volume, NO_VOLUME);
    changes.push_back(ratio ? block.change(names.key(names.ratio), *ratio)
                            : block.change(names.key(names.volume), NO_VOLUME));
  }
  f.instead += changes.size() == 1 ? ", which chance meets less than once a day."
                                   : ", which chance meets less than once a day together.";
  f.instead_values.push_back(std::move(changes));
}

void lint_false(const LintBlock& block, const HealthParams& rule, const RuleNames& names, LintFindings& out) {
  const std::optional<exact::Arrivals>& arrivals =
      names.breaker ? block.requests : block.requests_at_endpoint;
  if (!arrivals || (!names.breaker && block.config.endpoints.size() == 1)) return;
  const std::optional<double> lasting = lasting_failures(block.scenario, block.config);
  const double p = lasting.value_or(ASSUMED_HEALTHY);
  const auto ejection = exact::ejection(rule, {p}, *arrivals);
  if (!ejection) return;
  const double high = mean_at_most_s(rule, p, *arrivals, *ejection), low = ejection->mean_s.low;
  if (high >= LINT_RARE_S) return;
  const bool streak = exact::mean_time_s(ejection->streak, *arrivals) < LINT_RARE_S;
  LintFinding f = block.finding("false-ejections", {names.key(streak ? names.streak : names.ratio)});
  f.sentence = names.breaker
                   ? "The breaker opens above healthy endpoints, after less than an hour on average."
                   : "A healthy endpoint is ejected, after less than an hour in rotation on average.";
  f.why = fmt::format("At {} errors{} and {} req/s {} {} is met by chance.", chance_words(p),
                      lasting ? " (its lasting faults)" : " (assumed of healthy endpoints)",
                      number_words(arrivals->per_s), streak ? names.streak : names.ratio,
                      streak ? setting_words(rule.consecutive_failures) : setting_words(rule.failure_ratio));
  const std::string what = names.breaker ? "mean time until it opens" : "mean time until it is ejected";
  if (time_words(low) == time_words(high)) {
    f.numbers = {{what, high, "s"}};
  } else {
    f.numbers = {{what + ", at most", high, "s"}, {"and at least", low, "s"}};
  }
  add_instead(block, rule, names, p, *arrivals, streak, f);
  out.push_back(std::move(f));
}

void lint_rule(const LintBlock& block, const HealthParams& rule, const RuleNames& names, LintFindings& out) {
  lint_ratio(block, rule, names, out);
  lint_volume(block, rule, names, out);
  lint_false(block, rule, names, out);
}

}  // namespace

void lint_thresholds(const LintBlock& block, LintFindings& out) {
  if (block.config.health) lint_rule(block, *block.config.health, HEALTH_NAMES, out);
  if (block.config.breaker) lint_rule(block, exact::rule_of(*block.config.breaker), BREAKER_NAMES, out);
}

}  // namespace halfopen::sim
