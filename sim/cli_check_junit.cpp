// `check --junit`: a suite a scenario and a test case an expectation, as CI systems list them. Without times:
// the same scenarios give the same bytes.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "sim/cli_check.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace {

// Characters that XML 1.0 can't hold, not even escaped, become U+FFFD, as do bytes that are no UTF-8.
bool in_xml(char32_t c) {
  if (c < 0x20) return c == '\t' || c == '\n' || c == '\r';
  return c != INVALID_CODE_POINT && c != 0xFFFE && c != 0xFFFF;
}

// For content and for attributes, whose line ends a reader would else make spaces.
std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t c = next_code_point(text, at);
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\t':
      case '\n':
      case '\r': out += fmt::format("&#{};", static_cast<unsigned>(c)); break;
      default: out += in_xml(c) ? text.substr(begin, at - begin) : "\xEF\xBF\xBD";
    }
  }
  return out;
}

struct Totals {
  std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;

  void add(const CheckCase& one) {
    ++tests;
    failures += one.verdict == Verdict::failed;
    errors += one.verdict == Verdict::error;
    skipped += one.verdict == Verdict::skipped;
  }

  std::string text() const {
    return fmt::format(R"(tests="{}" failures="{}" errors="{}" skipped="{}")", tests, failures, errors,
                       skipped);
  }
};

Totals totals_of(const CheckResult& result) {
  Totals totals;
  for (const CheckCase& one : result.cases) totals.add(one);
  return totals;
}

std::string verdict_text(const CheckCase& one) {
  const std::string message = escaped(one.sentence);
  if (one.verdict == Verdict::skipped) return fmt::format("      <skipped message=\"{}\"/>\n", message);
  const char* element = one.verdict == Verdict::error ? "error" : "failure";
  const std::string place =
      one.place.line == 0 ? one.file : fmt::format("{}:{}:{}", one.file, one.place.line, one.place.column);
  return fmt::format("      <{0} message=\"{1}\" type=\"{2}\">{3}: {1}</{0}>\n", element, message,
                     one.verdict == Verdict::error ? "error" : "not held", escaped(place));
}

std::string case_text(const CheckResult& result, const CheckCase& one, const std::string& name) {
  std::string out = fmt::format(R"(    <testcase name="{}" classname="{}" file="{}")", escaped(name),
                                escaped(result.name), escaped(one.file));
  if (one.place.line > 0) out += fmt::format(" line=\"{}\"", one.place.line);
  if (one.verdict == Verdict::held) return out + "/>\n";
  return out + ">\n" + verdict_text(one) + "    </testcase>\n";
}

std::string suite_text(const CheckResult& result) {
  std::string out = fmt::format("  <testsuite name=\"{}\" file=\"{}\" {}>\n", escaped(result.name),
                                escaped(result.file), totals_of(result).text());
  // Two cases of one name would be taken for one.
  std::map<std::string_view, std::size_t> times;
  for (const CheckCase& one : result.cases) {
    const std::size_t nth = ++times[one.name];
    out += case_text(result, one, nth == 1 ? one.name : fmt::format("{} ({})", one.name, nth));
  }
  return out + "  </testsuite>\n";
}

}  // namespace

std::string check_junit(const std::vector<CheckResult>& results) {
  Totals totals;
  std::string suites;
  for (const CheckResult& result : results) {
    for (const CheckCase& one : result.cases) totals.add(one);
    suites += suite_text(result);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"halfopen\" {}>\n{}</testsuites>\n",
      totals.text(), suites);
}

}  // namespace halfopen::sim
