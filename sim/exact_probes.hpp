// Active probes: how long until a server that begins to fail its probes is ejected by them, and, the same
// question with success_threshold, until one that begins to pass is taken back.
#pragma once

#include <cstdint>

#include "core/params.hpp"
#include "sim/exact_law.hpp"

namespace halfopen::sim::exact {

struct ProbeQuestion {
  std::uint64_t interval_ms = 5000, jitter_ms = 500;  // sleeps last interval + floor(u * jitter) ms
  std::uint32_t threshold = 3;                        // verdicts in a row
  double chance = 1;      // that one probe has the verdict which is waited for, in (0, 1]
  double verdict_ms = 0;  // how long such a probe takes; its time limit where nothing answers
  double other_ms = 0;    // how long one with the other verdict takes, as all did before
};

// T runs from the change to the last verdict of the row. The change comes at a moment that has nothing to do
// with the loop, so it meets the loop in equilibrium: within a sleep S or within a probe of other_ms, which
// still has the old verdict. With A(y) = E max(0, y - S), the next probe starts after R, P(R <= x) =
// (x - A(x - other)) / (E S + other). Then T = R + verdict, and for each further probe one sleep and one
// probe.
//   mean_s   exact, by Wald: N probes until `threshold` in a row (exact_rule), N - 1 sleeps, chance * N
//            verdicts and (1 - chance) * N others.
//   chance 1: N is the threshold, and the whole law is exact: the sum of sleeps is convolved ms by ms.
//   chance < 1: quantiles are bounds, from the quantile of N, the shortest and the longest cycle.
//
// Assumes that no traffic reports to the tracker between the probes: they share one failure streak, which a
// successful request ends and a failed one prolongs.
struct ProbeWait {
  CountLaw probes;  // N
  double mean_probes = 0;
  double mean_s = 0;
  double least_s = 0, most_s = 0;  // most_s is infinite where chance < 1
  Bounds median_s, within_95_s;
};

// Refused: interval_ms or threshold 0, a chance outside (0, 1], negative times or any over 10^12 ms, and what
// streak_law refuses. Where chance is 1 and (threshold - 1) * jitter_ms exceeds MAX_PROBE_PLACES the
// quantiles are bounds as well.
inline constexpr std::uint64_t MAX_PROBE_PLACES = 100'000;
Answer<ProbeWait> probe_wait(const ProbeQuestion& question);

}  // namespace halfopen::sim::exact
