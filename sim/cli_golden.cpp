#include "sim/cli_golden.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "sim/utf8.hpp"
#include "sim/writer_json.hpp"

namespace halfopen::sim {

namespace {

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

// The part of a line around byte `at`: a column of a series may be a megabyte long.
std::string excerpt(std::string_view line, std::size_t at) {
  constexpr std::size_t BEFORE = 40, AFTER = 60;
  const std::size_t from = at > BEFORE ? at - BEFORE : 0;
  const std::string_view piece = line.substr(std::min(from, line.size()), BEFORE + AFTER);
  return (from > 0 ? "..." : "") + printable(piece) + (from + piece.size() < line.size() ? "..." : "");
}

}  // namespace

std::string golden_path(const std::string& scenario_path) {
  constexpr std::string_view EXTENSION = ".json";
  std::string stem = scenario_path;
  if (stem.ends_with(EXTENSION)) stem.resize(stem.size() - EXTENSION.size());
  return stem + std::string(GOLDEN_SUFFIX);
}

std::string golden_difference(const std::string& path, std::string_view golden, std::string_view now) {
  const std::string expected = without_version(golden), got = without_version(now);
  if (expected == got) return "";
  std::string_view left = expected, right = got;
  for (std::size_t number = 1;; ++number) {
    const bool ended = left.empty() || right.empty();
    const std::string_view a = next_line(left), b = next_line(right);
    if (a == b && !ended) continue;
    const std::size_t at = common_prefix(a, b);
    return fmt::format("{}:{}:{}: the golden timeline differs first here\ngolden {}\nnow    {}", path, number,
                       at + 1, excerpt(a, at), excerpt(b, at));
  }
}

}  // namespace halfopen::sim
