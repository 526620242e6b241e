// Small scenarios made in code, run, and told back as short texts, so that a test reads as a story. Unless a
// test says otherwise: one upstream "api" on port 1, servers that answer 200 after 10 ms, bins of 1 ms, no
// health, no breaker, no retries.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/event.hpp"
#include "sim/event_text.hpp"
#include "sim/scenario.hpp"
#include "sim/simulation.hpp"
#include "sim/timeline.hpp"

namespace halfopen::sim::testing {

inline Nanos ms(double t) { return static_cast<Nanos>(std::llround(t * 1e6)); }

inline UpstreamConfig upstream_over(const std::string& name, const std::string& letters) {
  UpstreamConfig config;
  config.name = name;
  for (const char letter : letters) config.endpoints.push_back({std::string(1, letter), 1, 1});
  return config;
}

inline void add_server(Scenario& scenario, char letter) {
  ServerModel model;
  model.name = std::string(1, letter) + ":1";
  model.latency = FixedLatency{10};
  scenario.servers.push_back(model);
}

inline Scenario scenario_over(const std::string& letters, double duration_ms) {
  Scenario scenario;
  scenario.duration = ms(duration_ms);
  scenario.sample = ms(1);
  scenario.upstreams.push_back(upstream_over("api", letters));
  for (const char letter : letters) add_server(scenario, letter);
  return scenario;
}

inline ServerModel& server(Scenario& scenario, char letter) {
  for (ServerModel& model : scenario.servers) {
    if (model.name[0] == letter) return model;
  }
  return scenario.servers.at(scenario.servers.size());  // throws
}

inline UpstreamConfig& api(Scenario& scenario) { return scenario.upstreams[0]; }

inline constexpr double TO_THE_END = -1;

inline void add_fault(ServerModel& model, const FaultKind& kind, double from_ms = 0,
                      double to_ms = TO_THE_END, Scope scope = Scope::both) {
  Fault& fault = model.faults.emplace_back();
  fault.number = static_cast<std::uint32_t>(model.faults.size() - 1);
  fault.from = ms(from_ms);
  if (to_ms >= 0) fault.to = ms(to_ms);
  fault.scope = scope;
  fault.kind = kind;
}

inline OutcomesFault script(const std::vector<std::uint16_t>& statuses) {
  OutcomesFault fault;
  for (const std::uint16_t status : statuses) fault.list.push_back({status});
  return fault;
}

inline Traffic& requests_at(Scenario& scenario, const std::vector<double>& at_ms,
                            const std::string& upstream = "api") {
  ArrivalTimes times;
  for (const double at : at_ms) times.at.push_back(ms(at));
  Traffic traffic;
  traffic.upstream = upstream;
  traffic.source = times;
  scenario.traffic.push_back(traffic);
  return scenario.traffic.back();
}

inline Traffic& requests_every(Scenario& scenario, double every_ms, double from_ms = 0,
                               double to_ms = TO_THE_END) {
  Traffic traffic;
  traffic.upstream = "api";
  traffic.source = ArrivalEvery{ms(every_ms)};
  traffic.from = ms(from_ms);
  if (to_ms >= 0) traffic.to = ms(to_ms);
  scenario.traffic.push_back(traffic);
  return scenario.traffic.back();
}

// A reload, in order of time, that begins as a copy of what stood before.
inline std::vector<UpstreamConfig>& reload_at(Scenario& scenario, double at_ms) {
  const auto& before = scenario.reloads.empty() ? scenario.upstreams : scenario.reloads.back().upstreams;
  scenario.reloads.push_back({ms(at_ms), std::vector<UpstreamConfig>(before)});
  return scenario.reloads.back().upstreams;
}

inline HealthParams eject_after(std::uint32_t failures, std::uint64_t eject_ms = 100'000) {
  HealthParams health;
  health.consecutive_failures = failures;
  health.eject_ms = eject_ms;
  return health;
}

inline BreakerParams open_after(std::uint32_t failures, std::uint64_t open_ms = 100'000) {
  BreakerParams breaker;
  breaker.consecutive_failures = failures;
  breaker.open_ms = open_ms;
  return breaker;
}

// Retries that come in the instant of the answer and that the budget grants as often as asked.
inline RetryParams retry_at_once(std::uint32_t attempts) {
  RetryParams retries;
  retries.attempts = attempts;
  retries.backoff_base_ms = retries.backoff_cap_ms = 0;
  retries.budget_percent = 10'000;
  return retries;
}

inline ActiveParams probe_every(std::uint64_t interval_ms, std::uint64_t timeout_ms = 50) {
  ActiveParams active;
  active.interval_ms = interval_ms;
  active.timeout_ms = timeout_ms;
  active.jitter_ms = 0;
  active.failure_threshold = active.success_threshold = 1;
  return active;
}

// "12" for 12 ms, "12.5" for 12.5 ms.
inline std::string time_text(Nanos t) {
  std::string text = std::to_string(t / NANOS_PER_MS);
  if (t % NANOS_PER_MS == 0) return text;
  std::string part = std::to_string(NANOS_PER_MS + t % NANOS_PER_MS).substr(1);
  while (part.back() == '0') part.pop_back();
  return text + "." + part;
}

// The bins of a column, each as often as it counts there: "10 10 25".
inline std::string when(const std::vector<std::uint64_t>& column) {
  std::string text;
  for (std::size_t bin = 0; bin < column.size(); ++bin) {
    for (std::uint64_t n = 0; n < column[bin]; ++n) text += (text.empty() ? "" : " ") + std::to_string(bin);
  }
  return text;
}

// "12 a:1 endpoint_ejected consecutive_failures, 40 api breaker_opened error_ratio".
inline std::string events_of(const Timeline& timeline) {
  std::string text;
  for (const TimelineEvent& event : timeline.events) {
    text += (text.empty() ? "" : ", ") + time_text(event.t) + " ";
    text += event.endpoint < 0 ? timeline.upstream_names[event.upstream]
                               : timeline.lanes[static_cast<std::size_t>(event.endpoint)].endpoint;
    text += std::string(" ") + to_string(event.type);
    if (event.rule != Rule::none) text += std::string(" ") + to_string(event.rule);
    if (event.via != Via::none) text += std::string(" ") + to_string(event.via);
  }
  return text;
}

// "0-12 healthy, 12-100 ejected".
inline std::string lane_text(const std::vector<Interval>& intervals) {
  std::string text;
  for (const Interval& interval : intervals) {
    text += (text.empty() ? "" : ", ") + time_text(interval.from) + "-" + time_text(interval.to) + " ";
    text += lane_state_name(interval.state);
  }
  return text;
}

inline const EndpointLane& lane(const Timeline& timeline, char letter) {
  for (const EndpointLane& candidate : timeline.lanes) {
    if (candidate.endpoint[0] == letter) return candidate;
  }
  return timeline.lanes.at(timeline.lanes.size());  // throws
}

}  // namespace halfopen::sim::testing
