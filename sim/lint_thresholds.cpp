// The two rules of health and breaker: does each of them ever act, and does it act for nothing?
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "sim/analysis_inputs.hpp"
#include "sim/analysis_words.hpp"
#include "sim/exact_ejection.hpp"
#include "sim/exact_numbers.hpp"
#include "sim/lint_parts.hpp"
#include "sim/text_layout.hpp"

namespace halfopen::sim {

namespace {

// Health and breaker under the names that the file gives their settings.
struct RuleNames {
  bool breaker = false;
  const char *block, *streak, *ratio, *volume, *acts;
  std::string key(const char* name) const { return std::string(block) + '/' + name; }
};
constexpr RuleNames HEALTH{false,  "health", "consecutive_failures", "failure_ratio", "failure_min_volume",
                           "eject"};
constexpr RuleNames BREAKER{true, "breaker", "consecutive_failures", "error_ratio", "error_volume", "open"};

// ---- ratio-never-first
// --------------------------------------------------------------------------------------

// Of n observations, the last of them a failure, at most n - floor(n / k) fail without k failures in a row:
// one success after each k - 1 failures. That share is largest, from a volume v on, at v itself where v < k,
// and else at the first n >= v with n + 1 a multiple of k: it is 1 - m / (m k + k - 1) there, which falls
// with m, and between two such n the count of failures grows by less than one for one.
std::uint64_t best_volume(std::uint64_t volume, std::uint64_t streak) {
  return volume < streak ? volume : volume + (streak - 1 - volume % streak);
}

bool ratio_can_be_first(const HealthParams& rule) {
  const std::uint64_t n = best_volume(rule.failure_min_volume, rule.consecutive_failures);
  const std::uint64_t needed = exact::failures_needed(rule, n);
  return needed != 0 && needed <= n - n / rule.consecutive_failures;
}

// Said so: a ratio of 1 adds nothing to a streak that is no longer than the volume.
bool switched_off(const HealthParams& rule) {
  const bool by_ratio = rule.failure_ratio >= 1 && rule.failure_min_volume >= rule.consecutive_failures;
  return by_ratio || rule.failure_min_volume == std::numeric_limits<std::uint32_t>::max();
}

// The least streak above the rule's own that leaves room for its ratio; a streak above the volume always
// does.
std::uint32_t streak_with_room(HealthParams rule) {
  constexpr int LOOK = 10'000;
  const std::uint32_t always = rule.failure_min_volume + 1;
  for (int i = 0; i < LOOK && rule.consecutive_failures < always; ++i) {
    ++rule.consecutive_failures;
    if (ratio_can_be_first(rule)) return rule.consecutive_failures;
  }
  return always;
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
      "rule "
      "would need {}.",
      streak, most, n, names.volume, rule.failure_min_volume, exact::failures_needed(rule, n));
  f.numbers = {{"largest share of failures without the streak", share, "share"}};
  const double ratio = std::floor(share * 1000) / 1000;
  const std::uint32_t longer = streak_with_room(rule);
  f.instead = fmt::format("{} of at most {}, or {} of at least {}; {} 1 to say that there is no ratio rule.",
                          names.ratio, setting_words(ratio), names.streak, longer, names.ratio);
  f.instead_values = {{block.change(names.key(names.ratio), ratio)},
                      {block.change(names.key(names.streak), longer)},
                      {block.change(names.key(names.ratio), 1)}};
  out.push_back(std::move(f));
}

// A breaker sees endpoints that fail unlike each other, so chance says nothing about its streaks.
void tell_unlikely(const LintBlock& block, const HealthParams& rule, LintFindings& out) {
  if (rule.failure_ratio >= 1) return;
  const auto law = exact::streak_law(rule.consecutive_failures, {rule.failure_ratio});
  if (!law) return;
  const double before = rule.failure_min_volume - 1.0;
  const double chance = exact::survival(*law, before);
  if (chance > LINT_FIRST_CHANCE) return;
  const std::optional<double> most = exact::count_quantile(*law, 1 - LINT_FIRST_CHANCE);
  LintFinding f = block.finding("ratio-never-first", {"health/failure_ratio", "health/failure_min_volume",
                                                      "health/consecutive_failures"});
  f.sentence = fmt::format("failure_ratio {} practically never ejects before consecutive_failures {} does.",
                           setting_words(rule.failure_ratio), rule.consecutive_failures);
  f.why = fmt::format(
      "With {} independent failures, {} in a row come before failure_min_volume {} is reached. Only failures "
      "that come regularly could get that far.",
      chance_words(rule.failure_ratio), rule.consecutive_failures, rule.failure_min_volume);
  f.numbers = {{"chance that the volume is reached without the streak", chance, "share"}};
  f.instead = fmt::format("failure_min_volume of at most {}, or a larger consecutive_failures.",
                          setting_words(most.value_or(1)));
  out.push_back(std::move(f));
}

void lint_ratio(const LintBlock& block, const HealthParams& rule, const RuleNames& names, LintFindings& out) {
  if (switched_off(rule) || rule.consecutive_failures == 1) return;  // any failure is enough, plainly
  if (!ratio_can_be_first(rule)) return tell_impossible(block, rule, names, out);
  if (!names.breaker) tell_unlikely(block, rule, out);
}

// ---- volume-out-of-reach
// ------------------------------------------------------------------------------------

void lint_volume(const LintBlock& block, const HealthParams& rule, const RuleNames& names,
                 LintFindings& out) {
  const std::optional<exact::Arrivals>& arrivals =
      names.breaker ? block.attempts : block.attempts_at_endpoint;
  if (!arrivals || switched_off(rule)) return;
  const double mean = arrivals->per_s * static_cast<double>(rule.window_ms) / 1000;
  const double volume = rule.failure_min_volume;
  // Evenly spaced, n are in one window if (n - 1) gaps are shorter than it.
  const double most = std::max(1.0, std::ceil(mean - 1e-9));
  const double share = arrivals->poisson ? exact::poisson_more_than(mean, volume - 1)
                       : volume <= most  ? 1
                                         : 0;
  if (share >= LINT_VOLUME_SHARE) return;
  LintFinding f = block.finding("volume-out-of-reach", {names.key(names.volume), names.key("window_ms")});
  if (names.breaker) f.pointers.pop_back();  // its window is no setting
  f.sentence = fmt::format("{} {} is {} reached within {}: the ratio rule does not act.", names.volume,
                           rule.failure_min_volume, arrivals->poisson ? "hardly ever" : "never",
                           length_text(rule.window_ms * NANOS_PER_MS));
  f.why = fmt::format("The window holds {} observations {} at {} req/s{}.",
                      number_words(arrivals->poisson ? mean : most),
                      arrivals->poisson ? "on average" : "at most", number_words(arrivals->per_s),
                      names.breaker ? "" : " to an endpoint, which is the peak of the traffic");
  f.numbers = {{"observations that the window holds", arrivals->poisson ? mean : most, "observations"},
               {"windows that hold the volume", share, "share"}};
  const double fits = std::max(1.0, arrivals->poisson ? std::floor(mean) : most);
  f.instead = fmt::format("{} of at most {}", names.volume, setting_words(fits));
  if (!names.breaker) {
    f.instead += fmt::format(", or window_ms of at least {}",
                             setting_words(std::ceil(volume / arrivals->per_s * 1000 - 1e-6)));
  }
  f.instead += fmt::format("; or leave it to {}, and say {} 1.", names.streak, names.ratio);
  out.push_back(std::move(f));
}

// ---- false-ejections
// ----------------------------------------------------------------------------------------

// The least streak that comes by chance less than once a day.
std::uint32_t rare_streak(double p, double per_s) {
  constexpr double DAY_S = 86'400;
  std::uint32_t streak = 1;
  while (streak < 100 && exact::streak_mean(streak, p) / per_s < DAY_S) ++streak;
  return streak;
}

void lint_false(const LintBlock& block, const HealthParams& rule, const RuleNames& names, LintFindings& out) {
  const std::optional<exact::Arrivals>& arrivals =
      names.breaker ? block.requests : block.requests_at_endpoint;
  if (!arrivals || (!names.breaker && block.config.endpoints.size() == 1)) return;
  const std::optional<double> lasting = lasting_failures(block.scenario, block.config);
  const double p = lasting.value_or(ASSUMED_HEALTHY);
  const auto ejection = exact::ejection(rule, {p}, *arrivals);
  if (!ejection || ejection->mean_s.high >= LINT_FALSE_EVERY_S) return;
  const bool streak = exact::mean_time_s(ejection->streak, *arrivals) < LINT_FALSE_EVERY_S;
  LintFinding f = block.finding("false-ejections", {names.key(streak ? names.streak : names.volume)});
  f.sentence = names.breaker ? "The breaker opens above healthy endpoints more often than once an hour."
                             : "A healthy endpoint is ejected more often than once an hour.";
  f.why = fmt::format("At {} errors{} and {} req/s {} {} is met by chance.", chance_words(p),
                      lasting ? " (its lasting faults)" : " (assumed of healthy endpoints)",
                      number_words(arrivals->per_s), streak ? names.streak : names.volume,
                      streak ? rule.consecutive_failures : rule.failure_min_volume);
  f.numbers = {{names.breaker ? "mean time until it opens" : "mean time until it is ejected",
                ejection->mean_s.high, "s"}};
  f.instead = streak ? fmt::format("{} of at least {}, which chance meets less than once a day.",
                                   names.streak, rare_streak(p, arrivals->per_s))
                     : fmt::format("A larger {}, or a larger {}.", names.volume, names.ratio);
  out.push_back(std::move(f));
}

void lint_rule(const LintBlock& block, const HealthParams& rule, const RuleNames& names, LintFindings& out) {
  lint_ratio(block, rule, names, out);
  lint_volume(block, rule, names, out);
  lint_false(block, rule, names, out);
}

}  // namespace

void lint_thresholds(const LintBlock& block, LintFindings& out) {
  if (block.config.health) lint_rule(block, *block.config.health, HEALTH, out);
  if (block.config.breaker) lint_rule(block, exact::rule_of(*block.config.breaker), BREAKER, out);
}

}  // namespace halfopen::sim
