// `check --github`: annotations that GitHub shows beside the lines of a change.
#include <string>

#include "sim/cli_check.hpp"
#include "sim/cli_github.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace {

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
    out += github_annotation("warning", mistake.file, {mistake.line, mistake.column}, result.name,
                             printable(pointer + mistake.what));
  }
  for (const CheckCase& one : result.cases) {
    if (one.verdict == Verdict::held) continue;
    out += github_annotation(level_of(one.verdict), one.file, one.place, result.name, message_of(one));
  }
  return out;
}

}  // namespace halfopen::sim
