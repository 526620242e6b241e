// The requests of a trace, and the failures that caused something.
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "sim/outcome_text.hpp"
#include "sim/writer_trace_parts.hpp"

namespace halfopen::sim {

namespace {

std::string id_of(const RequestName& name) {
  return fmt::format("{}.{}.{}", name.entry, name.index, name.tryn);
}

// ---- requests ---------------------------------------------------------------------------------------------

// Both ends of an asynchronous slice name its category and id, and viewers nest by these alone.
ObjectWriter async(TraceEvents& events, char phase, const TracePlace& place, Nanos t, std::string_view name,
                   const RequestName& request) {
  ObjectWriter object = events.timed(phase, place, t, name);
  object.text("cat", "request");
  object.text("id", id_of(request));
  return object;
}

void append_attempt(TraceEvents& events, const Timeline& timeline, const TracePlace& place,
                    const TracedRequest& request, std::size_t number) {
  const TracedAttempt& attempt = request.attempts[number];
  ObjectWriter begin = async(events, 'b', place, attempt.from, "attempt", request.name);
  ObjectWriter args(begin.key("args"));
  args.text("endpoint", timeline.lanes[attempt.lane].endpoint);
  args.uint("retry", number);
  args.flag("fail_open", attempt.fail_open);
  args.flag("trial", attempt.trial);
  args.close();
  begin.close();

  const Nanos last = request.to.value_or(timeline.duration);
  ObjectWriter end = async(events, 'e', place, attempt.to.value_or(last), "attempt", request.name);
  ObjectWriter told(end.key("args"));
  const char* dropped = request.to ? "abandoned" : "unfinished";
  told.text("outcome", attempt.to ? outcome_text(attempt.outcome, attempt.body_broke) : dropped);
  told.close();
  end.close();
}

void append_request(TraceEvents& events, const Timeline& timeline, const TracePlace& place,
                    const TracedRequest& request) {
  ObjectWriter begin = async(events, 'b', place, request.from, "request", request.name);
  ObjectWriter args(begin.key("args"));
  args.uint("entry", request.name.entry);
  args.uint("index", request.name.index);
  args.uint("try", request.name.tryn);
  args.close();
  begin.close();
  for (std::size_t i = 0; i < request.attempts.size(); ++i)
    append_attempt(events, timeline, place, request, i);
  ObjectWriter end =
      async(events, 'e', place, request.to.value_or(timeline.duration), "request", request.name);
  ObjectWriter told(end.key("args"));
  told.text("end", request.to ? end_text(request.end) : "unfinished");
  told.uint("attempts", request.attempts.size());
  told.close();
  end.close();
}

// ---- failures and what they caused
// --------------------------------------------------------------------------

constexpr Nanos FAILURE_LENGTH = 1000;  // a failure lasts no time, and a slice must

using Instant2D = std::pair<std::uint32_t, Nanos>;  // a lane and a time

// An event with the failures that count for it, by the counts that its machine told.
struct Effect {
  const TimelineEvent* event = nullptr;
  std::vector<const Observation*> failures;
};

std::vector<const Observation*> counted(const TimelineEvent& event, const TracedCause& cause) {
  const bool by_ratio = event.rule == Rule::failure_ratio || event.rule == Rule::error_ratio;
  std::uint64_t most = by_ratio ? event.because.failures : event.because.streak;
  if (event.rule == Rule::half_open_probe_failed) most = 1;
  std::vector<const Observation*> out;
  for (auto seen = cause.failures.rbegin(); seen != cause.failures.rend() && out.size() < most; ++seen) {
    if (!by_ratio || !seen->probe) out.push_back(&*seen);  // probes never enter a window
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<Effect> effects_of(const Timeline& timeline, const TraceRecorder& recorder) {
  std::map<std::pair<bool, std::uint32_t>, std::vector<const TracedCause*>> causes;  // last one first
  const auto& all = recorder.causes();
  for (auto cause = all.rbegin(); cause != all.rend(); ++cause) {
    causes[{cause->breaker, cause->who}].push_back(&*cause);
  }
  std::vector<Effect> out;
  for (const TimelineEvent& event : timeline.events) {
    if (event.type != EventType::endpoint_ejected && event.type != EventType::breaker_opened) continue;
    const bool breaker = event.endpoint < 0;
    auto& left = causes[{breaker, breaker ? event.upstream : static_cast<std::uint32_t>(event.endpoint)}];
    while (!left.empty() && left.back()->t < event.t) left.pop_back();
    if (left.empty() || left.back()->t != event.t) continue;
    out.push_back({&event, counted(event, *left.back())});
    left.pop_back();
  }
  return out;
}

// Whether the state that the event began lasted, so that there is a slice for an arrow to end in.
bool has_slice(const Timeline& timeline, const TimelineEvent& event) {
  const auto begins_here = [&](const std::vector<Interval>& intervals, LaneState state) {
    return std::any_of(intervals.begin(), intervals.end(), [&](const Interval& interval) {
      return interval.from == event.t && interval.state == state;
    });
  };
  if (event.endpoint >= 0) {
    return begins_here(timeline.lanes[static_cast<std::size_t>(event.endpoint)].intervals,
                       LaneState::ejected);
  }
  return std::any_of(timeline.breakers.begin(), timeline.breakers.end(), [&](const BreakerLane& lane) {
    return lane.upstream == event.upstream && begins_here(lane.intervals, LaneState::open);
  });
}

void append_failure(TraceEvents& events, const TracePlace& place, const Observation& seen) {
  ObjectWriter object = events.slice(place, seen.t, seen.t + FAILURE_LENGTH, outcome_text(seen), "failure");
  ObjectWriter args(object.key("args"));
  if (!seen.probe) {
    args.text("request", id_of(seen.request));
    args.uint("retry", seen.attempt);
  }
  args.close();
  object.close();
}

// One slice where several failures of an endpoint are nearer to each other than a slice is long: slices of a
// thread must not overlap. Of one instant the last is shown, which may be the one that decided. Answers in
// which slice each failure ended up.
std::map<Instant2D, Nanos> append_failures(TraceEvents& events, const TracePlaces& places,
                                           const std::vector<Effect>& effects) {
  std::map<Instant2D, const Observation*> shown;
  for (const Effect& effect : effects) {
    for (const Observation* seen : effect.failures) shown[{seen->lane, seen->t}] = seen;
  }
  std::map<Instant2D, Nanos> slices;
  std::map<std::uint32_t, Nanos> free_from;  // by lane
  for (const auto& [where, seen] : shown) {
    const auto [lane, t] = where;
    const auto busy = free_from.find(lane);
    if (busy != free_from.end() && t < busy->second) {
      slices[where] = busy->second - FAILURE_LENGTH;
      continue;
    }
    free_from[lane] = t + FAILURE_LENGTH;
    slices[where] = t;
    append_failure(events, places.failures[lane], *seen);
  }
  return slices;
}

void append_arrow_end(TraceEvents& events, char phase, const TracePlace& place, Nanos t, std::uint64_t id) {
  ObjectWriter object = events.timed(phase, place, t, "caused");
  object.text("cat", "cause");
  object.uint("id", id);
  if (phase == 'f') object.text("bp", "e");  // ends in the slice around it, not in the next one
  object.close();
}

}  // namespace

void append_trace_requests(TraceEvents& events, const Timeline& timeline, const TracePlaces& places,
                           const TraceRecorder& recorder) {
  for (const auto& [ordinal, request] : recorder.requests()) {
    append_request(events, timeline, places.upstreams[request.upstream], request);
  }
}

std::vector<bool> append_trace_causes(TraceEvents& events, const Timeline& timeline,
                                      const TracePlaces& places, const TraceRecorder& recorder) {
  const std::vector<Effect> effects = effects_of(timeline, recorder);
  const std::map<Instant2D, Nanos> slices = append_failures(events, places, effects);
  std::vector<bool> any(timeline.lanes.size());
  for (const auto& [where, slice] : slices) any[where.first] = true;
  std::uint64_t id = 0;
  for (const Effect& effect : effects) {
    if (!has_slice(timeline, *effect.event)) continue;
    std::set<Instant2D> sources;
    for (const Observation* seen : effect.failures) {
      sources.insert({seen->lane, slices.at({seen->lane, seen->t})});
    }
    for (const auto& [lane, t] : sources) {  // an arrow can't fork: each failure has its own
      append_arrow_end(events, 's', places.failures[lane], t, ++id);
      append_arrow_end(events, 'f', places.of(*effect.event), effect.event->t, id);
    }
  }
  return any;
}

}  // namespace halfopen::sim
