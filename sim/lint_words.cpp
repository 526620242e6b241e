#include "sim/lint_words.hpp"

#include <fmt/core.h>

#include "sim/analysis_words.hpp"
#include "sim/text_layout.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {

std::string lint_number_words(const LintNumber& number) {
  if (number.unit == "s") return number.what + ": " + time_words(number.value);
  if (number.unit == "share") return number.what + ": " + chance_words(number.value);
  return fmt::format("{}: {} {}", number.what, number_words(number.value), number.unit);
}

std::string lint_finding_words(const LintFinding& finding) {
  std::string out = hanging("  ", printable(finding.sentence));
  out += hanging("  why:     ", printable(finding.why));
  for (const LintNumber& number : finding.numbers)
    out += hanging("  number:  ", printable(lint_number_words(number)));
  out += hanging("  instead: ", printable(finding.instead));
  return out + hanging("  see:     ", "halfopen run " + finding.shown_by);
}

}  // namespace halfopen::sim
