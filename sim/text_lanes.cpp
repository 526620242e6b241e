#include "sim/text_lanes.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "sim/event_text.hpp"
#include "sim/text_chart.hpp"
#include "sim/text_names.hpp"
#include "sim/text_traffic.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace {

constexpr std::size_t LEAST_LABEL = 20;  // the sparklines' names and peaks need as much
constexpr std::size_t MOST_LABEL = 34;   // leaves 45 columns to the drawing

bool eventful(const EndpointLane& lane) {
  return lane.ejections > 0 ||
         std::any_of(lane.intervals.begin(), lane.intervals.end(),
                     [](const Interval& interval) { return interval.state != LaneState::healthy; });
}

bool is_script(const FaultLane& fault) { return fault.kind == "outcomes"; }

// What it is comes whole, the endpoint's name gets the rest. A script is always about traffic.
std::string fault_label(const FaultLane& fault, std::size_t width, const Names& names) {
  std::string kind = ' ' + fault.kind;
  if (fault.scope != Scope::both && !is_script(fault))
    kind += std::string(" (") + scope_name(fault.scope) + ')';
  const std::size_t left = width > kind.size() + 8 ? width - kind.size() : 8;
  return names.shown(fault.endpoint, left) + kind;
}

std::size_t label_width(const Timeline& timeline, const std::vector<std::size_t>& shown, const Names& names,
                        const TextStyle& style) {
  std::size_t widest = LEAST_LABEL;
  for (const std::size_t i : shown) {
    widest = std::max(widest, 2 + columns_of(printable(timeline.lanes[i].endpoint, style.ascii)));
  }
  for (std::size_t i = 0; i < std::min(timeline.faults.size(), style.max_lanes); ++i) {
    widest = std::max(widest, 2 + columns_of(fault_label(timeline.faults[i], PAGE_WIDTH, names)));
  }
  return std::min(widest, MOST_LABEL);
}

// The rows of one upstream, by endpoint and then its breaker.
struct Group {
  std::vector<const EndpointLane*> endpoints;
  std::vector<const BreakerLane*> breakers;
};

// An upstream is drawn if one of its endpoints is, or if its breaker ever opened and there is room.
std::vector<Group> groups_of(const Timeline& timeline, const std::vector<std::size_t>& shown,
                             std::size_t max_lanes) {
  std::vector<Group> out(timeline.upstream_names.size());
  for (const std::size_t i : shown) out[timeline.lanes[i].upstream].endpoints.push_back(&timeline.lanes[i]);
  std::size_t extra = 0;
  for (const BreakerLane& lane : timeline.breakers) {
    Group& group = out[lane.upstream];
    if (group.endpoints.empty() && (lane.intervals.size() < 2 || extra++ >= max_lanes)) continue;
    group.breakers.push_back(&lane);
  }
  return out;
}

std::string state_rows(const Timeline& timeline, const std::vector<std::size_t>& shown, const Chart& chart,
                       const Names& names, const TextStyle& style) {
  const std::vector<Group> groups = groups_of(timeline, shown, style.max_lanes);
  std::string out;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].endpoints.empty() && groups[i].breakers.empty()) continue;
    out += shorten(printable(timeline.upstream_names[i], style.ascii), PAGE_WIDTH, style.ascii) + '\n';
    for (const EndpointLane* lane : groups[i].endpoints) {
      out += chart.lane(names.shown(lane->endpoint, chart.label_width() - 2), lane->intervals);
    }
    for (const BreakerLane* lane : groups[i].breakers) out += chart.lane("breaker", lane->intervals);
  }
  return out + lanes_left_out(timeline, shown);
}

std::string fault_row(const FaultLane& fault, const Chart& chart, const Names& names) {
  const std::string label = fault_label(fault, chart.label_width() - 2, names);
  if (is_script(fault) && !fault.intervals.empty()) return chart.script(label, fault.intervals.front().from);
  return chart.lane(label, fault.intervals);
}

// What the scenario does to the machines rather than to the servers.
std::string mark_rows(const Timeline& timeline, const Chart& chart) {
  std::vector<Mark> reloads, steps;
  for (const Nanos t : timeline.reloads) reloads.push_back({t, Sign::reload});
  for (const ClockStep& step : timeline.clock_steps) {
    steps.push_back({step.at, step.by_ms < 0 ? Sign::back : Sign::forward});
  }
  return (reloads.empty() ? "" : chart.marks("reload", reloads)) +
         (steps.empty() ? "" : chart.marks("clock", steps));
}

std::string injected_rows(const Timeline& timeline, const Chart& chart, const Names& names,
                          const TextStyle& style) {
  const std::size_t shown = std::min(timeline.faults.size(), style.max_lanes);
  std::string out;
  for (std::size_t i = 0; i < shown; ++i) out += fault_row(timeline.faults[i], chart, names);
  const std::size_t rest = timeline.faults.size() - shown;
  if (rest > 0) out += fmt::format("  ... and {} more injected\n", grouped(rest));
  out += mark_rows(timeline, chart);
  return out.empty() ? "" : "injected\n" + out;
}

}  // namespace

std::vector<std::size_t> lanes_to_show(const Timeline& timeline, std::size_t max_lanes) {
  std::vector<std::size_t> out;
  for (const bool wanted : {true, false}) {
    for (std::size_t i = 0; i < timeline.lanes.size() && out.size() < max_lanes; ++i) {
      if (eventful(timeline.lanes[i]) == wanted) out.push_back(i);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string lanes_left_out(const Timeline& timeline, const std::vector<std::size_t>& shown) {
  const std::size_t rest = timeline.lanes.size() - shown.size();
  if (rest == 0) return "";
  const auto touched =
      static_cast<std::size_t>(std::count_if(timeline.lanes.begin(), timeline.lanes.end(), eventful));
  const std::size_t hidden = touched > shown.size() ? touched - shown.size() : 0;
  if (hidden == 0) return fmt::format("  ... and {} more, healthy throughout\n", grouped(rest));
  return fmt::format("  ... and {} more, {} of them not healthy throughout; --all shows them\n",
                     grouped(rest), grouped(hidden));
}

std::string lanes_text(const Timeline& timeline, const TextStyle& style) {
  const std::vector<std::size_t> shown = lanes_to_show(timeline, style.max_lanes);
  const Names names(timeline, style);
  const Chart chart(timeline.duration, label_width(timeline, shown, names, style), style);
  return state_rows(timeline, shown, chart, names, style) + injected_rows(timeline, chart, names, style) +
         traffic_rows(timeline, chart) + chart.axis() + chart.legend();
}

}  // namespace halfopen::sim
