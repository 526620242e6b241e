// `check` for people.
#include <fmt/core.h>

#include <string_view>

#include "sim/cli_check.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace {

// The first line by two spaces, those that explain it by four.
std::string indented(std::string_view lines) {
  std::string out = "  ";
  for (const char c : lines) {
    out += c;
    if (c == '\n') out += "    ";
  }
  return out + '\n';
}

std::string place_text(const CheckCase& one) {
  const std::string file = printable(one.file);
  return one.place.line == 0 ? file : fmt::format("{}:{}:{}", file, one.place.line, one.place.column);
}

}  // namespace

std::string check_text(const CheckResult& result) {
  if (result.status == EXIT_HELD) return fmt::format("ok {} ({})\n", result.name, result.note);
  if (result.kind == CheckResult::Kind::bad) return "";
  std::string out = "FAILED " + result.name + '\n';
  for (const CheckCase& one : result.cases) {
    if (one.verdict == Verdict::held) continue;
    const bool ours = result.status == EXIT_INTERNAL && one.verdict == Verdict::error;
    out += indented(place_text(one) + ": " + (ours ? one.name + ": " : "") + one.sentence);
  }
  return out;
}

}  // namespace halfopen::sim
