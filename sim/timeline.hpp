// What a run leaves behind: plain columns and lists, filled by simulation, written by writers, judged by
// expectations. Times are virtual nanoseconds; every list is in the order in which things happened.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/event.hpp"
#include "sim/latency_histogram.hpp"
#include "sim/scenario.hpp"

namespace halfopen::sim {

// Whether an ejection was right, which only the simulation knows. Not part of the event as written.
enum class EjectionTruth : std::uint8_t { fault, overload, nothing };

struct TimelineEvent {
  Nanos t = 0;
  EventType type = EventType::endpoint_ejected;
  Rule rule = Rule::none;
  Via via = Via::none;
  std::uint32_t upstream = 0;  // index into Timeline::upstream_names
  std::int32_t endpoint = -1;  // index into Timeline::lanes; -1 for a breaker's
  Because because;
  EjectionTruth truth = EjectionTruth::fault;  // of an ejection: what its triggering attempt or probe had met
};

enum class LaneState : std::uint8_t { healthy, ejected, half_open, closed, open, breaker_half_open, active };

// [from, to) of virtual time; the last one of a lane ends with the run or with its endpoint's removal.
struct Interval {
  Nanos from = 0, to = 0;
  LaneState state = LaneState::healthy;
  std::optional<Nanos> eligible;  // ejected: from when a pick may make it half-open
};

// One endpoint of one upstream, over all its generations; gaps are times when it was not configured.
struct EndpointLane {
  std::uint32_t upstream = 0;
  std::string endpoint;
  std::vector<Interval> intervals;
  std::vector<std::uint64_t> attempts, failures;  // per bin
  std::vector<std::int8_t> state;                 // LaneState at the bin's end; -1: not configured
  std::uint64_t total_attempts = 0, total_failures = 0, ejections = 0;
  std::uint64_t probes = 0, failed_probes = 0;  // with a verdict
};

struct BreakerLane {
  std::uint32_t upstream = 0;
  std::vector<Interval> intervals;
};

struct FaultLane {
  std::string endpoint;
  std::uint32_t fault = 0;  // the <n> of its stream
  std::string kind;         // "error", "down", "flap", …
  Scope scope = Scope::both;
  // State is LaneState::active. A flap shows its down phases, bursts the bad ones, cold_start its warm-ups.
  std::vector<Interval> intervals;
  bool failing = false;  // a failing fault, see truth.hpp; not written
};

// A failing fault and one endpoint of an upstream that it hits: how long until it was put out, at what cost.
struct Detection {
  std::uint32_t lane = 0;        // index into Timeline::lanes
  Nanos from = 0, to = 0;        // of the fault, within the run
  bool ends = false;             // the fault ended before the run did
  std::optional<Nanos> ejected;  // its first ejection while the fault was active
  std::uint64_t before = 0;      // attempts on the lane, of the whole run, until that ejection
  std::uint64_t lost = 0;        // failed attempts dispatched to it from `from` until then, or until `to`
  std::uint32_t fault = 0;       // index into Timeline::faults
  // A flap, bursts or a script is at work only at times: of it, only an ejection whose trigger met a failing
  // fault is a detection.
  bool at_times = false;
};

// One value per bin; `bins` values in each column. Percentiles are NaN where the bin has no ok request.
struct Series {
  std::vector<std::uint64_t> requests, ok, failed, fast_failed, retried, fail_open_picks, in_flight;
  std::vector<double> latency_p50_ms, latency_p95_ms, latency_p99_ms;
};

struct Summary {
  std::uint64_t requests = 0, ok = 0, failed = 0, fast_failed = 0, unfinished = 0, abandoned = 0;
  std::uint64_t admitted = 0;  // requests whose first attempt was admitted (not a metric of its own)
  std::uint64_t attempts = 0, failures = 0;
  std::uint64_t fail_open_picks = 0, late_reports_ignored = 0, ejections = 0, breaker_openings = 0;
  std::uint64_t retries = 0, retries_denied = 0;
  double breaker_open_ms = 0;
  // NaN where nothing was counted.
  double success_ratio = std::numeric_limits<double>::quiet_NaN();
  double attempts_per_request = std::numeric_limits<double>::quiet_NaN();
  double latency_p50_ms = std::numeric_limits<double>::quiet_NaN();
  double latency_p95_ms = std::numeric_limits<double>::quiet_NaN();
  double latency_p99_ms = std::numeric_limits<double>::quiet_NaN();
};

// What had been counted when virtual time reached `at`, before anything of that instant: a window of a metric
// is the difference of two. Only where an expectation of the scenario asks for it.
struct CountMark {
  struct Endpoint {
    std::uint64_t attempts = 0, failures = 0;
  };
  Nanos at = 0;
  Summary counts;  // its counts alone, without `unfinished` and those of events
  LatencyHistogram latency;
  std::map<std::string, Endpoint> endpoints;  // that a window from or to here asks about; of all upstreams
};

struct Timeline {
  std::string name, question;
  std::uint64_t seed = 1, digest = 0;
  Nanos duration = 0, sample = 0;
  std::vector<std::string> upstream_names;  // every upstream of every generation, by first appearance
  std::vector<TimelineEvent> events;
  std::vector<EndpointLane> lanes;  // by first appearance
  std::vector<BreakerLane> breakers;
  std::vector<FaultLane> faults;
  std::vector<Detection> detections;   // not written: the truth metrics are made of them
  std::vector<CountMark> marks;        // not written either; by time
  std::vector<Nanos> reloads;          // when; they emit nothing themselves
  std::vector<ClockStep> clock_steps;  // those that the machines' clock obeyed
  Series series;
  Summary summary;
};

}  // namespace halfopen::sim
