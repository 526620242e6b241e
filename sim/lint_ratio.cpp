// The ratio rule beside the streak rule: does it ever act first, and is a ratio of 1 what it looks like?
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/analysis_words.hpp"
#include "sim/exact_rule.hpp"
#include "sim/lint_parts.hpp"
#include "sim/text_layout.hpp"

namespace halfopen::sim {

namespace {

// Of n observations, the last of them a failure, at most n - floor(n / k) fail without k failures in a row:
// one success after each k - 1 failures. That share is largest, from a volume v on, at v itself where v < k,
// and else at the first n >= v with n + 1 a multiple of k: it is 1 - m / (m k + k - 1) there, which falls
// with m, and between two such n the count of failures grows by less than one for one.
std::uint64_t best_volume(std::uint64_t volume, std::uint64_t streak) {
  return volume < streak ? volume : volume + (streak - 1 - volume % streak);
}

bool can_be_first(const HealthParams& rule) {
  const std::uint64_t n = best_volume(rule.failure_min_volume, rule.consecutive_failures);
  const std::uint64_t needed = exact::failures_needed(rule, n);
  return needed != 0 && needed <= n - n / rule.consecutive_failures;
}

// The chance that the volume is reached without a streak at exactly that ratio of independent failures; none
// where that says nothing. A breaker sees endpoints that fail unlike each other, so chance says nothing about
// its streaks.
std::optional<double> chance_of_volume(const HealthParams& rule, const RuleNames& names) {
  if (names.breaker || rule.failure_ratio >= 1) return std::nullopt;
  const auto law = exact::streak_law(rule.consecutive_failures, {rule.failure_ratio});
  return law ? std::optional(exact::survival(*law, rule.failure_min_volume - 1.0)) : std::nullopt;
}

bool is_first_now_and_then(const HealthParams& rule, const RuleNames& names) {
  return can_be_first(rule) && chance_of_volume(rule, names).value_or(1) > LINT_FIRST_CHANCE;
}

// ---- what to set instead: each is tried before it is told
// --------------------------------------------------

// In thousandths, at most `share`; none if not even the smallest.
std::optional<double> smaller_ratio(HealthParams rule, const RuleNames& names, double share) {
  const auto fits = [&](double thousandths) {
    rule.failure_ratio = thousandths / 1000;
    return is_first_now_and_then(rule, names);
  };
  double good = 0, bad = std::floor(share * 1000) + 1;
  while (bad - good > 1) {
    const double middle = std::floor((good + bad) / 2);
    (fits(middle) ? good : bad) = middle;
  }
  return good > 0 ? std::optional(good / 1000) : std::nullopt;
}

// A streak above the volume always leaves room.
std::uint32_t longer_streak(HealthParams rule, const RuleNames& names) {
  std::uint32_t bad = rule.consecutive_failures, good = rule.failure_min_volume + 1;
  for (std::uint32_t step = 1; good - bad > 1;) {
    const bool near = step < (good - bad) / 2;  // most often a few more are enough
    rule.consecutive_failures = near ? bad + step : bad + (good - bad) / 2;
    step *= 2;
    (is_first_now_and_then(rule, names) ? good : bad) = rule.consecutive_failures;
  }
  return good;
}

std::uint32_t smaller_volume(HealthParams rule, const RuleNames& names, std::uint32_t from) {
  for (rule.failure_min_volume = from; rule.failure_min_volume > 1; --rule.failure_min_volume) {
    if (is_first_now_and_then(rule, names)) break;
  }
  return rule.failure_min_volume;
}

void tell_impossible(const LintBlock& block, const HealthParams& rule, const RuleNames& names,
                     LintFindings& out) {
  const std::uint64_t streak = rule.consecutive_failures, n = best_volume(rule.failure_min_volume, streak);
  const std::uint64_t most = n - n / streak;
  const double share = static_cast<double>(most) / static_cast<double>(n);
  LintFinding f = block.finding("ratio-never-first", {names.key(names.ratio), names.key(names.streak)});
  f.sentence = fmt::format("{} {} can never {} before {} {} does.", names.ratio,
                           setting_words(rule.failure_ratio), names.acts, names.streak, streak);
  f.why = fmt::format(
      "Without {} failures in a row at most {} of {} can fail, and no larger share from {} {} on: the ratio "
      "rule would need {}.",
      streak, most, n, names.volume, rule.failure_min_volume, exact::failures_needed(rule, n));
  f.numbers = {{"largest share of failures without the streak", share, "share"}};
  if (const std::optional<double> ratio = smaller_ratio(rule, names, share)) {
    f.instead = fmt::format("{} of at most {}, or ", names.ratio, setting_words(*ratio));
    f.instead_values.push_back({block.change(names.key(names.ratio), *ratio)});
  }
  const std::uint32_t longer = longer_streak(rule, names);
  f.instead += fmt::format("{} of at least {}; {} {} to say that there is no ratio rule.", names.streak,
                           longer, names.volume, NO_VOLUME);
  f.instead_values.push_back({block.change(names.key(names.streak), longer)});
  f.instead_values.push_back({block.change(names.key(names.volume), NO_VOLUME)});
  out.push_back(std::move(f));
}

void tell_unlikely(const LintBlock& block, const HealthParams& rule, const RuleNames& names, double chance,
                   LintFindings& out) {
  const auto law = exact::streak_law(rule.consecutive_failures, {rule.failure_ratio});
  const std::optional<double> most = exact::count_quantile(*law, 1 - LINT_FIRST_CHANCE);
  LintFinding f = block.finding("ratio-never-first",
                                {names.key(names.ratio), names.key(names.volume), names.key(names.streak)});
  f.sentence = fmt::format("{} {} practically never ejects before {} {} does.", names.ratio,
                           setting_words(rule.failure_ratio), names.streak, rule.consecutive_failures);
  f.why = fmt::format(
      "With {} independent failures, {} in a row come before {} {} is reached. Only failures "
      "that come regularly could get that far.",
      chance_words(rule.failure_ratio), rule.consecutive_failures, names.volume, rule.failure_min_volume);
  f.numbers = {{"chance that the volume is reached without the streak", chance, "share"}};
  const auto from = static_cast<std::uint32_t>(
      std::min(most.value_or(1), static_cast<double>(rule.failure_min_volume) - 1));
  const std::uint32_t volume = smaller_volume(rule, names, from), longer = longer_streak(rule, names);
  f.instead =
      fmt::format("{} of at most {}, or {} of at least {}.", names.volume, volume, names.streak, longer);
  f.instead_values = {{block.change(names.key(names.volume), volume)},
                      {block.change(names.key(names.streak), longer)}};
  out.push_back(std::move(f));
}

// A ratio of 1 is asked as any other: failures alone in the window are enough.
void tell_one(const LintBlock& block, const HealthParams& rule, const RuleNames& names, LintFindings& out) {
  if (rule.failure_ratio < 1 || rule.failure_min_volume >= rule.consecutive_failures) return;
  LintFinding f = block.finding("ratio-one-is-not-off", {names.key(names.ratio), names.key(names.volume)});
  f.sentence = fmt::format("{} 1 does not switch the ratio rule off: {} with no success in {} {}.",
                           names.ratio, plural(rule.failure_min_volume, "failure"),
                           length_text(rule.window_ms * NANOS_PER_MS), names.acts_alone);
  f.why = fmt::format(
      "A window of failures alone has a share of 1, and reached is enough: {} {} is not waited for, after a "
      "start and each recovery at least.",
      names.streak, rule.consecutive_failures);
  f.numbers = {{fmt::format("failures that {}", names.acts), static_cast<double>(rule.failure_min_volume),
                "failures"}};
  f.instead = fmt::format(
      "{} {} to say that there is no ratio rule. Where that many and no success are meant, "
      "suppress this.",
      names.volume, NO_VOLUME);
  f.instead_values = {{block.change(names.key(names.volume), NO_VOLUME)}};
  out.push_back(std::move(f));
}

}  // namespace

bool has_no_ratio_rule(const HealthParams& rule) {
  const bool by_ratio = rule.failure_ratio >= 1 && rule.failure_min_volume >= rule.consecutive_failures;
  return by_ratio || rule.failure_min_volume == NO_VOLUME;
}

void lint_ratio(const LintBlock& block, const HealthParams& rule, const RuleNames& names, LintFindings& out) {
  // With a streak of 1 any failure is enough, plainly.
  if (has_no_ratio_rule(rule) || rule.consecutive_failures == 1) return;
  tell_one(block, rule, names, out);
  if (!can_be_first(rule)) return tell_impossible(block, rule, names, out);
  const std::optional<double> chance = chance_of_volume(rule, names);
  if (chance && *chance <= LINT_FIRST_CHANCE) tell_unlikely(block, rule, names, *chance, out);
}

}  // namespace halfopen::sim
