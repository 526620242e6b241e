// Timelines made by hand, so that writers and judges are tested without running a simulation, and what reads
// the writers' texts.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/text_layout.hpp"
#include "sim/timeline.hpp"
#include "sim/utf8.hpp"

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

// So many ejections of the first endpoint, every 100 ms.
inline Timeline busy(std::size_t events) {
  Timeline timeline = brownout();
  timeline.events.clear();
  for (std::size_t i = 0; i < events; ++i) timeline.events.push_back(ejection((i + 1) * 100 * MS));
  return timeline;
}

// `pairs` ejections of the first endpoint, each undone by a late answer 50 ms later, then one that lasts.
inline Timeline restless(std::size_t pairs) {
  Timeline timeline = busy(pairs + 1);
  for (std::size_t i = pairs; i > 0; --i) {
    const auto after = timeline.events.begin() + static_cast<std::ptrdiff_t>(i);
    timeline.events.insert(after, recovery(i * 100 * MS + 50 * MS, Via::late_report));
  }
  return timeline;
}

// A script, reloads, clock steps, probes and fail-open picks on top of the brownout; two upstreams
// whose endpoints appear in turn.
inline Timeline eventful() {
  Timeline timeline = brownout();
  timeline.upstream_names = {"api", "web"};
  timeline.lanes[1].upstream = 1;
  timeline.lanes.push_back(endpoint("10.0.0.3:8080", {{0, timeline.duration, LaneState::healthy, {}}}));
  timeline.faults.push_back({"10.0.0.3:8080",
                             0,
                             "outcomes",
                             Scope::traffic,
                             {{60'000 * MS, timeline.duration, LaneState::active, {}}}});
  timeline.reloads = {20'000 * MS, 61'260 * MS};
  timeline.clock_steps = {{61'260 * MS, -5000}, {90'000 * MS, 1500}};
  timeline.lanes[1].probes = 1200;
  timeline.lanes[1].failed_probes = 3;
  timeline.series.fail_open_picks[31] = 10;
  timeline.series.fail_open_picks[33] = 5;
  timeline.summary.fail_open_picks = 15;
  return timeline;
}

// Names of every kind that is too long, and a question that tries to colour the terminal.
inline Timeline longest_names() {
  Timeline timeline = brownout();
  timeline.name = std::string(200, 'n');
  timeline.question =
      std::string(300, 'q') +
      " \x1b[31m 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字";
  timeline.upstream_names = {std::string(120, 'u'), "漢字"};
  timeline.lanes[0].endpoint = "[2001:0db8:85a3:0000:0000:8a2e:0370:7334]:65535";
  timeline.lanes[1].endpoint = std::string(253, 'h') + ":8080";
  timeline.faults[0].endpoint = timeline.lanes[1].endpoint;
  timeline.faults[0].scope = Scope::traffic;
  timeline.seed = std::numeric_limits<std::uint64_t>::max();
  timeline.events.push_back(opening(70'000 * MS));
  return timeline;
}

// Counts as no run can have them.
inline Timeline largest_numbers() {
  Timeline timeline = busy(100);
  Summary& s = timeline.summary;
  s.requests = s.ok = s.failed = s.attempts = s.failures = s.retries = s.fail_open_picks = 200'000'000'000;
  s.latency_p50_ms = s.latency_p95_ms = 9'999'999'999.123;
  s.breaker_open_ms = 9'999'999'999;
  timeline.lanes[0].total_attempts = timeline.lanes[0].total_failures = 200'000'000'000;
  timeline.events.back().because.volume = timeline.events.back().because.failures = 200'000'000'000;
  timeline.events.back().because.for_ms = 1'000'000'000'000;
  return timeline;
}

// A thousand more upstreams; the breaker of u777 opens.
inline Timeline many_upstreams() {
  Timeline timeline = brownout();
  timeline.events.clear();
  for (std::uint32_t i = 1; i <= 1000; ++i) {
    timeline.upstream_names.push_back("u" + std::to_string(i));
    timeline.lanes.push_back(endpoint("h:1", {{0, timeline.duration, LaneState::healthy, {}}}));
    timeline.lanes.back().upstream = i;
    timeline.breakers.push_back({i, {{0, timeline.duration, LaneState::closed, {}}}});
  }
  timeline.breakers[777].intervals = {{0, 5 * MS, LaneState::closed, {}},
                                      {5 * MS, timeline.duration, LaneState::open, {}}};
  return timeline;
}

// Out all the time but for short trials, several of them in every column.
inline Timeline many_trials() {
  Timeline timeline = brownout();
  auto& intervals = timeline.lanes[0].intervals;
  intervals.clear();
  for (Nanos t = 0; t < timeline.duration; t += 500 * MS) {
    intervals.push_back({t, t + 480 * MS, LaneState::ejected, t + 480 * MS});
    intervals.push_back({t + 480 * MS, t + 500 * MS, LaneState::half_open, {}});
  }
  return timeline;
}

// ---- reading an account ---------------------------------------------------------------------------------

inline std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

inline std::string line_with(const std::string& text, std::string_view part, std::size_t nth = 0) {
  for (const std::string& line : lines(text)) {
    if (line.find(part) != std::string::npos && nth-- == 0) return line;
  }
  return "";
}

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

inline void check_page(const std::string& text) {
  for (const std::string& line : lines(text)) {
    CAPTURE(line);
    CHECK(columns_of(line) <= PAGE_WIDTH);
  }
}

inline std::string without_colour(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\x1b') {
      out += text[at];
      continue;
    }
    while (text[at] != 'm') ++at;
  }
  return out;
}

inline std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t out = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++out;
  return out;
}

}  // namespace halfopen::sim::handmade
