// What attempts that fail on their own, alike or in turns, have in common: the mean, and how far a part of a
// round may be from it. Internal to sim/exact_*.cpp.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/exact_rule.hpp"

namespace halfopen::sim::exact {

struct Coins {
  double mean = 0, most = 0;
  double turns = 1;
  // A part of a round has so many failures more than its share of the whole at most, and as many fewer:
  // the sum of what is over the mean.
  double spread = 0;
  FailureTurns each;

  // The mean of any `n` in a row is at most this.
  double of(std::uint64_t n) const {
    return std::min(most, mean + (most - mean) * turns / static_cast<double>(std::max<std::uint64_t>(n, 1)));
  }

  // A failure ends it with chance q, so attempt i leaves it with 1 - p_i q: the sum of -ln of that over any
  // attempts in a row is their number times `mean`, and `spread` more at most. (Not the mean coin's: by
  // concavity that is less.)
  struct Hazard {
    double mean = 0, spread = 0;
    // As a rate whose exp(-rate t) is at most what t s of attempts leave, but for the spread.
    double per_s(const Arrivals& arrivals) const;
  };
  Hazard hazard(double q) const;
};

Coins coins_of(const FailureTurns& turns);  // at least one

// How many evenly spaced attempts, the one that looks included, are in a window whose machine floors times to
// the ms: it holds what came in the last window_ms - 1 ms for certain, and nothing older than window_ms.
struct EvenVolume {
  std::uint64_t fewest = 0, most = 0;
};
EvenVolume even_volume(std::uint64_t window_ms, double per_s);

}  // namespace halfopen::sim::exact
