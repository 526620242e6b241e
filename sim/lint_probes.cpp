// Active probes beside traffic: do the two work against each other, or all of them at once?
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sim/analysis_inputs.hpp"
#include "sim/analysis_words.hpp"
#include "sim/exact_ejection.hpp"
#include "sim/exact_numbers.hpp"
#include "sim/lint_parts.hpp"
#include "sim/text_layout.hpp"

namespace halfopen::sim {

namespace {

constexpr double HOUR_S = 3600;

double passing_ms(const LintBlock& block) {
  const ActiveParams& active = *block.config.active_health;
  if (active.kind == ProbeKind::tcp) return 0;
  return std::min(latencies_of(block.scenario, block.config).mean_ms, static_cast<double>(active.timeout_ms));
}

// From one verdict of the loop to the next, while all probes pass.
struct ProbeCycle {
  double mean_s = 0;
  double residual_s = 0;  // from any moment to the next verdict, on average: E C^2 / (2 E C)
};

ProbeCycle cycle_of(const LintBlock& block) {
  const ActiveParams& active = *block.config.active_health;
  const double steps = std::max(1.0, static_cast<double>(active.jitter_ms));  // 0 to jitter_ms - 1, alike
  const double mean_ms = static_cast<double>(active.interval_ms) + (steps - 1) / 2 + passing_ms(block);
  const double square = mean_ms * mean_ms + (steps * steps - 1) / 12;
  return {mean_ms / 1000, square / (2 * mean_ms) / 1000};
}

// Mean time from an ejection to the verdict that takes back an endpoint whose probes all pass. One that was
// under way is the first of them: the loop forgets its successes when it next looks, not at the ejection.
double back_s(const ProbeCycle& cycle, std::uint32_t threshold) {
  return cycle.residual_s + (threshold - 1.0) * cycle.mean_s;
}

// Whether this very scenario has a fault that fails users and no probes, or probes that only connect.
bool probes_are_blind(const LintBlock& block) {
  if (block.config.active_health->kind == ProbeKind::tcp) return true;
  const auto fails_users_alone = [](const Fault& fault) {
    const bool harmless = std::holds_alternative<LatencyFault>(fault.kind) ||
                          std::holds_alternative<ColdStartFault>(fault.kind);
    return fault.scope == Scope::traffic && !harmless;
  };
  Servers servers(block.scenario);
  return std::any_of(block.config.endpoints.begin(), block.config.endpoints.end(),
                     [&](const EndpointConfig& endpoint) {
                       const ServerModel* const server = servers.of(endpoint);
                       return server != nullptr &&
                              std::any_of(server->faults.begin(), server->faults.end(), fails_users_alone);
                     });
}

// While an endpoint is healthy, a probe that passes sets the failure streak of its traffic to 0.
struct Gap {
  double ms = 0;              // the longest between two probes
  double mean = 0, most = 0;  // requests in it; where they are Poisson the mean, else the most
  double streak_fits = 0;     // chance that a whole streak comes within it
  bool speaks() const { return streak_fits < LINT_VOLUME_SHARE && every_s() >= LINT_RARE_S; }
  double every_s() const { return streak_fits > 0 ? ms / 1000 / streak_fits : exact::FOREVER; }
};

Gap gap_of(const LintBlock& block, const exact::Arrivals& arrivals) {
  const std::uint32_t streak = block.config.health->consecutive_failures;
  const ActiveParams& active = *block.config.active_health;
  Gap out;
  out.ms = static_cast<double>(active.interval_ms + active.jitter_ms) + passing_ms(block);
  out.mean = arrivals.per_s * out.ms / 1000;
  out.most = std::ceil(out.mean - 1e-9);
  out.streak_fits = arrivals.poisson     ? exact::poisson_more_than(out.mean, streak - 1.0)
                    : streak <= out.most ? 1
                                         : 0;
  return out;
}

// Failed requests an hour at an endpoint that fails all traffic and passes all probes, and without probes.
// Not told where a streak fits into some of the gaps between probes only.
void add_costs(const LintBlock& block, double wait_s, LintFinding& f) {
  constexpr double NEARLY_ALL = 0.99;
  if (!block.requests_at_endpoint) return;
  HealthParams health = *block.config.health;
  const Gap gap = gap_of(block, *block.requests_at_endpoint);
  if (gap.speaks()) health.consecutive_failures = std::numeric_limits<std::uint32_t>::max();
  if (!gap.speaks() && health.consecutive_failures > 1 && gap.streak_fits < NEARLY_ALL) return;
  const auto ejection = exact::ejection(health, {1}, *block.requests_at_endpoint);
  if (!ejection || ejection->mean_s.high == exact::FOREVER) return;
  const double per_s = block.requests_at_endpoint->per_s, lasts_s = ejection->mean_s.high;
  f.numbers.push_back({"failed requests an hour at such an endpoint",
                       HOUR_S * lasts_s * per_s / (lasts_s + wait_s), "requests"});
  f.numbers.push_back({"and without probes, by trials alone",
                       HOUR_S / (static_cast<double>(health.eject_ms) / 1000 + 1 / per_s), "requests"});
}

// A notice, since the project's own defaults do it and a probe that does what users ask for makes it right;
// a warning where probes are known to pass what fails users.
void lint_readmit(const LintBlock& block, LintFindings& out) {
  const ActiveParams& active = *block.config.active_health;
  const double eject_s = static_cast<double>(block.config.health->eject_ms) / 1000;
  const ProbeCycle cycle = cycle_of(block);
  const double mean_s = back_s(cycle, active.success_threshold);
  if (mean_s >= eject_s) return;
  LintFinding f = block.finding(
      "probes-readmit", {"active_health/success_threshold", "active_health/interval_ms", "health/eject_ms"});
  f.level = probes_are_blind(block) ? LintLevel::warning : LintLevel::notice;
  f.sentence = fmt::format(
      "Probes take back what traffic ejects after {} on average, not after {} (eject_ms): an endpoint that "
      "passes its probes and fails its users flaps.",
      time_words(mean_s), length_text(block.config.health->eject_ms * NANOS_PER_MS));
  f.why = fmt::format(
      "{}, {} apart, {}, whatever the traffic said; then it takes a whole streak of failed requests again.",
      plural(active.success_threshold, "passed probe"), length_text(active.interval_ms * NANOS_PER_MS),
      active.success_threshold == 1 ? "re-admits" : "re-admit");
  f.numbers = {{"mean time until probes take it back", mean_s, "s"}};
  add_costs(block, mean_s, f);
  const double enough = std::ceil((eject_s - cycle.residual_s) / cycle.mean_s - 1e-9) + 1;
  f.instead = "A probe that does what users ask for, and then suppress this";
  if (enough <= std::numeric_limits<std::uint32_t>::max()) {
    f.instead += fmt::format("; or success_threshold of at least {}", setting_words(enough));
    f.instead_values = {{block.change("active_health/success_threshold", enough)}};
  }
  f.instead += '.';
  out.push_back(std::move(f));
}

void lint_reset(const LintBlock& block, LintFindings& out) {
  const std::uint32_t streak = block.config.health->consecutive_failures;
  const bool no_streak_rule = streak == std::numeric_limits<std::uint32_t>::max();  // said so
  if (!block.attempts_at_endpoint || streak < 2 || no_streak_rule) return;
  const exact::Arrivals& arrivals = *block.attempts_at_endpoint;
  const Gap gap = gap_of(block, arrivals);
  if (!gap.speaks()) return;
  const double requests = arrivals.poisson ? gap.mean : gap.most;
  LintFinding f =
      block.finding("probes-reset-streak", {"health/consecutive_failures", "active_health/interval_ms"});
  f.sentence = fmt::format(
      "While its probes pass, an endpoint that fails all its users is {} ejected by "
      "consecutive_failures {}.",
      arrivals.poisson ? "hardly ever" : "never", streak);
  f.why = fmt::format(
      "A passed probe ends the streak, and between two of them, at most {} apart, an endpoint gets {} {}; "
      "only the ratio rule, which probes leave alone, is left.",
      time_words(gap.ms / 1000), plural_words(requests, "request"),
      arrivals.poisson ? "on average" : "at most");
  f.numbers = {{"requests between two probes", requests, "requests"},
               {"gaps between probes that a streak fits into", gap.streak_fits, "share"}};
  if (gap.streak_fits > 0)
    f.numbers.push_back({"from one of those to the next, on average", gap.every_s(), "s"});
  const double fits = std::max(1.0, arrivals.poisson ? std::floor(gap.mean) : gap.most);
  f.instead = fmt::format("consecutive_failures of at most {}", setting_words(fits));
  f.instead_values = {{block.change("health/consecutive_failures", fits)}};
  const double interval_ms = std::ceil(streak / arrivals.per_s * 1000 - 1e-6);
  if (interval_ms <= MOST_MS) {
    f.instead += fmt::format(", or interval_ms of at least {}", setting_words(interval_ms));
    f.instead_values.push_back({block.change("active_health/interval_ms", interval_ms)});
  }
  f.instead += '.';
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
    const std::uint64_t jitter_ms = std::max<std::uint64_t>(1, interval_ms / 2);
    f.instead = fmt::format(
        "jitter_ms {} spreads them over half an interval, and makes detection slower by a quarter.",
        jitter_ms);
    std::vector<LintChange>& changes = f.instead_values.emplace_back();
    for (const std::string& pointer : f.pointers) changes.push_back({pointer, std::to_string(jitter_ms)});
    out.push_back(std::move(f));
  }
}

}  // namespace halfopen::sim
