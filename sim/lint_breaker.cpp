// The breaker above the pool: is there time for an ejection before it opens?
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "sim/analysis_inputs.hpp"
#include "sim/analysis_words.hpp"
#include "sim/exact_rule.hpp"
#include "sim/lint_parts.hpp"

namespace halfopen::sim {

namespace {

// So many observations of one window are followed where the traffic doesn't say how many there are.
constexpr std::uint64_t WITHOUT_A_RATE = 5'000;

std::uint64_t horizon(std::uint64_t window_ms, const std::optional<exact::Arrivals>& arrivals) {
  if (!arrivals) return WITHOUT_A_RATE;
  return std::min(WITHOUT_A_RATE, exact::observations_before_aging(window_ms, *arrivals));
}

// Attempts until the streak or the ratio rule in half of all cases, from a fresh machine and within its
// window.
std::optional<double> half_by(const HealthParams& rule, const exact::FailureTurns& turns,
                              const std::optional<exact::Arrivals>& arrivals) {
  const auto law = exact::window_law(rule, turns, horizon(rule.window_ms, arrivals));
  return law ? exact::count_quantile(*law, 0.5) : std::nullopt;
}

struct Race {
  double sick = 0;               // how often the bad endpoint fails
  double opens = 0;              // with which attempt of the upstream
  std::optional<double> ejects;  // likewise; none: not within the window
  bool by_streak = false;        // of the breaker
};

std::optional<Race> breaker_wins(const LintBlock& block, double sick) {
  const UpstreamConfig& config = block.config;
  const HealthParams rule = exact::rule_of(*config.breaker);
  const double healthy = lasting_failures(block.scenario, config).value_or(ASSUMED_HEALTHY);
  const exact::FailureTurns turns = one_sick(config, healthy, sick);
  const std::optional<double> opens = half_by(rule, turns, block.attempts);
  if (!opens) return std::nullopt;
  std::optional<double> ejects = half_by(*config.health, {sick}, block.attempts_at_endpoint);
  if (ejects) *ejects *= block.endpoints();
  if (ejects && *ejects < *opens) return std::nullopt;
  const auto streak = exact::streak_law(rule.consecutive_failures, turns);
  const std::optional<double> in_a_row = streak ? exact::count_quantile(*streak, 0.5) : std::nullopt;
  return Race{sick, *opens, ejects, in_a_row && *in_a_row <= *opens};
}

std::string instead(const LintBlock& block, const Race& race) {
  const double n = block.endpoints();
  if (race.by_streak) {
    return fmt::format(
        "A breaker.consecutive_failures over {}, so that the endpoint's own streak comes first.",
        block.config.breaker->consecutive_failures);
  }
  std::string out = fmt::format("error_ratio over {}, one endpoint's share of the failures",
                                setting_words(std::ceil(race.sick / n * 1000 - 1e-9) / 1000));
  if (race.ejects) out += fmt::format(", or error_volume over {}", setting_words(*race.ejects));
  const double streak = std::floor((race.opens - 1) / n);
  if (race.sick >= 1 && streak >= 1)
    out += fmt::format(", or health.consecutive_failures of at most {}", setting_words(streak));
  return out + '.';
}

}  // namespace

// Counted from an empty window, as after a start and each time that the breaker has closed. Among many
// successes from before, the share of one endpoint takes longer to reach error_ratio.
void lint_breaker(const LintBlock& block, LintFindings& out) {
  const UpstreamConfig& config = block.config;
  if (!config.health || !config.breaker || config.endpoints.size() < 2) return;
  std::optional<Race> race = breaker_wins(block, 1);
  if (!race) race = breaker_wins(block, worst_failures(block.scenario, config).value_or(ASSUMED_SICK));
  if (!race) return;
  const std::string which = race->by_streak ? "consecutive_failures" : "error_ratio";
  LintFinding f = block.finding("breaker-opens-first",
                                {"breaker/" + which, "breaker/error_volume", "health/consecutive_failures"});
  f.sentence =
      fmt::format("One of {} endpoints that fails {} of its requests opens the breaker for everybody, {}.",
                  config.endpoints.size(), chance_words(race->sick),
                  race->ejects ? "and its ejection comes too late" : "and is not ejected");
  f.why = fmt::format(
      "From an empty window (after a start, and each time that it has closed) the breaker opens by {} with "
      "request "
      "{}{}.",
      which, number_words(race->opens),
      race->ejects
          ? fmt::format("; the ejection that would help comes with request {}", number_words(*race->ejects))
          : "");
  f.numbers = {{"the breaker opens with request, in half of all cases", race->opens, "requests"}};
  if (race->ejects) f.numbers.push_back({"the endpoint is ejected with request", *race->ejects, "requests"});
  f.instead = instead(block, *race);
  out.push_back(std::move(f));
}

}  // namespace halfopen::sim
