#include "sim/text_chart.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace {

constexpr Nanos SECOND = 1000 * NANOS_PER_MS;

enum class Cell : std::uint8_t { absent, healthy, ejected, half_open, active };

struct Glyph {
  std::string_view unicode, ascii, colour;
};

// Told apart without colour: by density in Unicode, by character in ASCII.
constexpr std::array<Glyph, 5> GLYPHS{{
    {" ", " ", ""},
    {"█", "#", "32"},
    {"░", ".", "31"},
    {"▒", "+", "33"},
    {"━", "=", "35"},
}};

std::string_view glyph_of(Cell cell, const TextStyle& style) {
  const Glyph& glyph = GLYPHS[static_cast<std::size_t>(cell)];
  return style.ascii ? glyph.ascii : glyph.unicode;
}

// What a lane showed within one column.
struct Mix {
  Nanos healthy = 0, ejected = 0, half_open = 0;
  std::uint32_t half_opens = 0;
  bool active = false;

  // Health is the background, so anything else is shown before it however short it was. A single trial is
  // shown before the ejection it ends, or it would never be seen; several in a column are not, or an endpoint
  // that is out most of the time would look half-open.
  Cell cell() const {
    if (active) return Cell::active;
    if (half_opens == 1 || half_open > ejected) return Cell::half_open;
    if (ejected > 0 || half_opens > 0) return Cell::ejected;
    return healthy > 0 ? Cell::healthy : Cell::absent;
  }

  void add(LaneState state, Nanos time) {
    switch (state) {
      case LaneState::healthy:
      case LaneState::closed: healthy += time; break;
      case LaneState::ejected:
      case LaneState::open: ejected += time; break;
      case LaneState::half_open:
      case LaneState::breaker_half_open: half_open += time, ++half_opens; break;
      case LaneState::active: active = true; break;
    }
  }
};

constexpr std::array<std::string_view, 8> BARS{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 8> ASCII_BARS{"_", "-", ":", "=", "+", "*", "%", "#"};

// Any value above 0 has a bar: one failure among a million must not look like none.
std::string_view bar_of(double value, double peak, bool ascii) {
  if (std::isnan(value)) return " ";
  if (!(value > 0)) return ascii ? "." : "·";
  const auto eighths = static_cast<std::size_t>(std::ceil(value / peak * 8));
  return (ascii ? ASCII_BARS : BARS)[std::clamp<std::size_t>(eighths, 1, 8) - 1];
}

std::string_view sign_of(Sign sign, bool ascii) {
  switch (sign) {
    case Sign::reload: return ascii ? "v" : "▾";
    case Sign::back: return ascii ? "<" : "◂";
    case Sign::forward: return ascii ? ">" : "▸";
    case Sign::several: return ascii ? "*" : "◆";
  }
  return "";
}

// Steps that people count in: 1, 2, 5 and ten times those, then the clock's own.
Nanos tick_step(Nanos least) {
  constexpr std::array<Nanos, 3> FACTORS{1, 2, 5};
  constexpr std::array<Nanos, 16> SECONDS{10,  15,   20,   30,   60,    120,   300,   600,
                                          900, 1800, 3600, 7200, 14400, 21600, 43200, 86400};
  for (Nanos decade = 1; decade < 10 * SECOND; decade *= 10) {
    for (const Nanos factor : FACTORS) {
      if (decade * factor >= least) return decade * factor;
    }
  }
  for (const Nanos seconds : SECONDS) {
    if (seconds * SECOND >= least) return seconds * SECOND;
  }
  Nanos step = 2 * SECONDS.back() * SECOND;
  while (step < least) step *= 2;
  return step;
}

std::string tick_text(Nanos t, Nanos step) {
  const auto in = [t](Nanos unit) { return decimal(static_cast<double>(t) / static_cast<double>(unit), 6); };
  if (step >= 86400 * SECOND) return in(86400 * SECOND) + " d";
  if (step >= 3600 * SECOND) return in(3600 * SECOND) + " h";
  if (step >= 60 * SECOND) return in(60 * SECOND) + " min";
  return step >= SECOND / 10 ? in(SECOND) + " s" : in(NANOS_PER_MS) + " ms";
}

// A length with three digits or so: nobody counts with the width of a column.
std::string about(Nanos length) {
  const Nanos unit = length < SECOND ? NANOS_PER_MS : SECOND;
  const double value = static_cast<double>(length) / static_cast<double>(unit);
  const std::string number = value >= 100 ? grouped(length / unit) : decimal(value, value >= 10 ? 1 : 2);
  return number + (unit == SECOND ? " s" : " ms");
}

}  // namespace

Chart::Chart(Nanos duration, std::size_t label_width, const TextStyle& style)
    : duration_(std::max<Nanos>(duration, PAGE_WIDTH)),
      label_width_(label_width),
      columns_(PAGE_WIDTH - label_width - 1),
      style_(style) {}

