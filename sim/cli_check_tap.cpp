// `check --tap`: the Test Anything Protocol, version 14.
#include <fmt/core.h>

#include <string_view>

#include "sim/cli_check.hpp"
#include "sim/number_format.hpp"

namespace halfopen::sim {

namespace {

// In a description these two would begin a directive or an escape.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '#' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// A JSON string is a double-quoted string of YAML.
std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string diagnostics(const CheckCase& one) {
  std::string out = "  ---\n";
  out += fmt::format("  message: {}\n", quoted(one.sentence));
  out += fmt::format("  severity: {}\n", one.verdict == Verdict::error ? "error" : "fail");
  out += fmt::format("  at:\n    file: {}\n", quoted(one.file));
  if (one.place.line > 0) {
    out += fmt::format("    line: {}\n    column: {}\n", one.place.line, one.place.column);
  }
  return out + "  ...\n";
}

}  // namespace

std::string check_tap(const CheckResult& result, std::size_t& number) {
  std::string out;
  for (const CheckCase& one : result.cases) {
    const bool ok = one.verdict == Verdict::held || one.verdict == Verdict::skipped;
    out += fmt::format("{} {} - {}", ok ? "ok" : "not ok", ++number, escaped(result.name + ": " + one.name));
    if (one.verdict == Verdict::skipped) out += " # SKIP " + escaped(one.sentence);
    out += '\n';
    if (!ok) out += diagnostics(one);
  }
  return out;
}

std::string check_tap_plan(std::size_t count) { return fmt::format("1..{}\n", count); }

}  // namespace halfopen::sim
