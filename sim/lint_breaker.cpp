// The breaker above the pool: is there time for an ejection before it opens?
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

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

// Attempts until the streak or the ratio rule in half of all cases, from a fresh machine, within its window
// and `most` attempts.
std::optional<double> half_by(const HealthParams& rule, const exact::FailureTurns& turns,
                              const std::optional<exact::Arrivals>& arrivals, double most) {
  std::uint64_t to = horizon(rule.window_ms, arrivals);
  if (most < static_cast<double>(to)) to = static_cast<std::uint64_t>(most);
  const auto law = exact::window_law(rule, turns, to);
  return law ? exact::count_quantile(*law, 0.5) : std::nullopt;
}

struct Race {
  double sick = 0;               // how often the bad endpoint fails
  double opens = 0;              // with which attempt of the upstream
  std::optional<double> ejects;  // likewise; none: not within the window
  bool by_streak = false;        // of the breaker
};

std::optional<Race> race_at(const LintBlock& block, const UpstreamConfig& config, double sick) {
  const HealthParams rule = exact::rule_of(*config.breaker);
  const double healthy = lasting_failures(block.scenario, config).value_or(ASSUMED_HEALTHY);
  const exact::FailureTurns turns = one_sick(config, healthy, sick);
  std::optional<double> ejects = half_by(*config.health, {sick}, block.attempts_at_endpoint, exact::FOREVER);
  if (ejects) *ejects *= block.endpoints();
  // What comes behind the ejection doesn't matter.
  const std::optional<double> opens = half_by(rule, turns, block.attempts, ejects.value_or(exact::FOREVER));
  if (!opens) return std::nullopt;
  const auto streak = exact::streak_law(rule.consecutive_failures, turns);
  return Race{sick, *opens, ejects, streak && exact::survival(*streak, *opens) <= 0.5};
}

// A dead endpoint, or else one as bad as the scenario's worst. `config`: the block's, or as it might be.
std::optional<Race> breaker_wins(const LintBlock& block, const UpstreamConfig& config) {
  std::optional<Race> race = race_at(block, config, 1);
  if (!race)
    race = race_at(block, config, worst_failures(block.scenario, block.config).value_or(ASSUMED_SICK));
  return race;
}

// ---- what to set instead: each is tried before it is told
// --------------------------------------------------

struct Lever {
  const char* key;
  const char* words;
  std::vector<double> guesses;  // from the least change on
  void (*set)(UpstreamConfig&, double);
};

std::uint32_t count_of(double value) {
  return static_cast<std::uint32_t>(std::clamp(value, 1.0, static_cast<double>(NO_VOLUME)));
}

// The first of them with which the ejection comes first.
std::optional<double> first_that_helps(const LintBlock& block, const Lever& lever) {
  for (const double guess : lever.guesses) {
    UpstreamConfig config = block.config;
    lever.set(config, guess);
    if (!breaker_wins(block, config)) return guess;
  }
  return std::nullopt;
}

// Counts of the breaker are of the whole pool's requests, so the ejection's own is where they are long
// enough; the share of one endpoint is what a ratio has to exceed.
std::vector<Lever> levers(const LintBlock& block, const Race& race) {
  const BreakerParams& breaker = *block.config.breaker;
  const double n = block.endpoints(), ejects = race.ejects.value_or(0);
  const double streak = breaker.consecutive_failures, volume = breaker.error_volume;
  const double own = block.config.health->consecutive_failures;
  const double share = std::floor(race.sick / n * 100 + 1e-9) / 100;
  const auto above = [](double least, std::vector<double> all) {
    all.erase(
        std::remove_if(all.begin(), all.end(), [&](double one) { return one <= least || one > NO_VOLUME; }),
        all.end());
    return all;
  };
  std::vector<double> ratios;
  for (const double more : {0.01, 0.02, 0.05, 0.1, 0.2})
    ratios.push_back(std::round((share + more) * 100) / 100);
  ratios.erase(std::remove_if(ratios.begin(), ratios.end(),
                              [&](double one) { return one <= breaker.error_ratio || one > 1; }),
               ratios.end());
  std::vector<double> shorter;
  for (double one = std::min(own - 1, std::floor((race.opens - 1) / n)); one >= 1; one = std::floor(one / 2))
    shorter.push_back(one);
  return {{"breaker/consecutive_failures", "breaker.consecutive_failures of at least",
           above(streak, {streak + 1, own, own + 1, 2 * own, ejects + 1, 2 * ejects}),
           [](UpstreamConfig& to, double value) { to.breaker->consecutive_failures = count_of(value); }},
          {"breaker/error_ratio", "error_ratio of at least", ratios,
           [](UpstreamConfig& to, double value) { to.breaker->error_ratio = value; }},
          {"breaker/error_volume", "error_volume of at least", above(volume, {ejects + 1, 2 * ejects}),
           [](UpstreamConfig& to, double value) { to.breaker->error_volume = count_of(value); }},
          {"health/consecutive_failures", "health.consecutive_failures of at most", shorter,
           [](UpstreamConfig& to, double value) { to.health->consecutive_failures = count_of(value); }}};
}

// Where no single one helps: both rules of the breaker at once.
void add_both(const LintBlock& block, const Race& race, LintFinding& f) {
  const double ejects = race.ejects.value_or(0);
  for (const double count : {ejects + 1, 2 * ejects + 1, static_cast<double>(NO_VOLUME)}) {
    UpstreamConfig config = block.config;
    BreakerParams& breaker = *config.breaker;
    breaker.consecutive_failures = std::max(breaker.consecutive_failures, count_of(count));
    breaker.error_volume = std::max(breaker.error_volume, count_of(count));
    if (breaker_wins(block, config)) continue;
    f.instead = fmt::format("breaker.consecutive_failures of at least {} and error_volume of at least {}",
                            breaker.consecutive_failures, breaker.error_volume);
    f.instead_values.push_back({block.change("breaker/consecutive_failures", breaker.consecutive_failures),
                                block.change("breaker/error_volume", breaker.error_volume)});
    return;
  }
}

void add_instead(const LintBlock& block, const Race& race, LintFinding& f) {
  for (const Lever& lever : levers(block, race)) {
    const std::optional<double> value = first_that_helps(block, lever);
    if (!value) continue;
    f.instead += fmt::format("{}{} {}", f.instead.empty() ? "" : ", or ", lever.words, setting_words(*value));
    f.instead_values.push_back({block.change(lever.key, *value)});
  }
  if (f.instead_values.empty()) add_both(block, race, f);
  f.instead += '.';
}

}  // namespace

// Counted from an empty window, as after a start and each time that the breaker has closed. Among many
// successes from before, the share of one endpoint takes longer to reach error_ratio.
void lint_breaker(const LintBlock& block, LintFindings& out) {
  const UpstreamConfig& config = block.config;
  if (!config.health || !config.breaker || config.endpoints.size() < 2) return;
  const std::optional<Race> race = breaker_wins(block, config);
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
  add_instead(block, *race, f);
  out.push_back(std::move(f));
}

}  // namespace halfopen::sim
