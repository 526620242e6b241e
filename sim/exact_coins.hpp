// What attempts that fail on their own, alike or in turns, have in common: the mean, and how far a part of a
// round may be from it. Internal to sim/exact_*.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "sim/exact_rule.hpp"

namespace halfopen::sim::exact {

struct Coins {
  double mean = 0, most = 0;
  double turns = 1;
  // A part of a round has so many failures more than its share of the whole at most, and as many fewer:
  // the sum of what is over the mean.
  double spread = 0;

  // The mean of any `n` in a row is at most this.
  double of(std::uint64_t n) const {
    return std::min(most, mean + (most - mean) * turns / static_cast<double>(std::max<std::uint64_t>(n, 1)));
  }
};

inline Coins coins_of(const FailureTurns& turns) {
  Coins out;
  out.most = *std::max_element(turns.begin(), turns.end());
  out.turns = static_cast<double>(turns.size());
  out.mean = std::accumulate(turns.begin(), turns.end(), 0.0) / out.turns;
  for (const double p : turns) out.spread += std::max(0.0, p - out.mean);
  if (turns.size() == 1) out.turns = 0, out.spread = 0;  // one coin: no part of a turn is unlike the whole
  return out;
}

// How many evenly spaced attempts, the one that looks included, are in a window whose machine floors times to
// the ms: it holds what came in the last window_ms - 1 ms for certain, and nothing older than window_ms.
struct EvenVolume {
  std::uint64_t fewest = 0, most = 0;
};
EvenVolume even_volume(std::uint64_t window_ms, double per_s);

}  // namespace halfopen::sim::exact
