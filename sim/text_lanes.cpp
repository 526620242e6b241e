#include "sim/text_lanes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/event_text.hpp"
#include "sim/text_chart.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace {

constexpr std::size_t LEAST_LABEL = 20;  // the sparklines' names and peaks need as much
constexpr std::size_t MOST_LABEL = 34;   // leaves 45 columns to the drawing
constexpr double NAN_VALUE = std::numeric_limits<double>::quiet_NaN();

bool eventful(const EndpointLane& lane) {
  return lane.ejections > 0 ||
         std::any_of(lane.intervals.begin(), lane.intervals.end(),
                     [](const Interval& interval) { return interval.state != LaneState::healthy; });
}

std::string fault_label(const FaultLane& fault, std::size_t width, const TextStyle& style) {
  std::string kind = ' ' + fault.kind;
  if (fault.scope != Scope::both) kind += std::string(" (") + scope_name(fault.scope) + ')';
  const std::size_t left = width > kind.size() + 8 ? width - kind.size() : 8;
  return shorten(printable(fault.endpoint, style.ascii), left, style.ascii) + kind;
}

std::size_t label_width(const Timeline& timeline, const std::vector<std::size_t>& shown,
                        const TextStyle& style) {
  std::size_t widest = LEAST_LABEL;
  for (const std::size_t i : shown) {
    widest = std::max(widest, 2 + columns_of(printable(timeline.lanes[i].endpoint, style.ascii)));
  }
  for (std::size_t i = 0; i < std::min(timeline.faults.size(), style.max_lanes); ++i) {
    widest = std::max(widest, 2 + columns_of(fault_label(timeline.faults[i], PAGE_WIDTH, style)));
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
                       const TextStyle& style) {
  const std::vector<Group> groups = groups_of(timeline, shown, style.max_lanes);
  std::string out;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].endpoints.empty() && groups[i].breakers.empty()) continue;
    out += shorten(printable(timeline.upstream_names[i], style.ascii), PAGE_WIDTH, style.ascii) + '\n';
    for (const EndpointLane* lane : groups[i].endpoints) {
      out += chart.lane(printable(lane->endpoint, style.ascii), lane->intervals);
    }
    for (const BreakerLane* lane : groups[i].breakers) out += chart.lane("breaker", lane->intervals);
  }
  return out + lanes_left_out(timeline, shown);
}

std::string fault_rows(const Timeline& timeline, const Chart& chart, const TextStyle& style) {
  if (timeline.faults.empty()) return "";
  const std::size_t shown = std::min(timeline.faults.size(), style.max_lanes);
  std::string out = "injected\n";
  for (std::size_t i = 0; i < shown; ++i) {
    const FaultLane& fault = timeline.faults[i];
    out += chart.lane(fault_label(fault, chart.label_width() - 2, style), fault.intervals);
  }
  const std::size_t rest = timeline.faults.size() - shown;
  return rest == 0 ? out : out + fmt::format("  ... and {} more injected\n", grouped(rest));
}

// The bins that a column of the chart touches: [first, last].
struct Bins {
  std::size_t first, last;
};

Bins bins_of(const Timeline& timeline, const Chart& chart, std::size_t column) {
  const std::size_t bins = timeline.series.requests.size();
  const Nanos from = chart.start(column), to = std::max(chart.start(column + 1), from + 1);
  const auto bin = [&](Nanos t) { return std::min(static_cast<std::size_t>(t / timeline.sample), bins - 1); };
  return {bin(from), bin(to - 1)};
}

double rate(const Timeline& timeline, const Bins& bins) {
  std::uint64_t requests = 0;
  for (std::size_t i = bins.first; i <= bins.last; ++i) requests += timeline.series.requests[i];
  const Nanos end =
      std::min((bins.last + 1) * timeline.sample, timeline.duration);  // the last bin may be short
  return static_cast<double>(requests) * 1e9 / static_cast<double>(end - bins.first * timeline.sample);
}

double failed_share(const Timeline& timeline, const Bins& bins) {
  std::uint64_t ok = 0, failed = 0;
  for (std::size_t i = bins.first; i <= bins.last; ++i) {
    ok += timeline.series.ok[i];
    failed += timeline.series.failed[i];
  }
  return ok + failed == 0 ? NAN_VALUE : static_cast<double>(failed) / static_cast<double>(ok + failed);
}

double slowest(const Timeline& timeline, const Bins& bins) {
  double out = NAN_VALUE;
  for (std::size_t i = bins.first; i <= bins.last; ++i)
    out = std::fmax(out, timeline.series.latency_p95_ms[i]);
  return out;
}

// Seven characters at most, which is what the label column leaves.
std::string short_number(double value) {
  if (value < 100) return decimal(value, 1);
  if (value < 999'999) return grouped(static_cast<std::uint64_t>(std::llround(value)));
  return value < 999e6 ? decimal(value / 1e6, 1) + "M" : fmt::format("{:.2g}", value);
}

template <class Value, class Show>
std::string spark_row(const Timeline& timeline, const Chart& chart, std::string_view label, Value value,
                      Show show) {
  std::vector<double> values;
  for (std::size_t c = 0; c < chart.columns(); ++c)
    values.push_back(value(timeline, bins_of(timeline, chart, c)));
  double peak = NAN_VALUE;
  for (const double v : values) peak = std::fmax(peak, v);
  return chart.spark(label, std::isnan(peak) ? "-" : show(peak), values);
}

std::string traffic_rows(const Timeline& timeline, const Chart& chart) {
  if (timeline.series.requests.empty() || timeline.sample == 0) return "";
  return "traffic (and its peak)\n" + spark_row(timeline, chart, "requests/s", rate, short_number) +
         spark_row(timeline, chart, "failed", failed_share, percent) +
         spark_row(timeline, chart, "p95 ms", slowest, short_number);
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

std::string lane_label(const Timeline& timeline, const EndpointLane& lane, std::size_t width,
                       const TextStyle& style) {
  std::string name = printable(lane.endpoint, style.ascii);
  if (timeline.upstream_names.size() > 1) {
    std::string whole = printable(timeline.upstream_names[lane.upstream], style.ascii) + ' ' + name;
    if (columns_of(whole) <= width) return whole;
  }
  return shorten(name, width, style.ascii);
}

std::string lanes_text(const Timeline& timeline, const TextStyle& style) {
  const std::vector<std::size_t> shown = lanes_to_show(timeline, style.max_lanes);
  const Chart chart(timeline.duration, label_width(timeline, shown, style), style);
  return state_rows(timeline, shown, chart, style) + fault_rows(timeline, chart, style) +
         traffic_rows(timeline, chart) + chart.axis() + chart.legend();
}

}  // namespace halfopen::sim
