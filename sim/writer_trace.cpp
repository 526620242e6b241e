#include "sim/writer_trace.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "sim/event_text.hpp"
#include "sim/number_format.hpp"
#include "sim/writer_trace_parts.hpp"

namespace halfopen::sim {

namespace {

// ---- states and faults ------------------------------------------------------------------------------------

void append_states(TraceEvents& events, const TracePlace& place, const std::vector<Interval>& intervals,
                   std::string_view category) {
  for (const Interval& interval : intervals) {
    ObjectWriter slice =
        events.slice(place, interval.from, interval.to, lane_state_name(interval.state), category);
    ObjectWriter args(slice.key("args"));
    args.ms("from_ms", interval.from);
    args.ms("to_ms", interval.to);
    if (interval.eligible) args.ms("eligible_ms", *interval.eligible);
    args.close();
    slice.close();
  }
}

void append_faults(TraceEvents& events, const Timeline& timeline, const TracePlaces& places) {
  for (std::size_t i = 0; i < timeline.faults.size(); ++i) {
    const FaultLane& fault = timeline.faults[i];
    for (const Interval& interval : fault.intervals) {
      ObjectWriter slice = events.slice(places.faults[i], interval.from, interval.to, fault.kind, "fault");
      ObjectWriter args(slice.key("args"));
      args.text("endpoint", fault.endpoint);
      args.uint("fault", fault.fault);
      args.text("scope", scope_name(fault.scope));
      args.close();
      slice.close();
    }
  }
}

// ---- instants ---------------------------------------------------------------------------------------------

// Of the thread: viewers drop the arguments of wider ones.
ObjectWriter instant(TraceEvents& events, const TracePlace& place, Nanos t, std::string_view name,
                     std::string_view category) {
  ObjectWriter object = events.timed('i', place, t, name);
  object.text("s", "t");
  object.text("cat", category);
  return object;
}

void append_instants(TraceEvents& events, const Timeline& timeline, const TracePlaces& places) {
  for (const TimelineEvent& event : timeline.events) {
    ObjectWriter object = instant(events, places.of(event), event.t, to_string(event.type), "event");
    append_event(object.key("args"), timeline, event);
    object.close();
  }
  for (const Nanos t : timeline.reloads) instant(events, places.changes, t, "reload", "change").close();
  for (const ClockStep& step : timeline.clock_steps) {
    instant(events, places.changes, step.at, clock_step_text(step), "change").close();
  }
}

// ---- counters ---------------------------------------------------------------------------------------------

using Column = std::vector<std::uint64_t>;

struct Bin {
  std::size_t number = 0;
  Nanos from = 0, to = 0;
};

// A value for each argument; `counts` are of the bin and told per second.
void append_rates(TraceEvents& events, const TracePlace& place, const Bin& bin, std::string_view name,
                  const std::vector<std::pair<const char*, std::uint64_t>>& counts) {
  ObjectWriter object = events.timed('C', place, bin.from, name);
  ObjectWriter args(object.key("args"));
  const double seconds = static_cast<double>(bin.to - bin.from) / 1e9;
  for (const auto& [key, count] : counts) args.number(key, static_cast<double>(count) / seconds);
  args.close();
  object.close();
}

void append_counters(TraceEvents& events, const Timeline& timeline, const TracePlaces& places) {
  const Series& series = timeline.series;
  for (std::size_t i = 0; i < series.requests.size(); ++i) {
    const Bin bin{i, i * timeline.sample, std::min((i + 1) * timeline.sample, timeline.duration)};
    append_rates(events, places.run, bin, "requests/s",
                 {{"ok", series.ok[i]},
                  {"failed", series.failed[i] - series.fast_failed[i]},
                  {"fast-failed", series.fast_failed[i]}});
    append_rates(events, places.run, bin, "retries/s", {{"retries", series.retried[i]}});
    append_rates(events, places.run, bin, "fail-open picks/s", {{"picks", series.fail_open_picks[i]}});
    for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane) {
      const EndpointLane& endpoint = timeline.lanes[lane];
      append_rates(events, places.upstreams[endpoint.upstream], bin, "attempts/s " + endpoint.endpoint,
                   {{"attempts", endpoint.attempts[i]}, {"failures", endpoint.failures[i]}});
    }
    ObjectWriter gauge = events.timed('C', places.run, bin.to, "in flight");  // at the end of its bin
    ObjectWriter args(gauge.key("args"));
    args.uint("requests", series.in_flight[i]);
    args.close();
    gauge.close();
  }
}

// ---- names ------------------------------------------------------------------------------------------------

void append_names(TraceEvents& events, const Timeline& timeline, const TracePlaces& places,
                  const std::vector<bool>& has_failures) {
  events.name(places.run, "the run", 1);
  events.name(places.changes, "reloads and clock steps", 1);
  for (std::size_t i = 0; i < places.upstreams.size(); ++i) {
    std::uint32_t number = 0;
    events.name(places.upstreams[i], "upstream " + timeline.upstream_names[i], places.upstreams[i].pid);
    const auto breaker = places.breakers.find(static_cast<std::uint32_t>(i));
    if (breaker != places.breakers.end()) events.name(breaker->second, "breaker", ++number);
    for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane) {
      if (timeline.lanes[lane].upstream != i) continue;
      const std::string& endpoint = timeline.lanes[lane].endpoint;
      events.name(places.lanes[lane], endpoint, ++number);
      if (has_failures[lane]) events.name(places.failures[lane], "failures of " + endpoint, ++number);
    }
  }
  events.name(places.injected, "injected", places.injected.pid);
  for (std::size_t i = 0; i < timeline.faults.size(); ++i) {
    const FaultLane& fault = timeline.faults[i];
    events.name(places.faults[i], fault.endpoint + ' ' + fault.kind, static_cast<std::uint32_t>(i + 1));
  }
}

std::string note_of(const TraceRecorder& recorder) {
  const std::uint64_t all = recorder.arrivals(), written = recorder.requests().size();
  if (written == all) return fmt::format("all {} requests are written", all);
  if (written == 0) return fmt::format("none of {} requests is written", all);
  return fmt::format("{} of {} requests are written, the first of every {}; all else is complete", written,
                     all, recorder.stride());
}

void append_other(std::string& out, const Timeline& timeline, const TraceRecorder& recorder) {
  ObjectWriter object(out);
  object.text("format", "halfopen.trace/1");
  append_meta(object, timeline);
  object.uint("requests", recorder.arrivals());
  object.uint("requests_written", recorder.requests().size());
  object.text("note", note_of(recorder));
  object.close();
}

}  // namespace

std::string timeline_trace(const Timeline& timeline, const TraceRecorder& recorder) {
  const TracePlaces places(timeline);
  std::string out = R"({"displayTimeUnit":"ms","traceEvents":[)";
  TraceEvents events(out);
  for (std::size_t i = 0; i < timeline.lanes.size(); ++i) {
    append_states(events, places.lanes[i], timeline.lanes[i].intervals, "health");
  }
  for (const BreakerLane& lane : timeline.breakers) {
    append_states(events, places.breakers.at(lane.upstream), lane.intervals, "breaker");
  }
  append_faults(events, timeline, places);
  const std::vector<bool> has_failures = append_trace_causes(events, timeline, places, recorder);
  append_instants(events, timeline, places);
  append_counters(events, timeline, places);
  append_trace_requests(events, timeline, places, recorder);
  append_names(events, timeline, places, has_failures);
  out += "\n],\"otherData\":";
  append_other(out, timeline, recorder);
  out += "}\n";
  return out;
}

}  // namespace halfopen::sim
