// The pieces that the writer of traces is made of: events by the rules of their format, and which process and
// thread everything is shown on.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/timeline.hpp"
#include "sim/trace_recorder.hpp"
#include "sim/writer_parts.hpp"

namespace halfopen::sim {

// Process ids begin with 1. Thread ids are unique over the whole trace and greater than every process id,
// because a thread whose id is its process's would be taken for its main thread.
struct TracePlace {
  std::uint32_t pid = 0, tid = 0;  // tid 0: the process itself
};

class TraceEvents {
 public:
  explicit TraceEvents(std::string& out) : out_(out) {}

  // The members that every event has but metadata, which has no time. The caller adds others and closes it.
  ObjectWriter timed(char phase, const TracePlace& place, Nanos t, std::string_view name);
  // As above, a slice of its thread. One that lasts no time is not drawn by viewers: `to` is after `from`.
  ObjectWriter slice(const TracePlace& place, Nanos from, Nanos to, std::string_view name,
                     std::string_view category);
  // `process_name` and `process_sort_index`, or those of a thread. Not every viewer sorts by the index, so
  // the names are numbered as well.
  void name(const TracePlace& place, std::string_view name, std::uint32_t number);

 private:
  std::string& next();

  std::string& out_;
  bool first_ = true;
};

// The run itself is the first process, then each upstream in the timeline's order, then what was injected.
struct TracePlaces {
  explicit TracePlaces(const Timeline& timeline);

  TracePlace run, injected, changes;  // changes: of configuration and clock, a thread of the run
  std::vector<TracePlace> upstreams;
  std::vector<TracePlace> lanes, failures;       // by lane
  std::map<std::uint32_t, TracePlace> breakers;  // by upstream, of those that have one
  std::vector<TracePlace> faults;                // by fault lane
  const TracePlace& of(const TimelineEvent& event) const;
};

void append_us(std::string& out, Nanos t);  // microseconds, with as many decimals as it takes: 31250750

void append_trace_requests(TraceEvents& events, const Timeline& timeline, const TracePlaces& places,
                           const TraceRecorder& recorder);

// The failures that led to ejections and openings as slices, and the arrows from them. Answers for which
// lanes there are any. The slices that the arrows lead to must have been written.
std::vector<bool> append_trace_causes(TraceEvents& events, const Timeline& timeline,
                                      const TracePlaces& places, const TraceRecorder& recorder);

}  // namespace halfopen::sim
