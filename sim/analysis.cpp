#include "sim/analysis.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "sim/analysis_inputs.hpp"
#include "sim/analysis_words.hpp"
#include "sim/text_layout.hpp"

namespace halfopen::sim {

namespace {

using exact::Arrivals;
using exact::FailureTurns;
constexpr double HOUR_S = 3600;

// From the cycle of what it is asked of: an endpoint alone, one of several, a breaker.
using CycleOf = std::function<exact::Answer<exact::Cycle>(const exact::Ejection&, double p)>;

CycleOf endpoint_cycle(const UpstreamConfig& config) {
  const std::uint64_t out_ms = config.health->eject_ms;
  if (config.endpoints.size() == 1)
    return [out_ms](const exact::Ejection& e, double p) { return exact::cycle_alone(e, p, out_ms); };
  return [out_ms](const exact::Ejection& e, double p) {
    return exact::cycle(e, p, out_ms, exact::wait_among_others(e.arrivals));
  };
}
CycleOf breaker_cycle(const BreakerParams& breaker) {
  return [out_ms = breaker.open_ms](const exact::Ejection& e, double p) {
    return exact::cycle(e, p, out_ms, exact::wait_of_own_stream(e.arrivals, out_ms));
  };
}

RuleAnalysis rule_analysis(const HealthParams& rule, double p, const Arrivals& arrivals,
                           const CycleOf& cycle) {
  RuleAnalysis out;
  out.ejection = exact::ejection(rule, {p}, arrivals);
  out.cycle =
      out.ejection ? cycle(*out.ejection, p) : exact::Answer<exact::Cycle>::refused(out.ejection.refusal);
  return out;
}

RuleAnalysis turned_sick(const HealthParams& rule, double sick, double healthy, const Arrivals& arrivals,
                         const CycleOf& cycle) {
  RuleAnalysis out = rule_analysis(rule, sick, arrivals, cycle);
  if (out.ejection) out.onset = exact::onset(*out.ejection, rule, {sick}, healthy);
  return out;
}

// What a breaker sees of endpoints that take turns, one of them sick. Whose turn is first is not known: that
// is a round more or less.
RuleAnalysis one_sick_in_turns(const HealthParams& rule, const FailureTurns& turns, double healthy,
                               const Arrivals& arrivals) {
  RuleAnalysis out;
  out.ejection = exact::ejection(rule, turns, arrivals);
  if (!out.ejection) return out;
  out.onset = exact::onset(*out.ejection, rule, turns, healthy);
  out.cycle = exact::Answer<exact::Cycle>::refused("a trial's answer depends on whose turn it is");
  exact::Ejection& e = *out.ejection.value;
  const auto others = static_cast<double>(turns.size() - 1);
  // Poisson: so many take longer than this once in a thousand times at most.
  const double round_s = (arrivals.poisson ? others + 4 * std::sqrt(others) + 4 : others) / arrivals.per_s;
  const auto widen = [&](exact::Bounds& bounds) {
    bounds = {std::max(0.0, bounds.low - round_s), bounds.high + round_s};
  };
  e.in_an_hour = {exact::ejected_by(e, std::max(0.0, HOUR_S - round_s)).low,
                  exact::ejected_by(e, HOUR_S + round_s).high};
  for (exact::Bounds* const bounds : {&e.mean_s, &e.median_s, &e.within_95_s}) widen(*bounds);
  e.bound = e.bound == "exact" ? "turns" : e.bound + ", turns";
  if (!out.onset) return out;
  for (exact::Bounds* const bounds : {&out.onset.value->median_s, &out.onset.value->within_95_s})
    widen(*bounds);
  out.onset.value->bound += ", turns";
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
    const CycleOf cycle = endpoint_cycle(config);
    out.healthy_endpoint = rule_analysis(*config.health, healthy, out.at_endpoint, cycle);
    out.sick_endpoint = turned_sick(*config.health, sick, healthy, out.at_endpoint, cycle);
    const exact::PoolQuestion pool{*config.health, static_cast<std::uint32_t>(config.endpoints.size()),
                                   out.at_upstream};
    const auto& well = out.healthy_endpoint->ejection;
    const auto& ill = out.sick_endpoint->ejection;
    out.healthy_pool = well ? exact::pool_healthy(pool, *well, healthy)
                            : exact::Answer<exact::PoolHealthy>::refused(well.refusal);
    out.sick_pool = ill ? exact::pool_sick(pool, *ill, sick, healthy)
                        : exact::Answer<exact::PoolSick>::refused(ill.refusal);
  }
  if (!config.breaker) return;
  const HealthParams rule = exact::rule_of(*config.breaker);
  const CycleOf cycle = breaker_cycle(*config.breaker);
  out.breaker.emplace();
  out.breaker->all_healthy = rule_analysis(rule, healthy, out.at_upstream, cycle);
  const FailureTurns turns = one_sick(out.config, healthy, sick);
  out.breaker->one_sick = turns.size() > 1
                              ? one_sick_in_turns(rule, turns, healthy, out.at_upstream)
                              : turned_sick(rule, turns.front(), healthy, out.at_upstream, cycle);
  out.breaker->all_sick = turned_sick(rule, sick, healthy, out.at_upstream, cycle);
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

void add_notes(UpstreamAnalysis& out, const Scenario& scenario, const Latencies& latencies) {
  const double latency_ms = latencies.mean_ms;
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
  if (latencies.too_late > 0) {
    out.notes.push_back(fmt::format(
        "{} of the answers take longer than read_ms {} without any fault, and fail: add them by "
        "--healthy-error-ratio, they are not among the {} errors of a healthy endpoint.",
        chance_words(latencies.too_late), *config.timeouts.read_ms, chance_words(out.healthy.value)));
  }
  if (!equal_weights(config))
    out.notes.push_back("The endpoints' weights differ; each is taken to have an equal share.");
  if (config.load_balancer == Algorithm::ip_hash) {
    out.notes.push_back(
        "ip_hash sends each client to one endpoint; each endpoint is taken to get an equal share.");
  }
  if (config.slow_start_ms > 0)
    out.notes.push_back("slow_start_ms is not counted: an endpoint that a reload adds gets less at first.");
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
  const Latencies latencies = latencies_of(scenario, config);
  if (config.active_health) add_probes(out, latencies.mean_ms);
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
  add_notes(out, scenario, latencies);
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
