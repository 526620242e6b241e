// Finite Markov chains, kept sparse and solved by Eigen's SparseLU.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/exact_law.hpp"

namespace halfopen::sim::exact {

struct Edge {
  std::uint32_t from = 0, to = 0;
  double chance = 0;
};
inline constexpr std::uint32_t MAX_STATES = 100'000;
inline constexpr double MAX_STEPS = 1e9;

// Steps until absorption, from each of `states` states. What the edges out of a state leave to 1 absorbs.
// t = 1 + Q t, solved as (I - Q) t = 1. Refused: no or too many states, an edge to nowhere, a chance outside
// [0, 1], states from which there is no way out (the matrix is singular), and an answer
// over MAX_STEPS, since the error of the solution is about its size times 10^-16.
Answer<std::vector<double>> steps_to_absorption(std::uint32_t states, const std::vector<Edge>& edges);

// A semi-Markov process that stays stay_s[i] in state i on average, whatever the law of the stay, and then
// takes an edge (those out of a state add up to 1): share[i] of the time is spent in i, by the renewal-reward
// theorem. pi = pi P with sum 1 (one equation of the singular system replaced), then weighted by the stays.
struct Stationary {
  std::vector<double> visits;  // of an embedded step
  std::vector<double> share;   // of the time
  double step_s = 0;           // mean time of a step
};
Answer<Stationary> stationary(const std::vector<double>& stay_s, const std::vector<Edge>& edges);

}  // namespace halfopen::sim::exact
