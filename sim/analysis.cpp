#include "sim/analysis.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "sim/analysis_inputs.hpp"
#include "sim/text_layout.hpp"

namespace halfopen::sim {

namespace {

using exact::Arrivals;
using exact::FailureTurns;

RuleAnalysis rule_analysis(const HealthParams& rule, const FailureTurns& turns, const Arrivals& arrivals) {
  RuleAnalysis out;
  out.ejection = exact::ejection(rule, turns, arrivals);
  out.cycle = out.ejection ? exact::cycle(*out.ejection, turns, rule.eject_ms)
                           : exact::Answer<exact::Cycle>::refused(out.ejection.refusal);
  return out;
}

RuleAnalysis turned_sick(const HealthParams& rule, const FailureTurns& turns, double healthy,
                         const Arrivals& arrivals) {
  RuleAnalysis out = rule_analysis(rule, turns, arrivals);
  if (out.ejection) out.onset = exact::onset(*out.ejection, rule, turns, healthy);
  return out;
}

Input chosen(const std::optional<double>& option, const char* name, const std::optional<double>& found,
             const char* where, double assumed) {
  if (option) return {*option, name};
  if (found) return {*found, where};
  return {assumed, "assumed"};
}

void add_rules(UpstreamAnalysis& out) {
  const UpstreamConfig& config = out.config;
  const double healthy = out.healthy.value, sick = out.sick.value;
  if (config.health) {
    out.healthy_endpoint = rule_analysis(*config.health, {healthy}, out.at_endpoint);
    out.sick_endpoint = turned_sick(*config.health, {sick}, healthy, out.at_endpoint);
    const exact::PoolQuestion pool{*config.health, static_cast<std::uint32_t>(config.endpoints.size()),
                                   out.at_upstream};
    out.healthy_pool = exact::pool_healthy(pool, healthy);
    out.sick_pool = exact::pool_sick(pool, sick, healthy);
  }
  if (!config.breaker) return;
  const HealthParams rule = exact::rule_of(*config.breaker);
  out.breaker.emplace();
  out.breaker->all_healthy = rule_analysis(rule, {healthy}, out.at_upstream);
  out.breaker->one_sick = turned_sick(rule, one_sick(out.config, healthy, sick), healthy, out.at_upstream);
  out.breaker->all_sick = turned_sick(rule, {sick}, healthy, out.at_upstream);
}

// Dead: each probe fails, and takes its whole time limit.
void add_probes(UpstreamAnalysis& out, double latency_ms) {
  const ActiveParams& active = *out.config.active_health;
  const auto limit = static_cast<double>(active.timeout_ms);
  const double passing = active.kind == ProbeKind::tcp ? 0 : std::min(latency_ms, limit);
  out.probes.emplace();
  out.probes->verdict_ms = limit;
  out.probes->detect =
      exact::probe_wait({active.interval_ms, active.jitter_ms, active.failure_threshold, 1, limit, passing});
  out.probes->readmit =
      exact::probe_wait({active.interval_ms, active.jitter_ms, active.success_threshold, 1, passing, limit});
}

void add_notes(UpstreamAnalysis& out, const Scenario& scenario, double latency_ms) {
  const UpstreamConfig& config = out.config;
  const double in_flight = out.at_endpoint.per_s * latency_ms / 1000;
  if (config.health && in_flight > 0.5) {
    out.notes.push_back(
        fmt::format("{} requests are in flight to an endpoint on average ({} ms each): answers that come "
                    "after an ejection {}; "
                    "the answers above are for answers that come at once.",
                    decimal(in_flight, 1), decimal(latency_ms, 1),
                    config.late_reports == LateReports::count
                        ? "still count, and a success among them takes it back early"
                        : "are ignored"));
  }
  if (!equal_weights(config))
    out.notes.push_back("The endpoints' weights differ; each is taken to have an equal share.");
  if (out.at_endpoint.poisson && config.load_balancer == Algorithm::round_robin &&
      config.endpoints.size() > 1) {
    out.notes.push_back(
        "Requests at one endpoint are taken as Poisson; round robin spreads them a little more evenly.");
  }
  const bool by_load =
      config.load_balancer == Algorithm::random || config.load_balancer == Algorithm::least_requests;
  if (by_load && config.endpoints.size() > 1 && in_flight < 2) {
    out.notes.push_back(fmt::format(
        "With so few requests in flight many picks of {} are ties, which go to the endpoint that "
        "comes first in the file: the first ones get more than the equal share that is taken here.",
        to_string(config.load_balancer)));
  }
  if (config.retries.attempts > 0)
    out.notes.push_back("Retries are not counted: they add attempts while endpoints fail.");
  if (config.health && config.active_health) {
    out.notes.push_back(
        "Traffic and probes are each analysed alone; together, each can end the other's streak.");
  }
  if (config.breaker && config.health)
    out.notes.push_back("Pool and breaker are each analysed alone; an open breaker sends a pool nothing.");
  if (!scenario.reloads.empty())
    out.notes.push_back("The settings are those of the start; reloads are not analysed.");
}

UpstreamAnalysis upstream_analysis(const Scenario& scenario, const UpstreamConfig& config,
                                   const AnalysisOptions& options) {
  UpstreamAnalysis out;
  out.config = config;
  const RateFound rate = rate_of(scenario, config.name);
  out.healthy = chosen(options.healthy_error_ratio, "--healthy-error-ratio",
                       lasting_failures(scenario, config), "its lasting faults", ASSUMED_HEALTHY);
  out.sick = chosen(options.sick_error_ratio, "--sick-error-ratio", worst_failures(scenario, config),
                    "its worst fault", ASSUMED_SICK);
  const double latency_ms = mean_latency_ms(scenario, config);
  if (config.active_health) add_probes(out, latency_ms);
  if (!rate.per_s && !options.rate_rps) {
    out.no_rate = rate.why_not;
    return out;
  }
  out.rate_rps =
      options.rate_rps ? Input{*options.rate_rps, "--rate-rps"} : Input{*rate.per_s, "its traffic"};
  const bool even = rate.evenly_spaced && takes_turns(config);
  out.at_upstream = {out.rate_rps.value, !rate.evenly_spaced};
  out.at_endpoint = {out.rate_rps.value / static_cast<double>(config.endpoints.size()), !even};
  add_rules(out);
  add_notes(out, scenario, latency_ms);
  return out;
}

}  // namespace

Analysis analyze(const Scenario& scenario, const AnalysisOptions& options) {
  Analysis out;
  out.name = scenario.name;
  for (const UpstreamConfig& config : scenario.upstreams) {
    out.upstreams.push_back(upstream_analysis(scenario, config, options));
  }
  return out;
}

}  // namespace halfopen::sim
