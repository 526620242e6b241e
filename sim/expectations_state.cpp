// Expectations of the form `state`: what a lane shows at an instant, or throughout a span.
#include <fmt/core.h>

#include <algorithm>

#include "sim/event_text.hpp"
#include "sim/expectations_detail.hpp"

namespace halfopen::sim::expectations_detail {

namespace {

struct Lane {
  const std::vector<Interval>* intervals = nullptr;
  std::uint32_t upstream = 0;
  std::int32_t endpoint = -1;  // as in TimelineEvent
};

std::vector<Lane> lanes_of(const ExpectState& expect, const Timeline& timeline) {
  std::vector<Lane> out;
  const auto named = [&](std::uint32_t upstream) {
    return expect.upstream.empty() || timeline.upstream_names[upstream] == expect.upstream;
  };
  if (expect.endpoint.empty()) {
    for (const BreakerLane& lane : timeline.breakers) {
      if (named(lane.upstream)) out.push_back({&lane.intervals, lane.upstream, -1});
    }
    return out;
  }
  for (std::size_t i = 0; i < timeline.lanes.size(); ++i) {
    const EndpointLane& lane = timeline.lanes[i];
    if (lane.endpoint != expect.endpoint || !named(lane.upstream)) continue;
    out.push_back({&lane.intervals, lane.upstream, static_cast<std::int32_t>(i)});
  }
  return out;
}

const Interval* interval_at(const std::vector<Interval>& intervals, Nanos t) {
  const auto holds_t = [t](const Interval& interval) { return t >= interval.from && t < interval.to; };
  const auto found = std::find_if(intervals.begin(), intervals.end(), holds_t);
  return found == intervals.end() ? nullptr : &*found;
}

// The first instant of the span at which the lane shows something else; NEVER if there is none. One pass: a
// flapping endpoint's lane may be very long.
Nanos first_breach(const std::vector<Interval>& intervals, const std::string& state, const Window& span) {
  Nanos t = span.from;
  for (const Interval& interval : intervals) {
    if (interval.to <= t) continue;
    if (interval.from > t || lane_state_name(interval.state) != state) return t;
    t = interval.to;
    if (t >= span.to) return NEVER;
  }
  return t;
}

// What the lane showed instead, and the last thing that happened to it until then.
std::string breach_text(const Lane& lane, Nanos t, const Timeline& timeline) {
  if (t >= timeline.duration) return "the run ended at " + ms_text(timeline.duration);
  const Interval* interval = interval_at(*lane.intervals, t);
  std::string out = "at " + ms_text(t) + " it was ";
  out += interval == nullptr ? "not configured"
                             : fmt::format("{} (from {} to {})", lane_state_name(interval->state),
                                           ms_text(interval->from), ms_text(interval->to));
  const TimelineEvent* nearest = nullptr;
  for (const TimelineEvent& event : timeline.events) {
    if (event.upstream != lane.upstream || event.endpoint != lane.endpoint) continue;
    if (nearest == nullptr || event.t <= t) nearest = &event;
  }
  if (nearest == nullptr) return out + "; nothing ever happened to it";
  return out + "; the nearest, " + event_text(timeline, *nearest);
}

std::string state_subject(const ExpectState& expect) {
  if (expect.endpoint.empty()) return "breaker of " + expect.upstream;
  return expect.upstream.empty() ? expect.endpoint : expect.endpoint + " of upstream " + expect.upstream;
}

}  // namespace

Judgement judge_state(const ExpectState& expect, const Timeline& timeline) {
  Judgement out;
  out.expected = fmt::format("{} {}{}", state_subject(expect), expect.state, when_text(expect.when));
  Window span = span_of(expect.when);
  const auto lanes = lanes_of(expect, timeline);
  if (lanes.empty() || span.empty() || (!expect.when.at_ms && !expect.when.between_ms)) {
    out.got = lanes.empty() ? "it can't be evaluated: this run has no " + state_subject(expect)
                            : "it can't be evaluated: there is no instant to look at";
    return out;
  }
  if (expect.when.at_ms) span.to = span.from + 1;  // a state is looked at in an instant: the begin of that ms
  for (const Lane& lane : lanes) {
    const Nanos breach = first_breach(*lane.intervals, expect.state, span);
    if (breach == NEVER) continue;
    out.got = breach_text(lane, breach, timeline);
    return out;
  }
  out.held = true;
  out.got = expect.state;
  return out;
}

}  // namespace halfopen::sim::expectations_detail
