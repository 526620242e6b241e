// Names that were probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace halfopen::sim {

// The candidate with the least edit distance, if it is near enough to be a slip; otherwise empty.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);
// "; did you mean "…"?", or empty.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace halfopen::sim
