// Runs a scenario: a pure function of it, on one thread, without a clock. Two runs may go on at once in two
// threads.
#pragma once

#include "sim/observer.hpp"
#include "sim/scenario.hpp"
#include "sim/timeline.hpp"

namespace halfopen::sim {

// The scenario must be one that scenario_json accepted. Hooks change nothing of what comes out.
Timeline simulate(const Scenario& scenario, const RunHooks& hooks = {});

}  // namespace halfopen::sim
