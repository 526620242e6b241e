// The two rules of health and breaker in traffic: does the ratio rule get its volume?
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/analysis_words.hpp"
#include "sim/exact_numbers.hpp"
#include "sim/exact_rule.hpp"
#include "sim/lint_parts.hpp"
#include "sim/text_layout.hpp"

namespace halfopen::sim {

namespace {

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
      {"attempts that find enough of them", volume.share, "share"}};
  if (volume.share > 0)
    f.numbers.push_back({"from one of those to the next, on average", volume.every_s, "s"});
  const double fits = std::max(1.0, arrivals->poisson ? std::floor(volume.mean) : volume.most);
  f.instead = instead_of_volume(block, rule, names, fits, arrivals->per_s, f);
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
