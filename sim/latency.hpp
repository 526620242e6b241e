// How long a simulated server takes: one draw u in [0, 1) in, milliseconds out, before any fault changes
// them.
#pragma once

#include <cstdint>
#include <variant>

#include "sim/real_math.hpp"
#include "sim/scenario.hpp"

namespace halfopen::sim {

// Longer than any run (10^16 ns) and far from overflow when it is added to a time.
inline constexpr Nanos LONGEST_NANOS = Nanos{1} << 62;

// The kinds that need a table, a division or an inverse normal; not inlined.
double draw_other_ms(const Latency& latency, double u);

// The draw in milliseconds. Fixed and exponential, the usual ones, are inlined; std::visit costs an indirect
// call.
inline double draw_ms(const Latency& latency, double u) {
  if (const auto* exponential = std::get_if<ExponentialLatency>(&latency)) {
    return -exponential->mean_ms * real::ln(1.0 - u);
  }
  if (const auto* fixed = std::get_if<FixedLatency>(&latency)) return fixed->ms;
  return draw_other_ms(latency, u);
}

// Rounds down to whole nanoseconds. What is negative or no number becomes 0 and what is too long
// LONGEST_NANOS: a strange factor may make a strange run, never a crash.
inline Nanos floor_nanos(double ns) {
  if (!(ns > 0.0)) return 0;
  if (ns >= static_cast<double>(LONGEST_NANOS)) return LONGEST_NANOS;
  return static_cast<Nanos>(static_cast<std::int64_t>(ns));  // through the signed type: one instruction
}

// A latency in whole nanoseconds: rounded down, once, after all factors and adds.
inline Nanos to_nanos(double ms) { return floor_nanos(ms * 1e6); }

// The lognormal latency whose median and 99th percentile, or mean and standard deviation, are these (ms, >
// 0).
LognormalLatency lognormal_of_percentiles(double p50_ms, double p99_ms);
LognormalLatency lognormal_of_moments(double mean_ms, double sd_ms);

}  // namespace halfopen::sim
