// An analysis as people and as programs read it.
#pragma once

#include <string>
#include <string_view>

#include "sim/analysis.hpp"

namespace halfopen::sim {

inline constexpr std::string_view ANALYSIS_FORMAT = "halfopen.analysis/1";

// For a terminal of 80 columns.
std::string analysis_text(const Analysis& analysis);

// One JSON object with a line end. Times in seconds, chances and shares from 0 to 1; a value that is held
// between bounds is {"low", "high"} and exact where both are equal; null is a time that never comes. A
// question without an answer is {"refused": "why"}.
std::string analysis_json(const Analysis& analysis);

}  // namespace halfopen::sim
