// A finding of the linter for people, without the place, which only a file has.
#pragma once

#include <string>

#include "sim/lint.hpp"

namespace halfopen::sim {

// "mean time until it opens: 41 days"
std::string lint_number_words(const LintNumber& number);

// What happens, why, the numbers, what to set instead and what to run to see it, in 80 columns, each line
// indented by two; ends with a line end.
std::string lint_finding_words(const LintFinding& finding);

}  // namespace halfopen::sim
