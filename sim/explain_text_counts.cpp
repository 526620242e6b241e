// What was reported, and how it stood against the limits.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>

#include "sim/event_text.hpp"
#include "sim/explain_text_parts.hpp"
#include "sim/outcome_text.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace {

// ---- the outcomes -----------------------------------------------------------------------------------------

using Row = std::array<std::string, 7>;  // time, request, endpoint, outcome, streak, window, notes

std::string notes_of(const Heard& heard, bool aged) {
  std::string out;
  const auto add = [&out](const char* note) { (out += out.empty() ? "" : ", ") += note; };
  if (heard.trial) add("trial");
  if (heard.fail_open) add("fail-open");
  if (heard.late) add(heard.ignored ? "late, ignored" : "late");
  if (aged) add("has left the window");
  return out;
}

Row row_of(const Told& told, const Heard& heard, bool aged) {
  const std::string endpoint = told.what.subject.breaker ? told.timeline.lanes[heard.lane].endpoint : "";
  return {instant_text(heard.t),
          shorten(request_text(told, heard), 20, told.style.ascii),
          shorten(printable(endpoint, told.style.ascii), 18, told.style.ascii),
          heard.probe ? (heard.failure ? "failed" : "ok") : outcome_text(heard.outcome, heard.body_broke),
          grouped(heard.streak),
          fmt::format("{} of {}", grouped(heard.failures), grouped(heard.volume)),
          notes_of(heard, aged)};
}

// Numbers to the right, words to the left; a column that is empty throughout is left out.
std::string table(const std::vector<Row>& rows, const TextStyle& style) {
  std::array<std::size_t, 7> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  widths[2] =
      rows.size() > 1 && std::all_of(rows.begin() + 1, rows.end(), [](const Row& r) { return r[2].empty(); })
          ? 0
          : widths[2];
  std::string out;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (widths[i] == 0) continue;
      const bool number = i == 0 || i == 4 || i == 5;
      line += "  " + (number ? pad_left(row[i], widths[i]) : pad_right(row[i], widths[i]));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += shorten(line, PAGE_WIDTH, style.ascii) + '\n';
  }
  return out;
}

// ---- the limits -------------------------------------------------------------------------------------------

std::string streak_text(const Because& because, bool fired) {
  if (fired) {
    return fmt::format("{} in a row, limit {}: fired", plural(because.streak, "failure"),
                       grouped(because.threshold));
  }
  return fmt::format("streak {} of {}: {} short", grouped(because.streak), grouped(because.threshold),
                     grouped(because.threshold - std::min(because.threshold, because.streak)));
}

std::string ratio_text(const Because& because, bool fired) {
  if (because.volume == 0) return "nothing in the window";
  const double share = static_cast<double>(because.failures) / static_cast<double>(because.volume);
  const std::string counts = share_text(because.failures, because.volume);
  const std::string limit = "limit " + limit_text(because.limit);
  if (judged_by_probes(because)) return counts + "; probes are not judged by it";
  if (fired) return fmt::format("{}, {} from {}: fired", counts, limit, grouped(because.min_volume));
  if (because.volume < because.min_volume) {
    return fmt::format("{}, {}, but asked only from {} on: {} short", counts, limit,
                       plural(because.min_volume, "observation"),
                       grouped(because.min_volume - because.volume));
  }
  if (share >= because.limit) return fmt::format("{}, {}: met as well, the streak was first", counts, limit);
  return fmt::format("{}, {}: {} points short", counts, limit, decimal((because.limit - share) * 100, 2));
}

}  // namespace

std::string request_text(const Told& told, const Heard& heard) {
  if (heard.probe) return "probe";
  std::string out = told.scenario.traffic.size() > 1
                        ? fmt::format("{}#{}", heard.request.entry, heard.request.index)
                        : fmt::format("#{}", heard.request.index);
  if (heard.request.tryn > 0) out += fmt::format(" try {}", heard.request.tryn + 1);
  if (heard.attempt > 0) out += fmt::format(" retry {}", heard.attempt);
  return out;
}

