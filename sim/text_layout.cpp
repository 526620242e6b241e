#include "sim/text_layout.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "sim/number_format.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace {

// Bytes of the longest beginning of `text` that fits `width` columns.
std::size_t prefix_within(std::string_view text, std::size_t width) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    columns += columns_of(next_code_point(text, at));
    if (columns > width) return start;
  }
  return text.size();
}

// Where the longest end of `text` that fits `width` columns begins.
std::size_t suffix_within(std::string_view text, std::size_t width) {
  std::size_t surplus = columns_of(text);
  std::size_t at = 0;
  while (surplus > width) surplus -= columns_of(next_code_point(text, at));
  return at;
}

void trim_zeros(std::string& text) {
  if (text.find('.') == std::string::npos) return;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
}

// Commas between the digits before `end`.
void group(std::string& digits, std::size_t end) {
  const auto is_digit = [&](std::size_t at) { return digits[at] >= '0' && digits[at] <= '9'; };
  while (end > 3 && is_digit(end - 4)) digits.insert(end -= 3, 1, ',');
}

// A number and its unit stay on one line.
bool begins_with_unit(std::string_view text) {
  std::string_view word = text.substr(0, text.find(' '));
  while (!word.empty() && (word.back() == ')' || word.back() == ',' || word.back() == ';'))
    word.remove_suffix(1);
  return word == "%" || word == "s" || word == "ms";
}

// Collects words into lines.
class LineFiller {
 public:
  explicit LineFiller(std::size_t width) : width_(width) {}

  void add(std::string_view word) {
    const std::size_t columns = columns_of(word);
    if (!line_.empty() && used_ + 1 + columns > width_) flush();
    if (columns > width_) return add_cut(word);
    if (!line_.empty()) line_ += ' ', ++used_;
    line_ += word;
    used_ += columns;
  }

  std::vector<std::string> finish() {
    if (!line_.empty() || lines_.empty()) flush();
    return std::move(lines_);
  }

 private:
  void add_cut(std::string_view word) {
    while (columns_of(word) > width_) {
      // A first character wider than the line must not hold us here for ever.
      const std::size_t cut = std::max<std::size_t>(prefix_within(word, width_), 1);
      lines_.emplace_back(word.substr(0, cut));
      word.remove_prefix(cut);
    }
    if (!word.empty()) add(word);
  }

  void flush() {
    lines_.push_back(std::move(line_));
    line_.clear();
    used_ = 0;
  }

  std::size_t width_, used_ = 0;
  std::string line_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  LineFiller filler(width);
  while (!text.empty()) {
    std::size_t end = std::min(text.find(' '), text.size());
    if (end < text.size() && begins_with_unit(text.substr(end + 1)))
      end = std::min(text.find(' ', end + 1), text.size());
    if (end > 0) filler.add(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return filler.finish();
}

std::string shorten(std::string_view text, std::size_t width, bool ascii) {
  if (columns_of(text) <= width) return std::string(text);
  const std::string_view gap = ascii ? "..." : "…";
  const std::size_t gap_width = ascii ? 3 : 1;
  if (width <= gap_width) return std::string(text.substr(0, prefix_within(text, width)));
  const std::size_t left = (width - gap_width + 1) / 2;
  std::string out(text.substr(0, prefix_within(text, left)));
  out += gap;
  out += text.substr(suffix_within(text, width - gap_width - left));
  return out;
}

std::string shorten_around(std::string_view text, std::size_t from, std::size_t to, std::size_t width,
                           bool ascii) {
  const std::string gap = ascii ? "..." : "…";
  const std::size_t columns = columns_of(text), gap_width = columns_of(gap);
  if (columns <= width) return std::string(text);
  const std::string_view before = text.substr(0, from), kept = text.substr(from, to - from),
                         after = text.substr(to);
  const std::size_t surplus = columns + gap_width - width;
  if (columns_of(before) >= surplus) {
    const std::size_t cut = prefix_within(before, columns_of(before) - surplus);
    return std::string(before.substr(0, cut)) + gap + std::string(text.substr(from));
  }
  if (columns_of(after) >= surplus) {
    const std::size_t cut = suffix_within(after, columns_of(after) - surplus);
    return std::string(text.substr(0, to)) + gap + std::string(after.substr(cut));
  }
  const std::size_t left = gap_width + columns_of(kept);
  if (before.empty() || after.empty() || left + gap_width > width) return shorten(text, width, ascii);
  const std::size_t more = prefix_within(after, width - gap_width - left);
  return gap + std::string(kept) + std::string(after.substr(0, more)) + gap;
}

std::string pad_right(std::string text, std::size_t width) {
  const std::size_t columns = columns_of(text);
  if (columns < width) text.append(width - columns, ' ');
  return text;
}

std::string pad_left(std::string text, std::size_t width) {
  const std::size_t columns = columns_of(text);
  if (columns < width) text.insert(0, width - columns, ' ');
  return text;
}

std::string repeat(std::string_view piece, std::size_t times) {
  std::string out;
  out.reserve(piece.size() * times);
  for (std::size_t i = 0; i < times; ++i) out += piece;
  return out;
}

std::string hanging(std::string_view lead, std::string_view text) {
  const std::size_t indent = columns_of(lead);
  std::string out, margin(lead);
  for (const std::string& line : wrap(text, PAGE_WIDTH > indent + 20 ? PAGE_WIDTH - indent : 20)) {
    out += margin + line + '\n';
    margin.assign(indent, ' ');
  }
  return out;
}

std::string grouped(std::uint64_t value) {
  std::string out;
  append_uint(out, value);
  group(out, out.size());
  return out;
}

std::string decimal(double value, int decimals) {
  std::string out = fmt::format("{:.{}f}", value, decimals);
  trim_zeros(out);
  group(out, std::min(out.find('.'), out.size()));
  return out == "-0" ? "0" : out;
}

std::string percent(double share) {
  std::string out = decimal(share * 100, 2);
  if (out == "100" && share < 1) out = "> 99.99";
  if (out == "0" && share > 0) out = "< 0.01";
  return out + " %";
}

std::string length_text(Nanos length) {
  constexpr Nanos SECOND = 1000 * NANOS_PER_MS;
  if (length < SECOND) return decimal(static_cast<double>(length) / 1e6, 3) + " ms";
  const std::string fraction = decimal(static_cast<double>(length % SECOND) / 1e9, 3);
  if (fraction == "1") return grouped(length / SECOND + 1) + " s";
  return grouped(length / SECOND) + (fraction == "0" ? "" : fraction.substr(1)) + " s";
}

std::string instant_text(Nanos instant) {
  const Nanos ms = (instant + NANOS_PER_MS / 2) / NANOS_PER_MS;
  return fmt::format("{}.{:03} s", grouped(ms / 1000), ms % 1000);
}

std::string plural(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

std::string coloured(const TextStyle& style, std::string_view code, std::string_view text) {
  if (!style.colour) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

}  // namespace halfopen::sim
