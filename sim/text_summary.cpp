#include "sim/text_summary.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/metrics.hpp"
#include "sim/text_lanes.hpp"
#include "sim/text_names.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace {

using Entry = std::pair<std::string, std::string>;  // what, how much
constexpr std::size_t INDENT = 2;
constexpr std::size_t GAP = 4;      // between columns of the grid
constexpr std::size_t BETWEEN = 2;  // between columns of a table

std::string ms_text(double ms) { return std::isnan(ms) ? "-" : decimal(ms, 3) + " ms"; }

// Read down the columns: what came in, what was done about it, what it cost.
std::vector<Entry> entries_of(const Summary& s) {
  const auto number_or_dash = [](double value) { return std::isnan(value) ? "-" : decimal(value, 3); };
  return {
      {"requests", grouped(s.requests)},
      {"ok", grouped(s.ok)},
      {"failed", grouped(s.failed)},
      {"- fast-failed", grouped(s.fast_failed)},
      {"abandoned", grouped(s.abandoned)},
      {"unfinished", grouped(s.unfinished)},
      {"attempts", grouped(s.attempts)},
      {"- failed", grouped(s.failures)},
      {"- a request", number_or_dash(s.attempts_per_request)},
      {"retries", grouped(s.retries)},
      {"- denied", grouped(s.retries_denied)},
      {"fail-open picks", grouped(s.fail_open_picks)},
      {"success", std::isnan(s.success_ratio) ? "-" : percent(s.success_ratio)},
      {"p50 of ok", ms_text(s.latency_p50_ms)},
      {"p95", ms_text(s.latency_p95_ms)},
      {"p99", ms_text(s.latency_p99_ms)},
      {"breaker open", length_text(static_cast<Nanos>(s.breaker_open_ms * 1e6))},
      {"late ignored", grouped(s.late_reports_ignored)},
  };
}

// What the run did about the faults that were injected, which only the simulation knows.
std::vector<Entry> truth_entries(const Timeline& timeline) {
  const auto number = [&timeline](std::string_view name) { return value(*find_metric(name), timeline); };
  const auto count = [&number](std::string_view name) {
    return grouped(static_cast<std::uint64_t>(number(name).value_or(0)));
  };
  const auto length = [&number](std::string_view name) {
    const std::optional<double> ms = number(name);
    return ms ? length_text(nanos_of_ms(*ms)) : "-";
  };
  const auto times = [&number](std::string_view name) {
    const std::optional<double> load = number(name);
    return load ? decimal(*load, 2) + " x" : "-";
  };
  return {
      {"detected in", length("time_to_detect_ms")},
      {"- missed", count("missed")},
      {"- lost before", count("lost_before_ejection")},
      {"- in rotation", length("in_rotation_while_failing_ms")},
      {"false ejections", count("false_ejections")},
      {"- out for", length("false_ejection_ms")},
      {"by overload", count("overload")},
      {"back in", length("time_to_return_ms")},
      {"survivor load", times("survivor_load_mean")},
      {"- at most", times("survivor_load_max")},
  };
}

bool anything_injected(const Timeline& timeline) {
  return std::any_of(timeline.faults.begin(), timeline.faults.end(),
                     [](const FaultLane& fault) { return !fault.intervals.empty(); });
}

struct Column {
  std::size_t name = 0, value = 0;  // widths
};

std::vector<Column> column_widths(const std::vector<Entry>& entries, std::size_t rows) {
  std::vector<Column> out((entries.size() + rows - 1) / rows);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Column& column = out[i / rows];
    column.name = std::max(column.name, entries[i].first.size());
    column.value = std::max(column.value, entries[i].second.size());
  }
  return out;
}

bool fits(const std::vector<Column>& columns) {
  std::size_t width = INDENT - GAP;
  for (const Column& column : columns) width += GAP + column.name + 2 + column.value;
  return width <= PAGE_WIDTH;
}

std::string grid(const std::vector<Entry>& entries) {
  std::size_t rows = entries.size() / 3;
  while (!fits(column_widths(entries, rows))) ++rows;
  const std::vector<Column> columns = column_widths(entries, rows);
  std::string out;
  for (std::size_t row = 0; row < rows; ++row) {
    std::string line(INDENT, ' ');
    for (std::size_t c = 0; c < columns.size() && c * rows + row < entries.size(); ++c) {
      const auto& [name, value] = entries[c * rows + row];
      if (c > 0) line += std::string(GAP, ' ');
      line += pad_right(name, columns[c].name + 2) + pad_left(value, columns[c].value);
    }
    out += line + '\n';
  }
  return out;
}

Nanos time_ejected(const EndpointLane& lane) {
  Nanos out = 0;
  for (const Interval& interval : lane.intervals) {
    if (interval.state == LaneState::ejected) out += interval.to - interval.from;
  }
  return out;
}

// ---- a row for each endpoint ------------------------------------------------------------------------------

using Cells = std::vector<std::string>;

struct Columns {
  Cells header;  // without the first, which has the names
  Cells (*cells_of)(const EndpointLane& lane);
};

Cells traffic_cells(const EndpointLane& lane) {
  const double attempts = static_cast<double>(lane.total_attempts);
  const double share = static_cast<double>(lane.total_failures) / attempts;
  return {grouped(lane.total_attempts), grouped(lane.total_failures),
          lane.total_attempts == 0 ? "-" : percent(share), grouped(lane.ejections),
          length_text(time_ejected(lane))};
}

