// Active probes beside traffic: do the two work against each other, or all of them at once?
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "sim/analysis_inputs.hpp"
#include "sim/analysis_words.hpp"
#include "sim/exact_ejection.hpp"
#include "sim/exact_numbers.hpp"
#include "sim/exact_probes.hpp"
#include "sim/lint_parts.hpp"
#include "sim/text_layout.hpp"

namespace halfopen::sim {

namespace {

constexpr double HOUR_S = 3600;

double passing_ms(const LintBlock& block) {
  const ActiveParams& active = *block.config.active_health;
  if (active.kind == ProbeKind::tcp) return 0;
  return std::min(mean_latency_ms(block.scenario, block.config), static_cast<double>(active.timeout_ms));
}

// Mean time from an ejection to the verdict that takes back an endpoint whose probes all pass.
std::optional<double> back_s(const LintBlock& block, std::uint32_t threshold) {
  const ActiveParams& active = *block.config.active_health;
  const double pass = passing_ms(block);
  const auto wait = exact::probe_wait({active.interval_ms, active.jitter_ms, threshold, 1, pass, pass});
  return wait ? std::optional(wait->mean_s) : std::nullopt;
}

// Failed requests an hour at an endpoint that fails all traffic and passes all probes, and without probes.
void add_costs(const LintBlock& block, double wait_s, LintFinding& f) {
  if (!block.requests_at_endpoint) return;
  const HealthParams& health = *block.config.health;
  const auto ejection = exact::ejection(health, {1}, *block.requests_at_endpoint);
  if (!ejection || ejection->mean_s.high == exact::FOREVER) return;
  const double per_s = block.requests_at_endpoint->per_s, lasts_s = ejection->mean_s.high;
  f.numbers.push_back({"failed requests an hour at such an endpoint",
                       HOUR_S * lasts_s * per_s / (lasts_s + wait_s), "requests"});
  f.numbers.push_back({"and without probes, by trials alone",
                       HOUR_S / (static_cast<double>(health.eject_ms) / 1000 + 1 / per_s), "requests"});
}

void lint_readmit(const LintBlock& block, LintFindings& out) {
  const ActiveParams& active = *block.config.active_health;
  const double eject_s = static_cast<double>(block.config.health->eject_ms) / 1000;
  const std::optional<double> mean_s = back_s(block, active.success_threshold);
  const std::optional<double> one_s = back_s(block, 1), two_s = back_s(block, 2);
  if (!mean_s || !one_s || !two_s || *mean_s >= eject_s) return;
  LintFinding f = block.finding(
      "probes-readmit", {"active_health/success_threshold", "active_health/interval_ms", "health/eject_ms"});
  f.sentence = fmt::format(
      "Probes take back what traffic ejects after {} on average, not after {} (eject_ms): an endpoint that "
      "passes "
      "its "
      "probes and fails its users flaps.",
      time_words(*mean_s), length_text(block.config.health->eject_ms * NANOS_PER_MS));
  f.why = fmt::format(
      "{} passed probes, {} apart, re-admit, whatever the traffic said; then it takes a whole streak "
      "of failed requests again.",
      active.success_threshold, length_text(active.interval_ms * NANOS_PER_MS));
  f.numbers = {{"mean time until probes take it back", *mean_s, "s"}};
  add_costs(block, *mean_s, f);
  // The mean grows by one sleep and one probe for each success more.
  const double enough = std::ceil((eject_s - *one_s) / (*two_s - *one_s) - 1e-9) + 1;
  f.instead = fmt::format(
      "success_threshold of at least {}; or a probe that does what users ask for, and then "
      "suppress this.",
      setting_words(enough));
  out.push_back(std::move(f));
}

// While an endpoint is healthy, a probe that passes sets the failure streak of its traffic to 0.
void lint_reset(const LintBlock& block, LintFindings& out) {
  const std::uint32_t streak = block.config.health->consecutive_failures;
  if (!block.attempts_at_endpoint || streak < 2) return;
  const ActiveParams& active = *block.config.active_health;
  const double cycle_ms = static_cast<double>(active.interval_ms + active.jitter_ms) + passing_ms(block);
  const exact::Arrivals& arrivals = *block.attempts_at_endpoint;
  const double mean = arrivals.per_s * cycle_ms / 1000, most = std::ceil(mean - 1e-9);
  const double share = arrivals.poisson ? exact::poisson_more_than(mean, streak - 1.0)
                       : streak <= most ? 1
                                        : 0;
  if (share >= LINT_VOLUME_SHARE) return;
  LintFinding f =
      block.finding("probes-reset-streak", {"health/consecutive_failures", "active_health/interval_ms"});
  f.sentence = fmt::format(
      "While its probes pass, an endpoint that fails all its users is {} ejected by "
      "consecutive_failures {}.",
      arrivals.poisson ? "hardly ever" : "never", streak);
  f.why = fmt::format(
      "A passed probe ends the streak, and between two of them, at most {} apart, {} requests come to "
      "an endpoint {}.",
      time_words(cycle_ms / 1000), number_words(arrivals.poisson ? mean : most),
      arrivals.poisson ? "on average" : "at most");
  f.numbers = {{"requests between two probes", arrivals.poisson ? mean : most, "requests"},
               {"gaps between probes that a streak fits into", share, "share"}};
  const double fits = std::max(1.0, arrivals.poisson ? std::floor(mean) : most);
  f.instead = fmt::format(
      "consecutive_failures of at most {}, or interval_ms of at least {}, or a failure_min_volume "
      "that the window holds.",
      setting_words(fits), setting_words(std::ceil(streak / arrivals.per_s * 1000 - 1e-6)));
  out.push_back(std::move(f));
}

}  // namespace

void lint_probes(const LintBlock& block, LintFindings& out) {
  if (!block.config.health || !block.config.active_health) return;
  if (block.config.endpoints.size() == 1) return;  // whose ejections change nothing
  lint_readmit(block, out);
  lint_reset(block, out);
}

// Loops that start together stay together while their sleeps and their answers are alike (probes-in-lockstep
// shows what parts them). A set of upstreams is told once, of whichever endpoint they share first.
void lint_lockstep(const Scenario& scenario, const LintOptions& options, LintFindings& out) {
  std::map<std::pair<std::string, std::uint64_t>, std::vector<std::size_t>> loops;  // endpoint, interval
  for (std::size_t n = 0; n < scenario.upstreams.size(); ++n) {
    const UpstreamConfig& config = scenario.upstreams[n];
    if (!config.active_health || config.active_health->jitter_ms > 0) continue;
    for (const EndpointConfig& endpoint : config.endpoints)
      loops[{endpoint.name(), config.active_health->interval_ms}].push_back(n);
  }
  std::map<std::vector<std::size_t>, std::string> groups;
  for (const auto& [where, upstreams] : loops) groups.emplace(upstreams, where.first);
  for (const auto& [upstreams, endpoint] : groups) {
    const std::uint64_t count = upstreams.size() * options.balancers;
    if (count < LINT_MANY_LOOPS) continue;
    const UpstreamConfig& first = scenario.upstreams[upstreams.front()];
    LintBlock block{scenario, options, first, "", {}, {}, {}, {}};
    LintFinding f = block.finding("probes-in-lockstep", {});
    for (const std::size_t n : upstreams)
      f.pointers.push_back(fmt::format("/upstreams/{}/active_health/jitter_ms", n));
    const std::uint64_t interval_ms = first.active_health->interval_ms;
    f.sentence = fmt::format("{} probes reach {} in the same instant, every {}: nothing spreads them.", count,
                             endpoint, length_text(interval_ms * NANOS_PER_MS));
    f.why =
        "Loops that were started together, by a deploy or a reload, and sleep equally long stay together; a "
        "server that can't answer them all at once loses probes while it is well.";
    f.numbers = {{"probes in the same instant", static_cast<double>(count), "probes"}};
    f.instead = fmt::format(
        "jitter_ms {} spreads them over half an interval, and makes detection slower by a quarter.",
        std::max<std::uint64_t>(1, interval_ms / 2));
    out.push_back(std::move(f));
  }
}

}  // namespace halfopen::sim
