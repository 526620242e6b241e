// Golden timelines: `X.timeline.json` beside `X.json`, the bytes that a scenario is expected to give.
#pragma once

#include <string>
#include <string_view>

namespace halfopen::sim {

inline constexpr std::string_view GOLDEN_SUFFIX = ".timeline.json";

std::string golden_path(const std::string& scenario_path);

// Where two timelines first differ, as a sentence and the two lines around the place; empty if they don't.
// meta.version is left out of the comparison.
std::string golden_difference(const std::string& path, std::string_view golden, std::string_view now);

}  // namespace halfopen::sim
