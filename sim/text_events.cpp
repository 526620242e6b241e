#include "sim/text_events.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "sim/event_text.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace {

// One of the three, or what a fold hides.
struct Row {
  Nanos t = 0;
  const TimelineEvent* event = nullptr;
  const ClockStep* step = nullptr;  // neither: a reload
  Nanos last = 0;
  std::size_t hidden = 0;  // rows that this one stands for
};

// In one instant, clock steps come before reloads and those before everything else (scenario.md).
std::vector<Row> rows_of(const Timeline& timeline) {
  std::vector<Row> out;
  for (const ClockStep& step : timeline.clock_steps) out.push_back({step.at, nullptr, &step});
  for (const Nanos t : timeline.reloads) out.push_back({t});
  for (const TimelineEvent& event : timeline.events) out.push_back({event.t, &event});
  std::stable_sort(out.begin(), out.end(), [](const Row& a, const Row& b) { return a.t < b.t; });
  return out;
}

// ---- folding --------------------------------------------------------------------------------------------

bool is_pair(const Row& out, const Row& back) {
  return out.event != nullptr && back.event != nullptr && out.event->type == EventType::endpoint_ejected &&
         back.event->type == EventType::endpoint_recovered && out.event->upstream == back.event->upstream &&
         out.event->endpoint == back.event->endpoint;
}

bool alike(const TimelineEvent& a, const TimelineEvent& b) {
  return a.upstream == b.upstream && a.endpoint == b.endpoint && a.via == b.via;
}

// How many ejections of one endpoint follow each other from `at` on, each ended in the same way.
std::size_t pairs_from(const std::vector<Row>& rows, std::size_t at) {
  std::size_t pairs = 0;
  while (at + 1 < rows.size() && is_pair(rows[at], rows[at + 1])) {
    if (pairs > 0 && !alike(*rows[at - 1].event, *rows[at + 1].event)) break;
    ++pairs;
    at += 2;
  }
  return pairs;
}

std::vector<Row> folded(const std::vector<Row>& rows) {
  constexpr std::size_t FIRST = 2, LAST = 1, WORTH_IT = 4;  // pairs
  std::vector<Row> out;
  for (std::size_t at = 0; at < rows.size();) {
    const std::size_t pairs = pairs_from(rows, at);
    if (pairs < FIRST + WORTH_IT + LAST) {
      out.push_back(rows[at++]);
      continue;
    }
    const std::size_t hidden = 2 * (pairs - FIRST - LAST);
    for (std::size_t i = 0; i < 2 * FIRST; ++i) out.push_back(rows[at++]);
    out.push_back({rows[at].t, nullptr, nullptr, rows[at + hidden - 1].t, hidden});
    at += hidden;
    for (std::size_t i = 0; i < 2 * LAST; ++i) out.push_back(rows[at++]);
  }
  return out;
}

// ---- text -----------------------------------------------------------------------------------------------

std::string row_text(const Timeline& timeline, const Row& row, std::size_t time_width,
                     const TextStyle& style) {
  const std::string lead = "  " + pad_left(instant_text(row.t), time_width) + "  ";
  if (row.hidden > 0) {
    return hanging("  " + pad_left("...", time_width) + "  ",
                   fmt::format("out and back {} times more, {} to {}; --all shows them",
                               grouped(row.hidden / 2), instant_text(row.t), instant_text(row.last)));
  }
  if (row.step != nullptr) return hanging(lead, clock_step_text(*row.step));
  if (row.event == nullptr) return hanging(lead, "configuration reloaded");
  const std::string subject =
      shorten(printable(subject_text(timeline, *row.event), style.ascii), 40, style.ascii);
  return hanging(lead, subject + ' ' + reason_text(*row.event));
}

}  // namespace

std::string event_rows(const Timeline& timeline, const TextStyle& style) {
  std::vector<Row> rows = rows_of(timeline);
  if (rows.empty()) return "Events\n  none\n\n";
  const std::size_t time_width = instant_text(rows.back().t).size();
  if (style.max_events < std::numeric_limits<std::size_t>::max()) rows = folded(rows);
  // How it began matters most, how it ended next: three quarters of the room, and one.
  const bool cut = rows.size() > style.max_events;
  const std::size_t tail = cut ? style.max_events / 4 : 0;
  const std::size_t head = cut ? style.max_events - tail : rows.size();
  std::string out = "Events\n";
  for (std::size_t i = 0; i < head; ++i) out += row_text(timeline, rows[i], time_width, style);
  if (!cut) return out + '\n';
  std::size_t hidden = 0;
  for (std::size_t i = head; i < rows.size() - tail; ++i) hidden += std::max<std::size_t>(rows[i].hidden, 1);
  out += fmt::format("  ... {} more, shown with --all ...\n", plural(hidden, "event"));
  for (std::size_t i = rows.size() - tail; i < rows.size(); ++i) {
    out += row_text(timeline, rows[i], time_width, style);
  }
  return out + '\n';
}

}  // namespace halfopen::sim
