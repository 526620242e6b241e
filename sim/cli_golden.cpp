#include "sim/cli_golden.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

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
  std::string_view stem = scenario_path;
  for (const std::string_view extension : SCENARIO_EXTENSIONS) {
    if (!stem.ends_with(extension)) continue;
    stem.remove_suffix(extension.size());
    break;
  }
  return std::string(stem).append(GOLDEN_SUFFIX);
}

std::string golden_clash(const std::vector<std::string>& scenario_paths) {
  std::map<std::string, std::string> owners;
  for (const std::string& path : scenario_paths) {
    const std::string& owner = owners.emplace(golden_path(path), path).first->second;
    if (owner == path) continue;
    return fmt::format("{} and {} would have the same golden timeline, {}: rename one of them", owner, path,
                       golden_path(path));
  }
  return "";
}

bool is_stale_golden(const std::string& path) {
  const std::string stem = path.substr(0, path.size() - GOLDEN_SUFFIX.size());
  return std::none_of(SCENARIO_EXTENSIONS.begin(), SCENARIO_EXTENSIONS.end(),
                      [&stem](std::string_view extension) {
                        std::error_code error;
                        return std::filesystem::exists(stem + std::string(extension), error);
                      });
}

std::optional<GoldenDifference> golden_difference(std::string_view golden, std::string_view now) {
  const std::string expected = without_version(golden), got = without_version(now);
  if (expected == got) return std::nullopt;
  std::string_view left = expected, right = got;
  for (std::uint32_t number = 1;; ++number) {
    const bool ended = left.empty() || right.empty();
    const std::string_view a = next_line(left), b = next_line(right);
    if (a == b && !ended) continue;
    const std::size_t at = common_prefix(a, b);
    return GoldenDifference{number, static_cast<std::uint32_t>(at + 1),
                            fmt::format("the golden timeline differs first here\ngolden {}\nnow    {}",
                                        excerpt(a, at), excerpt(b, at))};
  }
}

}  // namespace halfopen::sim
