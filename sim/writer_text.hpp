// The account of a run for a person, never wider than 80 columns: what was asked, what came out, a picture,
// the events with their reasons, the numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/expectations.hpp"
#include "sim/text_layout.hpp"
#include "sim/timeline.hpp"

namespace halfopen::sim {

// `file` names the scenario in the messages of failed expectations.
std::string timeline_text(const Timeline& timeline, const std::vector<Judgement>& judgements,
                          std::string_view file, const TextStyle& style);

}  // namespace halfopen::sim
