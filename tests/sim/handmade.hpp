// Timelines made by hand, so that writers and judges are tested without running a simulation.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/timeline.hpp"

namespace halfopen::sim::handmade {

inline constexpr Nanos MS = NANOS_PER_MS;

// An ejection as the specification's example has it.
inline TimelineEvent ejection(Nanos t = 31250 * MS + 750'000, std::int32_t endpoint = 0) {
  TimelineEvent event;
  event.t = t;
  event.type = EventType::endpoint_ejected;
  event.rule = Rule::failure_ratio;
  event.endpoint = endpoint;
  event.because.streak = 2;
  event.because.threshold = 5;
  event.because.volume = 42;
  event.because.failures = 21;
  event.because.limit = 0.5;
  event.because.min_volume = 20;
  event.because.for_ms = 30000;
  return event;
}

inline TimelineEvent half_open(Nanos t, std::int32_t endpoint = 0, std::uint32_t slots = 1) {
  TimelineEvent event;
  event.t = t;
  event.type = endpoint < 0 ? EventType::breaker_half_open : EventType::endpoint_half_open;
  event.endpoint = endpoint;
  event.because.slots = slots;
  return event;
}

inline TimelineEvent recovery(Nanos t, Via via, std::int32_t endpoint = 0) {
  TimelineEvent event;
  event.t = t;
  event.type = EventType::endpoint_recovered;
  event.via = via;
  event.endpoint = endpoint;
  event.because.streak = 1;
  event.because.volume = 3;
  event.because.failures = 2;
  event.because.successes = 2;
  event.because.threshold = 2;
  return event;
}

inline TimelineEvent opening(Nanos t, Rule rule = Rule::consecutive_failures) {
  TimelineEvent event = ejection(t, -1);
  event.type = EventType::breaker_opened;
  event.rule = rule;
  event.because.streak = 5;
  return event;
}

inline TimelineEvent closing(Nanos t) {
  TimelineEvent event;
  event.t = t;
  event.type = EventType::breaker_closed;
  event.endpoint = -1;
  event.because.volume = 60;
  event.because.failures = 30;
  return event;
}

inline void fill_series(Timeline& timeline, std::uint64_t rate, std::size_t bad_from, std::size_t bad_to) {
  const auto bins = static_cast<std::size_t>((timeline.duration + timeline.sample - 1) / timeline.sample);
  Series& series = timeline.series;
  for (std::size_t i = 0; i < bins; ++i) {
    const bool bad = i >= bad_from && i < bad_to;
    series.requests.push_back(rate + i % 7);
    series.failed.push_back(bad ? rate / 7 : 0);
    series.ok.push_back(rate + i % 7 - series.failed.back());
    series.latency_p50_ms.push_back(20.125);
    series.latency_p95_ms.push_back(bad ? 140 : 80.5);
    series.latency_p99_ms.push_back(i == 0 ? std::numeric_limits<double>::quiet_NaN() : 120);
  }
  series.fast_failed.assign(bins, 0);
  series.retried.assign(bins, 1);
  series.fail_open_picks.assign(bins, 0);
  series.in_flight.assign(bins, 25);
  for (EndpointLane& lane : timeline.lanes) {
    lane.attempts.assign(bins, rate / 4);
    lane.failures.assign(bins, 0);
    lane.state.assign(bins, static_cast<std::int8_t>(LaneState::healthy));
  }
}

inline EndpointLane endpoint(std::string name, std::vector<Interval> intervals) {
  EndpointLane lane;
  lane.endpoint = std::move(name);
  lane.intervals = std::move(intervals);
  lane.total_attempts = 29'731;
  return lane;
}

// Two endpoints and a breaker over two minutes: the first is ejected at 31.25075 s, tried at 61.26 s, back
// at 61.3 s.
inline Timeline brownout() {
  Timeline timeline;
  timeline.name = "brownout";
  timeline.question = "Does the ratio rule catch a 60 % brownout before the streak rule, and at what cost?";
  timeline.seed = 7;
  timeline.digest = 0xABC;
  timeline.duration = 120'000 * MS;
  timeline.sample = 1000 * MS;
  timeline.upstream_names = {"api"};
  timeline.events = {ejection(), half_open(61'260 * MS), recovery(61'300 * MS, Via::half_open_probe)};
  const Nanos out = timeline.events[0].t;
  timeline.lanes = {
      endpoint("10.0.0.1:8080", {{0, out, LaneState::healthy, {}},
                                 {out, 61'260 * MS, LaneState::ejected, out + 30'000 * MS},
                                 {61'260 * MS, 61'300 * MS, LaneState::half_open, {}},
                                 {61'300 * MS, timeline.duration, LaneState::healthy, {}}}),
      endpoint("10.0.0.2:8080", {{0, timeline.duration, LaneState::healthy, {}}}),
  };
  timeline.lanes[0].total_failures = 312;
  timeline.lanes[0].ejections = 1;
  timeline.breakers = {{0, {{0, timeline.duration, LaneState::closed, {}}}}};
  timeline.faults = {
      {"10.0.0.1:8080", 0, "error", Scope::both, {{30'000 * MS, 60'000 * MS, LaneState::active, {}}}}};
  fill_series(timeline, 1000, 30, 32);
  timeline.summary.requests = 120'000;
  timeline.summary.ok = 119'700;
  timeline.summary.failed = 300;
  timeline.summary.attempts = 120'000;
  timeline.summary.failures = 312;
  timeline.summary.ejections = 1;
  timeline.summary.success_ratio = 0.9975;
  timeline.summary.attempts_per_request = 1;
  timeline.summary.latency_p50_ms = 20.125;
  timeline.summary.latency_p95_ms = 80.5;
  return timeline;
}

}  // namespace halfopen::sim::handmade
