// Expectations of the form `sequence`: events in this order.
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "sim/event_text.hpp"
#include "sim/expectations_detail.hpp"
#include "sim/number_format.hpp"

namespace halfopen::sim::expectations_detail {

namespace {

using Events = std::vector<const TimelineEvent*>;

std::string step_text(const SequenceStep& step) { return pattern_text(step.pattern) + when_text(step.when); }

bool answers(const SequenceStep& step, const Timeline& timeline, const TimelineEvent& event) {
  return span_of(step.when).holds(event.t) && matches(step.pattern, timeline, event);
}

// Whose events an exact sequence is about: an upstream, and a lane or -1 for its breaker.
using Subjects = std::set<std::pair<std::uint32_t, std::int32_t>>;

// The endpoints that the steps name, in every upstream that they leave open; where a step names none, and
// for breakers: whose event it was.
Subjects subjects_of(const ExpectSequence& expect, const Timeline& timeline,
                     const std::vector<const TimelineEvent*>& found) {
  Subjects out;
  for (const TimelineEvent* event : found) out.emplace(event->upstream, event->endpoint);
  for (std::size_t i = 0; i < timeline.lanes.size(); ++i) {
    const EndpointLane& lane = timeline.lanes[i];
    const bool named = std::any_of(expect.steps.begin(), expect.steps.end(), [&](const SequenceStep& step) {
      return step.pattern.endpoint == lane.endpoint &&
             (step.pattern.upstream.empty() ||
              step.pattern.upstream == timeline.upstream_names[lane.upstream]);
    });
    if (named) out.emplace(lane.upstream, static_cast<std::int32_t>(i));
  }
  return out;
}

// The first event of theirs that is no step; null if there is none.
const TimelineEvent* intruder(const Subjects& subjects, const Timeline& timeline,
                              const std::vector<const TimelineEvent*>& found) {
  auto next = found.begin();  // in the timeline's order, so the next one is the only one to compare with
  for (const TimelineEvent& event : timeline.events) {
    if (next != found.end() && *next == &event)
      ++next;
    else if (subjects.count({event.upstream, event.endpoint}) > 0)
      return &event;
  }
  return nullptr;
}

// What is wrong with the step after those that were found.
std::string missing_text(const ExpectSequence& expect, const Timeline& timeline,
                         const std::vector<const TimelineEvent*>& found) {
  const SequenceStep& step = expect.steps[found.size()];
  std::string out = fmt::format("no step {}, {}", found.size() + 1, step_text(step));
  if (!found.empty()) out += fmt::format(", after step {} at {}", found.size(), ms_text(found.back()->t));
  const auto early = std::find_if(timeline.events.begin(), timeline.events.end(),
                                  [&](const TimelineEvent& event) { return answers(step, timeline, event); });
  if (early != timeline.events.end()) return out + "; only before it, " + event_text(timeline, *early);
  const TimelineEvent* nearest = near_miss(step.pattern, span_of(step.when), timeline, false);
  if (nearest != nullptr) return out + "; the nearest, " + event_text(timeline, *nearest);
  return out + (timeline.events.empty() ? "; nothing happened at all" : "; nothing like it happened");
}

std::string times_text(const std::vector<const TimelineEvent*>& found) {
  constexpr std::size_t SHOWN = 8;
  std::string out = "at ";
  for (std::size_t i = 0; i < std::min(found.size(), SHOWN); ++i) {
    if (i > 0) out += ", ";
    append_ms(out, found[i]->t);
  }
  return out + (found.size() > SHOWN ? ", ... ms" : " ms");
}

std::string sequence_text(const ExpectSequence& expect) {
  std::string out = "in this order: ";
  for (std::size_t i = 0; i < expect.steps.size(); ++i) {
    if (i > 0) out += "; then ";
    out += step_text(expect.steps[i]);
  }
  return out + (expect.exact ? "; and no other event of theirs" : "");
}

// The first event from `place` on that answers the first step, and for each step after it the next one that
// does.
Events first_found(const ExpectSequence& expect, const Timeline& timeline, std::size_t place) {
  Events found;
  for (; place < timeline.events.size() && found.size() < expect.steps.size(); ++place) {
    const TimelineEvent& event = timeline.events[place];
    if (answers(expect.steps[found.size()], timeline, event)) found.push_back(&event);
  }
  return found;
}

// A first step that leaves its endpoint open may have taken somebody else's event: so another first event is
// tried, until nothing is in the way or there is none. What stood in the way of the first is told.
const TimelineEvent* intruder_of_all(const ExpectSequence& expect, const Timeline& timeline, Events found) {
  constexpr int TRIES = 1000;
  const TimelineEvent* first = nullptr;
  for (int tries = 0; tries < TRIES && found.size() == expect.steps.size(); ++tries) {
    const TimelineEvent* const other = intruder(subjects_of(expect, timeline, found), timeline, found);
    if (other == nullptr) return nullptr;
    if (first == nullptr) first = other;
    const auto next = static_cast<std::size_t>(found.front() - timeline.events.data()) + 1;
    found = first_found(expect, timeline, next);
  }
  return first;
}

}  // namespace

// Each step takes the first event after the one before it that answers it.
Judgement judge_sequence(const ExpectSequence& expect, const Timeline& timeline) {
  Judgement out;
  out.expected = sequence_text(expect);
  for (std::size_t i = 0; i < expect.steps.size(); ++i) {
    const std::string problem = pattern_problem(expect.steps[i].pattern);
    if (!problem.empty()) return not_evaluated(out.expected, fmt::format("in step {}, {}", i + 1, problem));
  }
  const Events found = first_found(expect, timeline, 0);
  if (found.size() < expect.steps.size()) {
    out.got = missing_text(expect, timeline, found);
    return out;
  }
  const TimelineEvent* const other = expect.exact ? intruder_of_all(expect, timeline, found) : nullptr;
  out.held = other == nullptr;
  out.got = times_text(found);
  if (other != nullptr) out.got += "; but also, " + event_text(timeline, *other);
  return out;
}

}  // namespace halfopen::sim::expectations_detail
