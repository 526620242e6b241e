// Time as the machines see it: milliseconds since the Unix epoch, handed in by the caller. No machine
// reads a clock, so there is no now() here and nothing converts from std::chrono clocks.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace halfopen {

// A length of time in whole milliseconds.
struct Duration {
  std::uint64_t ms = 0;
  friend constexpr auto operator<=>(Duration, Duration) = default;
};

// A point in time: Unix-epoch milliseconds. The source may be a wall clock that steps back.
struct Instant {
  std::uint64_t ms = 0;
  friend constexpr auto operator<=>(Instant, Instant) = default;
};

// Saturates at the largest instant: an ejection "for ever" is legal, an ejection that wraps is not.
constexpr Instant operator+(Instant at, Duration by) {
  const std::uint64_t sum = at.ms + by.ms;
  return Instant{sum < at.ms ? std::numeric_limits<std::uint64_t>::max() : sum};
}

// How long ago `then` was. A `then` in the future, which a clock that stepped back produces, is 0 ago.
constexpr Duration operator-(Instant now, Instant then) {
  return Duration{now.ms > then.ms ? now.ms - then.ms : 0};
}

}  // namespace halfopen
