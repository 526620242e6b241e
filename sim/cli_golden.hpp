// Golden timelines: `X.timeline.json` beside `X.json` or `X.yaml`, the bytes that a scenario is expected
// to give.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halfopen::sim {

inline constexpr std::string_view GOLDEN_SUFFIX = ".timeline.json";

// What a scenario's name may end with. The golden timeline of each is X.timeline.json.
inline constexpr std::array<std::string_view, 3> SCENARIO_EXTENSIONS = {".json", ".yaml", ".yml"};

std::string golden_path(const std::string& scenario_path);

// A sentence about the first two different files that would have the same golden timeline; empty if there are
// none.
std::string golden_clash(const std::vector<std::string>& scenario_paths);

// Whether a file of this name, which is a golden timeline's, has no scenario beside it.
bool is_stale_golden(const std::string& path);

struct GoldenDifference {
  std::uint32_t line = 0, column = 0;  // in the golden timeline, from 1
  std::string sentence;                // and the two lines around the place
};

// Where two timelines first differ; none if they don't. meta.version is left out of the comparison.
std::optional<GoldenDifference> golden_difference(std::string_view golden, std::string_view now);

}  // namespace halfopen::sim
