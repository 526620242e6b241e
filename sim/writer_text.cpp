#include "sim/writer_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "sim/event_text.hpp"
#include "sim/text_lanes.hpp"
#include "sim/text_summary.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace {

// ---- headline ---------------------------------------------------------------------------------------

std::string headline(const Timeline& timeline, const TextStyle& style) {
  const std::string right = fmt::format("{}, seed {}", length_text(timeline.duration), timeline.seed);
  const std::size_t room = PAGE_WIDTH - right.size() - 2;
  const std::string name = pad_right(shorten(printable(timeline.name, style.ascii), room, style.ascii), room);
  std::string out = coloured(style, "1", name) + "  " + right + '\n';
  for (const std::string& line : wrap(printable(timeline.question, style.ascii), PAGE_WIDTH)) {
    if (!line.empty()) out += line + '\n';
  }
  return out + '\n';
}

std::string verdict(const std::vector<Judgement>& judgements, const TextStyle& style) {
  if (judgements.empty()) return "  no expectations\n";
  const auto held = static_cast<std::size_t>(std::count_if(
      judgements.begin(), judgements.end(), [](const Judgement& judgement) { return judgement.held; }));
  const bool all = held == judgements.size();
  const std::string word = all ? coloured(style, "1;32", "HELD") : coloured(style, "1;31", "FAILED");
  if (all) return fmt::format("  {}  {}\n", word, plural(held, "expectation"));
  return fmt::format("  {}  {} of {} did not hold\n", word, judgements.size() - held,
                     plural(judgements.size(), "expectation"));
}

// The bin in which the largest share failed; of equal ones the first.
std::string worst_bin(const Timeline& timeline) {
  const Series& series = timeline.series;
  double worst = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < series.failed.size(); ++i) {
    const std::uint64_t ended = series.ok[i] + series.failed[i];
    const double share = ended == 0 ? 0 : static_cast<double>(series.failed[i]) / static_cast<double>(ended);
    if (share > worst) worst = share, at = i;
  }
  if (worst == 0) return "";
  return fmt::format("; at worst {} failed ({} to {})", percent(worst), length_text(at * timeline.sample),
                     length_text(std::min((at + 1) * timeline.sample, timeline.duration)));
}

std::string outcome(const Timeline& timeline) {
  const Summary& summary = timeline.summary;
  std::string first = fmt::format("{} of {} ok", grouped(summary.ok), plural(summary.requests, "request"));
  if (!std::isnan(summary.success_ratio)) first += fmt::format(" ({})", percent(summary.success_ratio));
  std::string second = plural(summary.ejections, "ejection");
  if (!timeline.breakers.empty()) second += ", " + plural(summary.breaker_openings, "breaker opening");
  if (summary.fail_open_picks > 0) second += ", " + plural(summary.fail_open_picks, "fail-open pick");
  return hanging("  ", first + worst_bin(timeline)) + hanging("  ", second) + '\n';
}

// ---- events and expectations --------------------------------------------------------------------------

std::string event_row(const Timeline& timeline, const TimelineEvent& event, std::size_t time_width,
                      const TextStyle& style) {
  const std::string lead = "  " + pad_left(instant_text(event.t), time_width) + "  ";
  const std::string subject = shorten(printable(subject_text(timeline, event), style.ascii), 40, style.ascii);
  return hanging(lead, subject + ' ' + reason_text(event));
}

std::string event_rows(const Timeline& timeline, const TextStyle& style) {
  const auto& events = timeline.events;
  if (events.empty()) return "Events\n  none\n\n";
  const std::size_t time_width = instant_text(events.back().t).size();
  // How it began matters most, how it ended next: three quarters of the room, and one.
  const bool cut = events.size() > style.max_events;
  const std::size_t tail = cut ? style.max_events / 4 : 0;
  const std::size_t head = cut ? style.max_events - tail : events.size();
  std::string out = "Events\n";
  for (std::size_t i = 0; i < head; ++i) out += event_row(timeline, events[i], time_width, style);
  if (!cut) return out + '\n';
  const std::size_t hidden = events.size() - head - tail;
  out += fmt::format("  ... {} more, shown with --all ...\n", plural(hidden, "event"));
  for (std::size_t i = events.size() - tail; i < events.size(); ++i) {
    out += event_row(timeline, events[i], time_width, style);
  }
  return out + '\n';
}

std::string expectation_row(const Judgement& judgement, std::string_view file, const TextStyle& style) {
  const std::string expected = printable(judgement.expected, style.ascii);
  if (judgement.held) return hanging("  held    ", expected);
  const SourcePlace& place = judgement.expectation->place;
  std::string out = hanging("  FAILED  ", expected);
  if (style.colour) out.replace(2, 6, coloured(style, "1;31", "FAILED"));
  out += hanging("          ", "got " + printable(judgement.got, style.ascii));
  const std::string where = fmt::format(":{}:{}", place.line, place.column);
  const std::size_t room = PAGE_WIDTH - 10 - std::min<std::size_t>(where.size(), 30);
  return out + "          " + shorten(printable(file, style.ascii), room, style.ascii) + where + '\n';
}

std::string expectation_rows(const std::vector<Judgement>& judgements, std::string_view file,
                             const TextStyle& style) {
  if (judgements.empty()) return "";
  std::string out = "Expectations\n";
  for (const Judgement& judgement : judgements) out += expectation_row(judgement, file, style);
  return out + '\n';
}

}  // namespace

std::string timeline_text(const Timeline& timeline, const std::vector<Judgement>& judgements,
                          std::string_view file, const TextStyle& style) {
  return headline(timeline, style) + verdict(judgements, style) + outcome(timeline) +
         lanes_text(timeline, style) + '\n' + event_rows(timeline, style) +
         expectation_rows(judgements, file, style) + summary_text(timeline, style);
}

}  // namespace halfopen::sim
