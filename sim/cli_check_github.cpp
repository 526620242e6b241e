// `check --github`: annotations that GitHub shows beside the lines of a change.
#include <fmt/core.h>

#include <filesystem>
#include <string_view>

#include "sim/cli_check.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace {

// What a workflow command is cut at. A property ends at a comma or colon as well.
std::string escaped(std::string_view text, bool property) {
  constexpr std::string_view IN_MESSAGES = "%\r\n", IN_PROPERTIES = "%\r\n:,";
  const std::string_view special = property ? IN_PROPERTIES : IN_MESSAGES;
  std::string out;
  for (const char c : text) {
    if (special.find(c) == std::string_view::npos) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

std::string annotation(std::string_view level, const std::string& file, const SourcePlace& place,
                       const std::string& title, const std::string& message) {
  // Relative to the root of the repository, as GitHub wants it, if that is where it was checked from.
  const std::string path = std::filesystem::path(file).lexically_normal().string();
  std::string out = fmt::format("::{} file={}", level, escaped(path, true));
  if (place.line > 0) out += fmt::format(",line={},col={}", place.line, place.column);
  return out + fmt::format(",title={}::{}\n", escaped(title, true), escaped(message, false));
}

const char* level_of(Verdict verdict) { return verdict == Verdict::skipped ? "notice" : "error"; }

std::string message_of(const CheckCase& one) {
  const bool telling =
      one.verdict == Verdict::failed || one.name == THE_FILE;  // the sentence says about what
  return telling ? one.sentence : one.name + ": " + one.sentence;
}

}  // namespace

std::string check_github(const CheckResult& result) {
  std::string out;
  for (const Mistake& mistake : result.mistakes) {
    if (!mistake.warning) continue;
    const std::string pointer = mistake.pointer.empty() ? "" : mistake.pointer + ": ";
    out += annotation("warning", mistake.file, {mistake.line, mistake.column}, result.name,
                      printable(pointer + mistake.what));
  }
  for (const CheckCase& one : result.cases) {
    if (one.verdict == Verdict::held) continue;
    out += annotation(level_of(one.verdict), one.file, one.place, result.name, message_of(one));
  }
  return out;
}

}  // namespace halfopen::sim