std::string Chart::row(std::string label, std::string_view drawing) const {
  std::string out = pad_right(std::move(label), label_width_) + ' ' + std::string(drawing);
  while (out.back() == ' ') out.pop_back();
  return out + '\n';
}

std::string Chart::lane(std::string_view label, const std::vector<Interval>& intervals) const {
  std::vector<Mix> mixes(columns_);
  for (const Interval& interval : intervals) {
    if (interval.from >= duration_) continue;
    const Nanos to = std::min(std::max(interval.to, interval.from + 1), duration_);
    const auto last = static_cast<std::size_t>((to - 1) * columns_ / duration_);
    for (auto c = static_cast<std::size_t>(interval.from * columns_ / duration_); c <= last; ++c) {
      const Nanos begin = std::max(interval.from, start(c)), end = std::min(to, start(c + 1));
      mixes[c].add(interval.state, end > begin ? end - begin : 0);
    }
  }
  std::string drawing;
  for (std::size_t c = 0; c < columns_;) {
    const Cell cell = mixes[c].cell();
    std::string run;
    for (; c < columns_ && mixes[c].cell() == cell; ++c) run += glyph_of(cell, style_);
    const std::string_view colour = GLYPHS[static_cast<std::size_t>(cell)].colour;
    drawing += colour.empty() ? run : coloured(style_, colour, run);
  }
  return row("  " + shorten(label, label_width_ - 2, style_.ascii), drawing);
}

std::size_t Chart::column_of(Nanos t) const {
  return static_cast<std::size_t>(std::min(t, duration_ - 1) * columns_ / duration_);
}

std::string Chart::marks(std::string_view label, const std::vector<Mark>& marks) const {
  std::vector<std::string_view> line(columns_, " ");
  std::vector<Sign> signs(columns_, Sign::reload);
  for (const Mark& mark : marks) {
    const std::size_t c = column_of(mark.t);
    signs[c] = line[c] == " " || signs[c] == mark.sign ? mark.sign : Sign::several;
    line[c] = sign_of(signs[c], style_.ascii);
  }
  std::string drawing;
  for (const std::string_view piece : line) drawing += piece;
  return row("  " + shorten(label, label_width_ - 2, style_.ascii), drawing);
}

std::string Chart::script(std::string_view label, Nanos from) const {
  constexpr std::string_view TEXT = "script, until used up";
  const std::string_view colour = GLYPHS[static_cast<std::size_t>(Cell::active)].colour;
  const std::string begin = coloured(style_, colour, style_.ascii ? "|" : "┝");
  const std::size_t column = column_of(from);
  std::string drawing(column, ' ');
  if (column + 2 + TEXT.size() <= columns_) {
    drawing += begin + ' ' + std::string(TEXT);
  } else {
    if (column > TEXT.size()) drawing.replace(column - 1 - TEXT.size(), TEXT.size(), TEXT);
    drawing += begin;
  }
  return row("  " + shorten(label, label_width_ - 2, style_.ascii), drawing);
}

std::string Chart::spark(std::string_view label, std::string_view peak,
                         const std::vector<double>& values) const {
  double highest = 0;
  for (const double value : values) highest = std::isnan(value) ? highest : std::max(highest, value);
  std::string drawing;
  for (const double value : values) drawing += bar_of(value, highest, style_.ascii);
  const std::string name = "  " + std::string(label);
  return row(name + pad_left(std::string(peak), label_width_ - columns_of(name)), drawing);
}

std::string Chart::axis() const {
  constexpr std::size_t LEAST_DISTANCE = 9;  // columns between ticks: a label and some air
  const Nanos step = tick_step(duration_ / columns_ * LEAST_DISTANCE);
  std::vector<std::string_view> line(columns_, style_.ascii ? "-" : "─");
  std::string labels(columns_, ' ');
  for (Nanos t = 0; t < duration_; t += step) {
    const auto column = static_cast<std::size_t>(t * columns_ / duration_);
    line[column] = style_.ascii ? "+" : t == 0 ? "└" : "┴";
    const std::string text = tick_text(t, step);
    if (column + text.size() <= columns_) labels.replace(column, text.size(), text);
  }
  std::string ticks;
  for (const std::string_view piece : line) ticks += piece;
  return row("", ticks) + row("", labels);
}

std::string Chart::legend() const {
  const auto entry = [this](Cell cell, std::string_view meaning) {
    const std::string_view colour = GLYPHS[static_cast<std::size_t>(cell)].colour;
    return "  " + coloured(style_, colour, glyph_of(cell, style_)) + ' ' + std::string(meaning);
  };
  return entry(Cell::healthy, "healthy, closed") + entry(Cell::half_open, "half-open") +
         entry(Cell::ejected, "ejected, open") + entry(Cell::active, "injected") + "  column " +
         about(duration_ / columns_) + '\n';
}

}  // namespace halfopen::sim
