// The numbers at the end of the account for a person.
#pragma once

#include <string>

#include "sim/text_layout.hpp"
#include "sim/timeline.hpp"

namespace halfopen::sim {

// The summary in columns, then what was done about injected faults if there were any, then a row for each
// endpoint.
std::string summary_text(const Timeline& timeline, const TextStyle& style);

}  // namespace halfopen::sim
