// The two rules that eject an endpoint or open a breaker, as laws of the number of attempts until they do.
//
// Assumptions, here and in all that is built on it: attempt i fails with its own fixed probability whatever
// the others do (no bursts); every answer is reported before the next attempt (no late reports); the machine
// starts fresh, with streak 0 and an empty window, as it does after every recovery.
#pragma once

#include <cstdint>
#include <vector>

#include "core/params.hpp"
#include "sim/exact_law.hpp"

namespace halfopen::sim::exact {

// Attempt i (from 0) fails with probability turn[i % turn.size()]. One number: all alike, as an endpoint sees
// it or a breaker above random picks. Several: endpoints that take turns, as round robin lets them.
using FailureTurns = std::vector<double>;
inline constexpr std::size_t MAX_TURNS = 4096;

// An endpoint's rule for a breaker's settings: the same two thresholds, and the breaker's own window.
HealthParams rule_of(const BreakerParams& breaker);

// The least number of failures among `volume` observations, the judged failure included, that meets the ratio
// rule, asked of the machine's own rule; 0 if none does (too little volume).
std::uint64_t failures_needed(const HealthParams& rule, std::uint64_t volume);

// Attempts until `streak` failures in a row.
//   E N = (1 - p^k) / (p^k (1 - p)), k where p is 1
//   (E_s = 1 + p E_(s+1) + (1 - p) E_0 for s failures in a row so far, E_k = 0).
// The law is the absorbing chain over s = 0 … k-1 stepped forward (a structured recurrence: from s a failure
// leads to s+1 and a success to 0), until what survives falls by the same factor in each step, to 10^-12;
// from there on the tail is geometric for good, because the next k steps depend on the last k alone (with
// turns: repeats, round by round).
// Refused: k 0, a probability outside [0, 1], more than MAX_TURNS turns, and what takes over 10^8 updates,
// which every k over 10,000 does that can come at all. A streak with a chance under 10^-300 an attempt never
// comes: its law is `beyond` 1 and a tail of 0.
// `before`: the attempts until now failed with that probability each, so that a streak of s is begun with
// chance before^s (1 - before), though not yet met; 0 for a fresh machine.
Answer<CountLaw> streak_law(std::uint32_t streak, const FailureTurns& turns, double before = 0);
double streak_mean(std::uint32_t streak, double p);

// Attempts until the streak or the ratio rule, whichever comes first, as long as nothing ages out of the
// window: at most `horizon` of them. A dynamic programme over (observations n, failures f, streak s) with the
// machine's own comparison at each failure; states below 10^-40 are left out and their mass counted in
// `dropped`. `beyond` is what has survived the horizon, about which this law knows nothing more. Stops early,
// with a shorter known_to(), after 3 * 10^7 updates; and
// where less than 10^-18 is left, which then counts as ended by the next attempt.
Answer<CountLaw> window_law(const HealthParams& rule, const FailureTurns& turns, std::uint64_t horizon);

// How many observations are certain to share one window (regular: the machine's times are floored to the ms,
// which is allowed for) or, Poisson, a number that is exceeded with a chance below 10^-17.
std::uint64_t observations_before_aging(std::uint64_t window_ms, const Arrivals& arrivals);

}  // namespace halfopen::sim::exact
