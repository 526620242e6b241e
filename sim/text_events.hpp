// The events in the account for a person, and the reloads and clock steps between them.
#pragma once

#include <string>

#include "sim/text_layout.hpp"
#include "sim/timeline.hpp"

namespace halfopen::sim {

// At most style.max_events rows and a few that say what is left out; with a limit at all, an endpoint that
// goes out and comes back over and over is told by its first times and its last.
std::string event_rows(const Timeline& timeline, const TextStyle& style);

}  // namespace halfopen::sim
