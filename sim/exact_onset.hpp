// An endpoint, or a breaker's upstream, that was healthy for longer than its window, and turns sick: how soon
// do the rules act? Unlike sim/exact_ejection, which starts with an empty window, as after a start and after
// every return, the window is full of successes here, and the ratio rule has to wear them down first.
#pragma once

#include <string>

#include "sim/exact_ejection.hpp"

namespace halfopen::sim::exact {

// Held between named bounds, T the time from the turn to the ejection, W the window, r the rate:
//
//   at most  "streak": T is at most the time until the streak rule alone, exact (exact_rule).
//            "moment": T > t needs that the ratio rule is not met at the first failure in (t - d, t]:
//            either there is none, or that failure finds too few failures among what the window holds. What
//            it holds is a sum of independent outcomes, healthy ones from before the turn and sick ones
//            since, so each chance is bounded by Chernoff's inequality, at the best of some d. Beyond the
//            window, disjoint windows are independent and their chances multiply.
//   at least "Harris": failures only ever help either rule, so with attempts at fixed moments "no streak by
//   t"
//            and "no ratio at any moment by t" are decreasing in the same independent outcomes and positively
//            correlated (Harris 1960):
//            P(T > t) >= P(no streak by t) exp(-integral of h), where the turn finds a streak of s begun with
//            chance before^s, and h(u) = r p P(a failure at u meets the ratio), bounded by Chernoff's
//            inequality and, once W has passed, by the full window's rate of exact_ejection. The moments' own
//            luck (Poisson) is averaged factor by factor, as there.
//   Turns    A part of a round differs from the mean by `spread` failures at most (exact_coins), which
//            multiplies a generating function at x by exp(x spread) at most.
//
// Evenly spaced attempts begin anywhere within the first gap after the turn: at once for the lower bound, one
// gap later for the upper one.
//
// Assumes, beside exact_rule: before the turn attempts failed with probability `before` each, for W or
// longer.
struct Onset {
  Bounds median_s, within_95_s;  // quantiles of T at 0.5 and 0.95
  Bounds in_an_hour;             // P(T <= 3600 s)
  std::string bound;             // names
};

// `sick`: ejection(rule, turns, arrivals), of the same arguments. Refused: `before` not in [0, 1), a sick
// mean below it, and a streak that can't be followed.
Answer<Onset> onset(const Ejection& sick, const HealthParams& rule, const FailureTurns& turns, double before);

// P(T <= t_s), within [0, 1].
Answer<Bounds> onset_by(const Ejection& sick, const HealthParams& rule, const FailureTurns& turns,
                        double before, double t_s);

}  // namespace halfopen::sim::exact
