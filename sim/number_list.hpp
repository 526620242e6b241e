// Files that hold one number a line, in ms: measured latencies, arrivals of a trace.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/json_fields.hpp"

namespace halfopen::sim {

// Appends the numbers of the text in its order; blank lines are nothing. False, and a sentence in `wrong`, at
// the first line that is no number of the range, and if there is no number at all.
bool numbers_of(std::string_view text, const NumberRange& range, std::vector<double>& out,
                std::string& wrong);

}  // namespace halfopen::sim
