// What would have kept it in: settings worth trying for an outage, and how a run with one of them compares.
// Nothing is predicted; whoever asks runs the scenario again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/explain.hpp"

namespace halfopen::sim {

// One change of the scenario, for LoadOptions::sets.
struct WhatIf {
  std::string pointer, value;
  std::string label;  // "consecutive_failures 6"
};

// Runs with more requests than this are not repeated for the sake of an answer.
inline constexpr std::uint64_t MAX_WHAT_IF_REQUESTS = 5'000'000;

// At most four, those of the rule that fired first. None if the settings in force came with a reload, which
// a change of the first configuration does not reach. `led`: what was heard before the outage.
std::vector<WhatIf> what_ifs(const Scenario& scenario, const Timeline& timeline, const Subject& subject,
                             const Outage& outage, const std::deque<Heard>& led);

// A sentence: what became of the outage in `other`, the run with the change.
std::string what_happened_instead(const Timeline& timeline, const Outage& outage, const Timeline& other,
                                  const Subject& subject);

}  // namespace halfopen::sim
