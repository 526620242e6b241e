// The parameters of a sweep as words: /json/pointer=a,b,c and /json/pointer=lo..hi:step.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/sweep.hpp"

namespace halfopen::sim {

// After the pointer and "=" come values between commas, each of them JSON or else a string, or a grid
// lo..hi:step. Commas inside a JSON string, list or object belong to it. A grid is made of exact decimals,
// from lo as far as hi, which is included if a step falls on it; a falling one has a negative step. None, and
// a sentence in `wrong`, if the words are not of that form.
std::optional<SweepParam> sweep_param(std::string_view words, std::string& wrong);

}  // namespace halfopen::sim
