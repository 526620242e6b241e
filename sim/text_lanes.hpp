// The picture in the account for a person: a row for every endpoint, breaker and injected fault over the
// run's width, one each for reloads and clock steps, the traffic as sparklines, and one time axis under them
// all.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/text_layout.hpp"
#include "sim/timeline.hpp"

namespace halfopen::sim {

// The lanes that are shown when there are more than `max_lanes`: those to which something happened come
// before the others. Indices into timeline.lanes, ascending.
std::vector<std::size_t> lanes_to_show(const Timeline& timeline, std::size_t max_lanes);

// "… and 1,000 more, healthy throughout", or nothing if all lanes are shown.
std::string lanes_left_out(const Timeline& timeline, const std::vector<std::size_t>& shown);

std::string lanes_text(const Timeline& timeline, const TextStyle& style);

}  // namespace halfopen::sim
