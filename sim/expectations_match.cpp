// Which events answer a pattern, and which nearly do.
#include <fmt/core.h>

#include <algorithm>

#include "sim/event_text.hpp"
#include "sim/expectations_detail.hpp"
#include "sim/number_format.hpp"

namespace halfopen::sim::expectations_detail {

namespace {

// How an event answers a pattern, field by field, so that a near miss can be told from a stranger.
struct Likeness {
  bool type = false, subject = false, cause = false;
  bool whole() const { return type && subject && cause; }
  // The order in which a near miss explains most: the right event of the right one for another reason, then
  // the same event of somebody else, then anything that happened to the right one.
  int score() const { return type * 4 + subject * 2 + cause; }
};

Likeness likeness(const EventPattern& pattern, const Timeline& timeline, const TimelineEvent& event) {
  const bool breaker = event.endpoint < 0;
  const bool endpoint =
      pattern.endpoint.empty() ||
      (!breaker && timeline.lanes[static_cast<std::size_t>(event.endpoint)].endpoint == pattern.endpoint);
  const bool upstream =
      pattern.upstream.empty() || timeline.upstream_names[event.upstream] == pattern.upstream;
  const bool rule = pattern.rule == Rule::none || event.rule == pattern.rule;
  const bool via = pattern.via == Via::none || event.via == pattern.via;
  return {event.type == pattern.type, endpoint && upstream, rule && via};
}

Nanos distance(const Window& span, Nanos t) {
  if (t < span.from) return span.from - t;
  return t < span.to ? 0 : t - span.to + 1;
}

}  // namespace

bool matches(const EventPattern& pattern, const Timeline& timeline, const TimelineEvent& event) {
  return likeness(pattern, timeline, event).whole();
}

std::string pattern_text(const EventPattern& pattern) {
  std::string out = to_string(pattern.type);
  if (!pattern.endpoint.empty()) out += " of " + pattern.endpoint;
  if (!pattern.upstream.empty()) out += " of upstream " + pattern.upstream;
  if (pattern.rule != Rule::none) out += std::string(" by rule ") + to_string(pattern.rule);
  if (pattern.via != Via::none) out += std::string(" via ") + to_string(pattern.via);
  return out;
}

std::string pattern_problem(const EventPattern& pattern) {
  const EventType type = pattern.type;
  const bool breaker = type == EventType::breaker_opened || type == EventType::breaker_half_open ||
                       type == EventType::breaker_closed;
  if (breaker && !pattern.endpoint.empty()) {
    return fmt::format("{} is an event of an upstream, not of an endpoint", to_string(type));
  }
  const bool put_out = type == EventType::endpoint_ejected || type == EventType::breaker_opened;
  if (!put_out && pattern.rule != Rule::none) return fmt::format("{} has no rule", to_string(type));
  if (type != EventType::endpoint_recovered && pattern.via != Via::none) {
    return fmt::format("{} has no via", to_string(type));
  }
  const Rule ratio_of_others = type == EventType::endpoint_ejected ? Rule::error_ratio : Rule::failure_ratio;
  if (put_out && pattern.rule == ratio_of_others) {
    return fmt::format("rule {} never causes {}", to_string(pattern.rule), to_string(type));
  }
  return "";
}

std::vector<const TimelineEvent*> matches(const EventPattern& pattern, const Window& span,
                                          const Timeline& timeline) {
  std::vector<const TimelineEvent*> out;
  for (const TimelineEvent& event : timeline.events) {
    if (span.holds(event.t) && likeness(pattern, timeline, event).whole()) out.push_back(&event);
  }
  return out;
}

const TimelineEvent* near_miss(const EventPattern& pattern, const Window& span, const Timeline& timeline,
                               bool same_type) {
  const TimelineEvent* best = nullptr;
  int best_score = 0;
  for (const TimelineEvent& event : timeline.events) {
    const Likeness alike = likeness(pattern, timeline, event);
    if ((!alike.type && (same_type || !alike.subject)) || (alike.whole() && span.holds(event.t))) continue;
    const int score = alike.score();
    if (best == nullptr || score > best_score ||
        (score == best_score && distance(span, event.t) < distance(span, best->t))) {
      best = &event;
      best_score = score;
    }
  }
  return best;
}

std::string found_text(const std::vector<const TimelineEvent*>& found) {
  constexpr std::size_t SHOWN = 3;
  if (found.empty()) return "none";
  std::string out = fmt::format("{}, at ", found.size());
  for (std::size_t i = 0; i < std::min(found.size(), SHOWN); ++i) {
    if (i > 0) out += ", ";
    append_ms(out, found[i]->t);
  }
  if (found.size() > SHOWN) out += ", ...";
  return out + " ms";
}

}  // namespace halfopen::sim::expectations_detail
