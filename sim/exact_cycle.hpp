// The cycle of one endpoint, healthy - ejected - half-open, and of a breaker, closed - open - half-open,
// while whatever is behind them goes on failing with the same probability.
#pragma once

#include "sim/exact_ejection.hpp"

namespace halfopen::sim::exact {

// A semi-Markov chain of three states. Healthy stays E T (exact_ejection); out stays eject_ms; half-open
// waits for the next attempt and is settled by it: with probability p it is out again, whole eject_ms long
// (the machines know no growing penalty), else healthy, fresh. Poisson attempts keep it waiting 1 / rate;
// evenly spaced ones until their next turn. So an outage has 1 / (1 - p) trials on average, and by the
// renewal-reward theorem shares of the time need the means of the stays only.
//
// Assumes, beside those of exact_rule: answers come at once, so that half-open never has two trials in flight
// and no late answer meets an ejected endpoint; other endpoints take the traffic meanwhile, so nobody fails
// open to it; the rate of attempts at it is the same whenever it is in rotation.
struct Cycle {
  Bounds healthy_s;              // mean stay in rotation
  double outage_s = 0;           // mean from the first ejection to the recovery; infinite where p is 1
  double trials_per_outage = 0;  // 1 / (1 - p)
  Bounds in_rotation;            // share of the time
  Bounds outages_per_hour;       // of all time
  Bounds trials_per_hour;
  Bounds trial_share;  // of the attempts that it gets
  Bounds turned_away;  // share of the attempts at it that come while it is out: a breaker answers 503
};

// `out_ms`: eject_ms or open_ms, over 0. `turns` as for ejection(); a trial fails with their mean, and every
// stay in rotation is taken to begin with the first turn.
Answer<Cycle> cycle(const Ejection& ejection, const FailureTurns& turns, std::uint64_t out_ms);

}  // namespace halfopen::sim::exact
