#include "sim/text_summary.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sim/text_lanes.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace {

using Entry = std::pair<std::string, std::string>;  // what, how much
constexpr std::size_t INDENT = 2;
constexpr std::size_t GAP = 4;  // between columns

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

using Row = std::vector<std::string>;

Row endpoint_row(std::string name, const EndpointLane& lane) {
  const double attempts = static_cast<double>(lane.total_attempts);
  const double share = static_cast<double>(lane.total_failures) / attempts;
  return {std::move(name),
          grouped(lane.total_attempts),
          grouped(lane.total_failures),
          lane.total_attempts == 0 ? "-" : percent(share),
          grouped(lane.ejections),
          length_text(time_ejected(lane))};
}

// Names to the left, numbers to the right.
std::string table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], columns_of(row[c]));
  }
  std::string out;
  for (const Row& row : rows) {
    out += "  " + pad_right(row[0], widths[0]);
    for (std::size_t c = 1; c < row.size(); ++c) out += "  " + pad_left(row[c], widths[c]);
    out += '\n';
  }
  return out;
}

std::string endpoint_table(const Timeline& timeline, const TextStyle& style) {
  constexpr std::size_t MOST_NAME = 28;  // beside the widest numbers that a run of 2e8 requests can have
  const std::vector<std::size_t> shown = lanes_to_show(timeline, style.max_lanes);
  if (shown.empty()) return "";
  std::vector<Row> rows{{"endpoint", "attempts", "failed", "share", "ejected", "for"}};
  for (const std::size_t i : shown) {
    const EndpointLane& lane = timeline.lanes[i];
    rows.push_back(endpoint_row(lane_label(timeline, lane, MOST_NAME, style), lane));
  }
  return '\n' + table(rows) + lanes_left_out(timeline, shown);
}

}  // namespace

std::string summary_text(const Timeline& timeline, const TextStyle& style) {
  return "Summary\n" + grid(entries_of(timeline.summary)) + endpoint_table(timeline, style);
}

}  // namespace halfopen::sim