Cells probe_cells(const EndpointLane& lane) {
  if (lane.probes == 0) return {"-", "-"};
  return {grouped(lane.probes), grouped(lane.failed_probes)};
}

Cells all_cells(const EndpointLane& lane) {
  Cells out = traffic_cells(lane);
  for (std::string& cell : probe_cells(lane)) out.push_back(std::move(cell));
  return out;
}

const Columns TRAFFIC{{"attempts", "failed", "share", "ejected", "for"}, traffic_cells};
const Columns PROBES{{"probes", "failed"}, probe_cells};
const Columns ALL{{"attempts", "failed", "share", "ejected", "for", "probes", "failed"}, all_cells};

class EndpointTable {
 public:
  EndpointTable(const Timeline& timeline, const TextStyle& style)
      : timeline_(timeline),
        style_(style),
        names_(timeline, style),
        shown_(lanes_to_show(timeline, style.max_lanes)),
        indent_(timeline.upstream_names.size() > 1 ? 2 * INDENT : INDENT) {
    // As in the picture above it.
    std::stable_sort(shown_.begin(), shown_.end(), [&timeline](std::size_t a, std::size_t b) {
      return timeline.lanes[a].upstream < timeline.lanes[b].upstream;
    });
  }

  std::string text() const {
    if (shown_.empty()) return "";
    const bool probed = std::any_of(timeline_.lanes.begin(), timeline_.lanes.end(),
                                    [](const EndpointLane& lane) { return lane.probes > 0; });
    if (!probed) return '\n' + table(TRAFFIC) + lanes_left_out(timeline_, shown_);
    // Beside very large numbers there is no room for names: the probes get a table of their own.
    const bool together = room_beside(widths_of(ALL)) >= std::min(longest_name(), LEAST_NAME);
    const std::string tables = together ? table(ALL) : table(TRAFFIC) + '\n' + table(PROBES);
    return '\n' + tables + lanes_left_out(timeline_, shown_);
  }

 private:
  static constexpr std::size_t LEAST_NAME = 15, MOST_NAME = 28;

  std::size_t longest_name() const {
    std::size_t out = 8;  // the header's, and enough for any name shortened
    for (const std::size_t i : shown_) {
      out = std::max(out, columns_of(printable(timeline_.lanes[i].endpoint, style_.ascii)));
    }
    return out;
  }

  std::vector<std::size_t> widths_of(const Columns& columns) const {
    std::vector<std::size_t> out;
    for (const std::string& title : columns.header) out.push_back(title.size());
    for (const std::size_t i : shown_) {
      const Cells cells = columns.cells_of(timeline_.lanes[i]);
      for (std::size_t c = 0; c < cells.size(); ++c) out[c] = std::max(out[c], cells[c].size());
    }
    return out;
  }

  std::size_t room_beside(const std::vector<std::size_t>& widths) const {
    std::size_t used = indent_;
    for (const std::size_t width : widths) used += BETWEEN + width;
    return used < PAGE_WIDTH ? PAGE_WIDTH - used : 0;
  }

  // Names to the left, numbers to the right.
  std::string table(const Columns& columns) const {
    const std::vector<std::size_t> widths = widths_of(columns);
    const std::size_t room =
        std::clamp<std::size_t>(room_beside(widths), 8, std::min(longest_name(), MOST_NAME));
    const auto line = [&](std::string out, const Cells& cells) {
      out = pad_right(std::move(out), indent_ + room);
      for (std::size_t c = 0; c < cells.size(); ++c)
        out += std::string(BETWEEN, ' ') + pad_left(cells[c], widths[c]);
      return out + '\n';
    };
    std::string out = line("  endpoint", columns.header);
    for (std::size_t n = 0; n < shown_.size(); ++n) {
      const EndpointLane& lane = timeline_.lanes[shown_[n]];
      const bool first = n == 0 || timeline_.lanes[shown_[n - 1]].upstream != lane.upstream;
      if (first && indent_ > INDENT) {
        const std::string name = printable(timeline_.upstream_names[lane.upstream], style_.ascii);
        out += std::string(INDENT, ' ') + shorten(name, PAGE_WIDTH - INDENT, style_.ascii) + '\n';
      }
      out += line(std::string(indent_, ' ') + names_.shown(lane.endpoint, room), columns.cells_of(lane));
    }
    return out;
  }

  const Timeline& timeline_;
  const TextStyle& style_;
  Names names_;
  std::vector<std::size_t> shown_;
  std::size_t indent_;
};

// ---- footnote -------------------------------------------------------------------------------------------

std::string footnote(const Summary& s) {
  const bool percentiles =
      !std::isnan(s.latency_p50_ms) || !std::isnan(s.latency_p95_ms) || !std::isnan(s.latency_p99_ms);
  return percentiles ? "  percentiles: lower edge of a 1/128 step\n" : "";
}

}  // namespace

std::string summary_text(const Timeline& timeline, const TextStyle& style) {
  std::string out = "Summary\n" + grid(entries_of(timeline.summary)) + footnote(timeline.summary);
  if (anything_injected(timeline)) out += "\n  against the faults\n" + grid(truth_entries(timeline));
  return out + EndpointTable(timeline, style).text();
}

}  // namespace halfopen::sim
