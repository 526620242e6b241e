// The cycle of one endpoint, healthy - ejected - half-open, and of a breaker, closed - open - half-open,
// while whatever is behind them goes on failing with the same probability.
#pragma once

#include <cstdint>

#include "sim/exact_ejection.hpp"

namespace halfopen::sim::exact {

// A semi-Markov chain of three states. Healthy stays E T (exact_ejection); out stays eject_ms; half-open
// waits for the next attempt and is settled by it: with probability p it is out again, whole eject_ms long
// (the machines know no growing penalty), else healthy, fresh. So an outage has 1 / (1 - p) trials on
// average, and by the renewal-reward theorem shares of the time need the means of the stays only.
//
// Assumes, beside those of exact_rule: answers come at once, so that half-open never has two trials in flight
// and no late answer meets an ejected endpoint; others take the traffic meanwhile, so nobody fails open to it
// (cycle_alone: there are none); the rate of attempts at it is the same whenever it is in rotation.
struct Cycle {
  Bounds healthy_s;              // mean stay in rotation
  Bounds outage_s;               // mean from the first ejection to the recovery; infinite where p is 1
  double trials_per_outage = 0;  // 1 / (1 - p)
  Bounds in_rotation;            // share of the time
  Bounds outages_per_hour;       // of all time
  Bounds trials_per_hour;
  Bounds trial_share;  // of the attempts that it gets
  Bounds turned_away;  // share of the attempts at it that come while it is out: a breaker answers 503
};

// How long half-open waits for its trial, on average: of what has a stream of its own, as a breaker has, 1 /
// rate (Poisson) or until the next of the evenly spaced ones. One of several endpoints waits for a pick:
// anything up to the time between two of its own, since the others have taken its turns meanwhile.
Bounds wait_of_own_stream(const Arrivals& arrivals, std::uint64_t out_ms);
Bounds wait_among_others(const Arrivals& at_endpoint);

// `out_ms`: eject_ms or open_ms, over 0. p in [0, 1], of the attempts and of the trials. Refused: out_ms 0.
Answer<Cycle> cycle(const Ejection& ejection, double p, std::uint64_t out_ms, const Bounds& wait_s);

// What an outage of an endpoint that is alone in its pool is made of, requests on average: while it is
// ejected the pool fails open to it, and a success takes it back. Of m requests in eject_ms (a Poisson
// number, or the evenly spaced one) none succeeds with chance x = E p^m, and then comes a trial: (1 - x) / (1
// - p) / (1 - x p) fail-open requests and x / (1 - x p) trials, in 1 / (1 - x p) spells.
struct OutageAlone {
  double fail_open = 0, trials = 0, spells = 1;
  double mean_s = 0;
};
OutageAlone outage_alone(const Arrivals& arrivals, double p, std::uint64_t out_ms);
Answer<Cycle> cycle_alone(const Ejection& ejection, double p, std::uint64_t out_ms);

}  // namespace halfopen::sim::exact
