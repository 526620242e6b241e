#include "sim/lint.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "sim/analysis_inputs.hpp"
#include "sim/analysis_words.hpp"
#include "sim/lint_parts.hpp"
#include "sim/number_format.hpp"

namespace halfopen::sim {

namespace {

constexpr std::array<LintRule, 12> RULES{{
    {"ratio-never-first", LintLevel::warning,
     "The ratio rule of health or breaker can't act before the streak rule does: so many failures don't fit "
     "without a whole streak among them, or, at exactly that ratio of independent failures, a streak comes "
     "before the minimum volume in all but 1 of 1,000 cases. A ratio of 1 and a streak of 1 are taken as "
     "meant.",
     "scenarios/lint-ratio-never-first.json"},
    {"ratio-one-is-not-off", LintLevel::notice,
     "A ratio of 1 in health or breaker beside a streak longer than the minimum volume: failures alone in "
     "the window have a share of 1, so the ratio rule acts, and before the streak does.",
     "scenarios/lint-ratio-one-is-not-off.json"},
    {"volume-out-of-reach", LintLevel::warning,
     "The window of health or breaker never holds the minimum volume at the peak of the traffic, or, with "
     "requests at random times, for fewer than 1 % of them and less than once an hour: the ratio rule does "
     "not act. A volume of 4294967295 is taken as switched off.",
     "scenarios/low-volume.json"},
    {"false-ejections", LintLevel::warning,
     "A healthy endpoint is ejected, or the breaker opens above healthy endpoints, by chance alone: after "
     "less than an hour on average, or after 1 % of all starts and returns, before the window is full.",
     "scenarios/lint-false-ejections.json"},
    {"breaker-opens-first", LintLevel::warning,
     "One bad endpoint opens the breaker, and shuts out everybody, no later than the ejection comes that "
     "would "
     "have helped.",
     "scenarios/lint-breaker-opens-first.json"},
    {"eject-shorter-than-timeout", LintLevel::warning,
     "An ejection is over before attempts from before it have timed out, and late reports count.",
     "scenarios/lint-eject-shorter-than-timeout.json"},
    {"pool-of-one", LintLevel::warning,
     "Ejections for an upstream of one endpoint, which no reload adds to: with nobody else left, it goes on "
     "serving.",
     "scenarios/only-endpoint-fails.json"},
    {"pool-without-spare", LintLevel::warning,
     "Where the servers' capacities are known: without one endpoint, the others have more to do than they "
     "can.",
     "scenarios/capacity-cascade.json"},
    {"probes-readmit", LintLevel::notice,
     "Probes that pass take an endpoint back, on average, before eject_ms is over: one that fails its users "
     "and passes its probes flaps. A warning where probes are known to pass then: they only connect (tcp), "
     "or the scenario has a fault with scope traffic.",
     "scenarios/gray-failure.json"},
    {"probes-reset-streak", LintLevel::warning,
     "So few requests come to an endpoint between two probes that passed ones end every streak: all its "
     "users "
     "may fail, and the streak rule does not act.",
     "scenarios/gray-failure.json"},
    {"probes-in-lockstep", LintLevel::warning,
     "With jitter_ms 0, 5 or more probe loops of the same interval meet at one endpoint: those of the file's "
     "upstreams, times --balancers.",
     "scenarios/probes-in-lockstep.json"},
    {"retries-double-load", LintLevel::warning,
     "When everything fails, or with a breaker as much as it lets pass, retries at least double the "
     "attempts.",
     "scenarios/lint-retries-double-load.json"},
}};

double largest_share(const UpstreamConfig& config) {
  double sum = 0, most = 0;
  for (const EndpointConfig& endpoint : config.endpoints) {
    sum += endpoint.weight;
    most = std::max(most, static_cast<double>(endpoint.weight));
  }
  return most / sum;
}

void add_rates(LintBlock& block) {
  const UpstreamConfig& config = block.config;
  const RateFound rate = rate_of(block.scenario, config.name);
  if (!rate.per_s) return;
  const bool even = rate.evenly_spaced;
  const bool by_weight =
      config.load_balancer == Algorithm::round_robin || config.load_balancer == Algorithm::ip_hash;
  const double share = by_weight ? largest_share(config) : 1 / block.endpoints();
  block.requests = {*rate.per_s, !even};
  block.requests_at_endpoint = {*rate.per_s * share, !(even && takes_turns(config))};
  const double more = attempts_per_request(config.retries, 1);
  block.attempts = block.requests;
  block.attempts_at_endpoint = block.requests_at_endpoint;
  for (auto* arrivals : {&block.attempts, &block.attempts_at_endpoint}) {
    (*arrivals)->per_s *= more;
    (*arrivals)->poisson = (*arrivals)->poisson || more > 1;
  }
}

std::size_t place_of_rule(const std::string& id) {
  return static_cast<std::size_t>(find_lint_rule(id) - RULES.data());
}

}  // namespace

std::span<const LintRule> lint_rules() { return RULES; }

const LintRule* find_lint_rule(std::string_view id) {
  const auto* const found =
      std::find_if(RULES.begin(), RULES.end(), [&](const LintRule& rule) { return rule.id == id; });
  return found == RULES.end() ? nullptr : found;
}

std::string plural_words(double count, std::string_view noun) {
  return fmt::format("{} {}{}", number_words(count), noun, count == 1 ? "" : "s");
}

std::string_view lint_level_name(LintLevel level) {
  return level == LintLevel::warning ? "warning" : "notice";
}

std::string setting_words(double value) {
  std::string out;
  append_double(out, value);
  return out;
}

double attempts_per_request(const RetryParams& retries, double p) {
  if (!retries.retry_transport && retries.retry_statuses.none()) return 1;
  double more = 0, chance = 1;
  for (std::uint32_t n = 0; n < retries.attempts; ++n) more += chance *= p;
  return 1 + std::min(more, static_cast<double>(retries.budget_percent) / 100);
}

LintChange LintBlock::change(std::string_view key, double value) const {
  return {at(key), setting_words(value)};
}

LintFinding LintBlock::finding(std::string_view id, std::vector<std::string> keys) const {
  LintFinding out;
  out.id = id;
  out.upstream = config.name;
  const LintRule& rule = *find_lint_rule(id);
  out.level = rule.level;
  out.shown_by = rule.shown_by;
  for (const std::string& key : keys) out.pointers.push_back(at(key));
  return out;
}

std::vector<LintFinding> lint(const Scenario& scenario, const LintOptions& options) {
  LintFindings out;
  for (std::size_t n = 0; n < scenario.upstreams.size(); ++n) {
    LintBlock block{scenario, options, scenario.upstreams[n], fmt::format("/upstreams/{}", n), {}, {},
                    {},       {}};
    if (block.config.endpoints.empty()) continue;
    add_rates(block);
    lint_thresholds(block, out);
    lint_breaker(block, out);
    lint_ejection(block, out);
    lint_probes(block, out);
    lint_retries(block, out);
  }
  lint_lockstep(scenario, options, out);
  std::map<std::string_view, std::size_t> upstreams;
  for (const UpstreamConfig& config : scenario.upstreams) upstreams.emplace(config.name, upstreams.size());
  std::stable_sort(out.begin(), out.end(), [&](const LintFinding& a, const LintFinding& b) {
    const std::size_t at = upstreams.at(a.upstream), other = upstreams.at(b.upstream);
    return at != other ? at < other : place_of_rule(a.id) < place_of_rule(b.id);
  });
  return out;
}

}  // namespace halfopen::sim
