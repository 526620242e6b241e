// Runs a scenario: a pure function of it, on one thread, without a clock. Two runs may go on at once in two
// threads.
#pragma once

#include "sim/scenario.hpp"
#include "sim/timeline.hpp"

namespace halfopen::sim {

// The scenario must be one that scenario_json accepted.
Timeline simulate(const Scenario& scenario);

}  // namespace halfopen::sim