std::string led_section(const Told& told) {
  const auto& led = told.heard.led();
  const bool outage = told.what.which.has_value();
  if (led.empty()) return outage ? heading(told, "What led there") + "  nothing was heard of it\n\n" : "";
  // The machine's own count says how many of the newest are in its window; probes never are.
  std::uint64_t in_window = outage ? told.cause().because.volume : led.back().volume;
  std::vector<Row> rows;
  for (auto heard = led.rbegin(); heard != led.rend(); ++heard) {
    const bool windowed = !heard->probe && !heard->ignored;
    rows.push_back(row_of(told, *heard, windowed && in_window == 0));
    if (windowed && in_window > 0) --in_window;
  }
  if (outage) {
    const Because& because = told.cause().because;
    rows.front()[4] = grouped(because.streak);
    rows.front()[5] = fmt::format("{} of {}", grouped(because.failures), grouped(because.volume));
    std::string& notes = rows.front()[6];
    notes = (notes.empty() ? "" : notes + ", ") + told.went_out();
  }
  rows.push_back({"at", "request", "endpoint", "outcome", "streak", "failed", ""});
  std::reverse(rows.begin(), rows.end());
  std::string title = outage ? "What led there" : "What was reported to it";
  if (told.heard.led_total() > led.size()) {
    const bool all = told.style.max_events == std::numeric_limits<std::size_t>::max();
    title += fmt::format(" (last {} of {}{})", grouped(led.size()), grouped(told.heard.led_total()),
                         all ? "" : "; --all shows more");
  }
  return heading(told, title) + table(rows, told.style) + '\n';
}

std::string limits_section(const Told& told) {
  const TimelineEvent& event = told.cause();
  const bool ratio = event.rule == Rule::failure_ratio || event.rule == Rule::error_ratio;
  const char* ratio_name = told.what.subject.breaker ? "error_ratio" : "failure_ratio";
  const char* streak_name = judged_by_probes(event.because) ? "failure_threshold" : "consecutive_failures";
  return heading(told, "The counts against the limits") +
         hanging("  " + pad_right(streak_name, 20) + "  ", streak_text(event.because, !ratio)) +
         hanging("  " + pad_right(ratio_name, 20) + "  ", ratio_text(event.because, ratio)) + '\n';
}

std::string nearest_section(const Told& told) {
  const bool breaker = told.what.subject.breaker;
  const Nanos asked = told.what.at.value_or(told.what.stretch->from);
  const UpstreamConfig* config =
      config_at(told.scenario, told.timeline.upstream_names[told.what.subject.upstream], asked);
  std::string out = heading(told, "How near it came");
  if (config == nullptr || (breaker ? !config->breaker : !config->health)) {
    return out +
           hanging("  ", fmt::format("It has no {} block: nothing can put it out.",
                                     breaker ? "breaker" : "health")) +
           '\n';
  }
  const std::uint32_t streak =
      breaker ? config->breaker->consecutive_failures : config->health->consecutive_failures;
  const double limit = breaker ? config->breaker->error_ratio : config->health->failure_ratio;
  const std::uint32_t volume = breaker ? config->breaker->error_volume : config->health->failure_min_volume;
  std::string streaks = "no failure at all", ratios;
  if (const auto& longest = told.heard.longest_streak()) {
    streaks = fmt::format("streak {} of {} at {} ({}): {} short", grouped(longest->streak), grouped(streak),
                          instant_text(longest->t), request_text(told, *longest),
                          grouped(streak - std::min(streak, longest->streak)));
  }
  if (const auto& nearest = told.heard.nearest_ratio()) {
    ratios = fmt::format("{} at {}, limit {} from {}", share_text(nearest->failures, nearest->volume),
                         instant_text(nearest->t), limit_text(limit), grouped(volume));
  } else {
    ratios = fmt::format("never a failure among {} observations or more, from which on limit {} is asked",
                         grouped(volume), limit_text(limit));
  }
  return out + hanging("  " + pad_right("consecutive_failures", 20) + "  ", streaks) +
         hanging("  " + pad_right(breaker ? "error_ratio" : "failure_ratio", 20) + "  ", ratios) + '\n';
}

}  // namespace halfopen::sim
