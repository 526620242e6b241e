#include "sim/writer_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/text_events.hpp"
#include "sim/text_lanes.hpp"
#include "sim/text_summary.hpp"
#include "sim/text_traffic.hpp"
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
  return fmt::format("  {}  {} of {} did not hold\n", word, grouped(judgements.size() - held),
                     plural(judgements.size(), "expectation"));
}

std::string worst_text(const Timeline& timeline) {
  const std::optional<WorstBin> worst = worst_bin(timeline);
  if (!worst) return "";
  return fmt::format("; at worst {} failed ({} of {}) from {} to {}", percent(worst->share()),
                     grouped(worst->failed), grouped(worst->ended), length_text(worst->from),
                     length_text(worst->to));
}

std::string fail_open_text(const Timeline& timeline) {
  const std::string out = ", " + plural(timeline.summary.fail_open_picks, "fail-open pick");
  const std::optional<Span> span = fail_open_span(timeline);
  return span ? fmt::format("{} from {} to {}", out, length_text(span->from), length_text(span->to)) : out;
}

std::string outcome(const Timeline& timeline) {
  const Summary& summary = timeline.summary;
  std::string first = fmt::format("{} of {} ok", grouped(summary.ok), plural(summary.requests, "request"));
  if (!std::isnan(summary.success_ratio)) first += fmt::format(" ({})", percent(summary.success_ratio));
  std::string second = plural(summary.ejections, "ejection");
  if (!timeline.breakers.empty()) second += ", " + plural(summary.breaker_openings, "breaker opening");
  if (summary.fail_open_picks > 0) second += fail_open_text(timeline);
  return hanging("  ", first + worst_text(timeline)) + hanging("  ", second) + '\n';
}

// ---- expectations --------------------------------------------------------------------------------------

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
