// Expectations of the forms `event` and `never`.
#include <fmt/core.h>

#include "sim/event_text.hpp"
#include "sim/expectations_detail.hpp"

namespace halfopen::sim::expectations_detail {

namespace {

bool holds(CountIs relation, std::size_t found, std::uint64_t count) {
  switch (relation) {
    case CountIs::exactly: return found == count;
    case CountIs::at_least: return found >= count;
    case CountIs::at_most: return found <= count;
  }
  return false;
}

const char* relation_text(CountIs relation) {
  switch (relation) {
    case CountIs::exactly: return "exactly";
    case CountIs::at_least: return "at least";
    case CountIs::at_most: return "at most";
  }
  return "";
}

std::string expected_text(const ExpectEvent& expect) {
  const bool none = expect.relation != CountIs::at_least && expect.count == 0;
  const std::string many = none ? "no" : fmt::format("{} {}", relation_text(expect.relation), expect.count);
  return fmt::format("{} {}{}", expect.nth ? "the " + ordinal(*expect.nth) : many,
                     pattern_text(expect.pattern), when_text(expect.when));
}

// Where there is no near miss either.
std::string nothing_text(const Timeline& timeline, const std::vector<const TimelineEvent*>& found) {
  return timeline.events.empty() ? "; nothing happened at all"
         : found.empty()         ? "; nothing like it happened"
                                 : "; no other event is of that type";
}

// This one of those that the pattern chooses: then only its time is judged.
Judgement judge_nth(const ExpectEvent& expect, const Timeline& timeline) {
  Judgement out;
  out.expected = expected_text(expect);
  const auto found = matches(expect.pattern, {}, timeline);
  if (*expect.nth == 0 || *expect.nth > found.size()) {
    out.got = (found.empty() ? "" : "only ") + found_text(found);
    const TimelineEvent* shown =
        found.empty() ? near_miss(expect.pattern, {}, timeline, false) : found.back();
    out.got += shown == nullptr
                   ? nothing_text(timeline, found)
                   : (found.empty() ? "; the nearest, " : "; the last, ") + event_text(timeline, *shown);
    return out;
  }
  const TimelineEvent& event = *found[*expect.nth - 1];
  out.held = span_of(expect.when).holds(event.t);
  out.got = "it was at " + ms_text(event.t);
  if (!out.held) out.got += "; " + event_text(timeline, event);
  return out;
}

}  // namespace

Judgement judge_event(const ExpectEvent& expect, const Timeline& timeline) {
  if (const std::string problem = pattern_problem(expect.pattern); !problem.empty())
    return not_evaluated(expected_text(expect), problem);
  if (expect.nth) return judge_nth(expect, timeline);
  Judgement out;
  out.expected = expected_text(expect);
  const Window span = span_of(expect.when);
  const auto found = matches(expect.pattern, span, timeline);
  out.held = holds(expect.relation, found.size(), expect.count);
  out.got = found_text(found);
  if (out.held) return out;
  const bool surplus = found.size() > expect.count;
  const TimelineEvent* shown =
      surplus ? found[expect.count] : near_miss(expect.pattern, span, timeline, !found.empty());
  if (shown == nullptr) {
    out.got += nothing_text(timeline, found);
  } else {
    out.got += (surplus ? "; one too many, " : "; the nearest, ") + event_text(timeline, *shown);
  }
  return out;
}

}  // namespace halfopen::sim::expectations_detail
