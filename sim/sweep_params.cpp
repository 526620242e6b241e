#include "sim/sweep_params.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "sim/json_source.hpp"
#include "sim/sweep_json.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {
namespace {

constexpr std::int64_t LARGEST = 100'000'000'000'000'000;  // of a grid, in units of its last decimal place

// units * 10^-places. No double comes near a grid: three steps of 0.1 are 0.3.
struct Decimal {
  std::int64_t units = 0;
  int places = 0;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Moves `at` past a whole number; false if there is none or it is too large.
bool take_digits(std::string_view text, std::size_t& at, std::int64_t& units, int& count) {
  const std::size_t begin = at;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    units = units * 10 + (text[at] - '0');
    if (units > LARGEST) return false;
  }
  count = static_cast<int>(at - begin);
  return at > begin;
}

// A number as JSON has it: -0.5, 12, 1e3.
std::optional<Decimal> decimal_of(std::string_view text) {
  std::size_t at = 0;
  const bool negative = text.starts_with('-');
  if (negative) ++at;
  Decimal out;
  int ignored = 0;
  if (!take_digits(text, at, out.units, ignored)) return std::nullopt;
  if (at < text.size() && text[at] == '.' && !take_digits(text, ++at, out.units, out.places)) {
    return std::nullopt;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    const bool smaller = at < text.size() && text[at] == '-';
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    std::int64_t exponent = 0;
    if (!take_digits(text, at, exponent, ignored) || exponent > 17) return std::nullopt;
    out.places += static_cast<int>(smaller ? exponent : -exponent);
  }
  if (at != text.size()) return std::nullopt;
  if (negative) out.units = -out.units;
  return out;
}

// In units of 10^-places, if they are not too many.
std::optional<std::int64_t> in_units(const Decimal& number, int places) {
  std::int64_t units = number.units;
  for (int n = number.places; n < places; ++n) {
    if (std::abs(units) > LARGEST / 10) return std::nullopt;
    units *= 10;
  }
  return units;
}

std::string written(std::int64_t units, int places) {
  std::string digits = std::to_string(std::abs(units));
  if (places > 0) {
    const auto fraction = static_cast<std::size_t>(places);
    if (digits.size() <= fraction) digits.insert(0, fraction + 1 - digits.size(), '0');
    digits.insert(digits.size() - fraction, ".");
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.ends_with('.')) digits.pop_back();
  }
  return (units < 0 ? "-" : "") + digits;
}

// Whether someone who writes this means a grid: a number on both sides of "..", or nearly so.
bool looks_like_grid(std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos || dots == 0 || dots + 2 >= text.size()) return false;
  const char after = text[dots + 2];
  return decimal_of(text.substr(0, dots)).has_value() && (is_digit(after) || after == '-' || after == '.');
}

class Grid {
 public:
  // A sentence if it is none; its values are added to `out`.
  static std::string add(std::string_view text, std::vector<std::string>& out) {
    const std::size_t dots = text.find("..");
    const std::size_t colon = text.find(':', dots);
    if (colon == std::string_view::npos) {
      return fmt::format("the grid '{0}' says no step: write {0}:1, or \"{0}\" in quotes for a text", text);
    }
    const auto lo = decimal_of(text.substr(0, dots));
    const auto hi = decimal_of(text.substr(dots + 2, colon - dots - 2));
    const auto step = decimal_of(text.substr(colon + 1));
    if (!lo || !hi || !step) {
      return fmt::format("'{}' is no grid lo..hi:step of three numbers of up to 17 digits", text);
    }
    const int places = std::max({lo->places, hi->places, step->places, 0});
    const auto from = in_units(*lo, places), to = in_units(*hi, places), by = in_units(*step, places);
    if (!from || !to || !by) {
      return fmt::format("the numbers of '{}' have more than 17 digits between them", text);
    }
    if (*by == 0) return fmt::format("the step of '{}' is 0: it would never arrive", text);
    if ((*to > *from && *by < 0) || (*to<*from&& * by> 0)) {
      return fmt::format("the step of '{}' leads away from {}: write it with the other sign", text,
                         text.substr(dots + 2, colon - dots - 2));
    }
    const std::int64_t steps = (*to - *from) / *by;
    if (static_cast<std::uint64_t>(steps) >= MAX_SWEEP_RUNS) {
      return fmt::format("'{}' has more than {} values", text, MAX_SWEEP_RUNS);
    }
    for (std::int64_t n = 0; n <= steps; ++n) out.push_back(written(*from + n * *by, places));
    return {};
  }
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Cuts at the commas that are not inside a value. A sentence if a value never ends.
std::string split(std::string_view text, std::vector<std::string_view>& out) {
  for (std::size_t begin = 0;;) {
    std::size_t at = std::min(text.find_first_not_of(" \t", begin), text.size());
    const bool json = at < text.size() && (text[at] == '"' || text[at] == '[' || text[at] == '{');
    const std::size_t end = json ? json_end(text, at) : at;
    if (end == std::string_view::npos) {
      return fmt::format("the value that begins with {} never ends: its {} is missing", text.substr(at, 20),
                         text[at] == '"' ? "closing quote" : "closing bracket");
    }
    at = std::min(text.find(',', end), text.size());
    out.push_back(trimmed(text.substr(begin, at - begin)));
    if (at == text.size()) return {};
    begin = at + 1;
  }
}

std::string add_values(std::string_view text, SweepParam& param) {
  std::vector<std::string_view> pieces;
  std::string wrong = split(text, pieces);
  for (std::size_t n = 0; n < pieces.size() && wrong.empty(); ++n) {
    const std::string_view piece = pieces[n];
    if (piece.empty()) {
      wrong = "a value is missing: between commas, or after the =; an empty text is written \"\"";
    } else if (looks_like_grid(piece)) {
      wrong = Grid::add(piece, param.values);
    } else {
      param.values.push_back(sweep_value(piece));
    }
  }
  return wrong;
}

}  // namespace

std::optional<SweepParam> sweep_param(std::string_view words, std::string& wrong) {
  const std::size_t equals = words.find('=');
  std::vector<std::string> steps;
  std::size_t bad = 0;
  SweepParam out;
  if (!is_clean_text(words, bad)) {
    wrong = fmt::format("'{}' is not UTF-8 text", printable(words));
  } else if (!words.starts_with('/') || equals == std::string_view::npos) {
    wrong = fmt::format("'{}' is not of the form /json/pointer=a,b,c or /json/pointer=lo..hi:step", words);
  } else if (!split_pointer(words.substr(0, equals), steps)) {
    wrong =
        fmt::format("'{}' is no JSON pointer: ~ is written ~0 and / in a key ~1", words.substr(0, equals));
  } else {
    out.pointer = words.substr(0, equals);
    wrong = add_values(words.substr(equals + 1), out);
    if (!wrong.empty()) wrong = fmt::format("{}: {}", out.pointer, wrong);
  }
  if (!wrong.empty()) return std::nullopt;
  return out;
}

}  // namespace halfopen::sim
