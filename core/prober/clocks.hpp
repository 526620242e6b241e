// The two clocks of who probes for real. The rest of core and the simulator are told the time.
#pragma once

#include <chrono>

#include "core/time.hpp"

namespace halfopen {

// Unix milliseconds, as the machines are told them. May step; 0 before 1970.
Instant system_now() noexcept;

// Since some fixed point in the past; never steps.
std::chrono::nanoseconds steady_now() noexcept;

}  // namespace halfopen
