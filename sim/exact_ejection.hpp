// When do the rules eject an endpoint, or open a breaker, that fails with a fixed probability?
//
// Exact until the first observation ages out of the window. Beyond, the streak rule alone is still exact, and
// the ratio rule on a full, sliding window is held between named bounds:
//
//   at least   "streak": the two rules never eject later than one of them. P(T <= t) >= P(streak by t),
//              and >= P(either within the first window), both exact.
//              "moment": P(T > t) <= P(T > first window) m^k, where m is the chance at most that a full
//              window of failing attempts passes one look of the ratio rule (exact_onset), k the disjoint
//              windows since.
//   at most    "Harris": given when the attempts come, failures only ever help either rule, so "no streak by
//              t", "no ratio in the first window" and "no ratio in each later moment" are all decreasing in
//              the same independent outcomes, and such events are positively correlated (Harris 1960). Hence
//              P(T > t) >= P(no streak by t) * P(no ratio in the first window) * exp(-h (t - W)), where h is
//              the rate at which failures meet the ratio rule on a full window. Poisson arrivals see n others
//              in it with Poisson(rate * W) probability (Mecke's formula), each failing on its own:
//              h = rate * p * sum over n of P(Poisson = n) P(Binomial(n, p) + 1 >= failures_needed(n + 1)).
//              The luck of the times themselves is averaged factor by factor; for Poisson arrivals that is
//              right where the minimum volume is far below what a window holds, and not proven where it is
//              near.
//   "Chernoff" Above 20,000 observations a window, P(Binomial(n, p) >= ratio n) is exp(-n KL(ratio ||
//              p)) at most, and the sum over n is exp(-rate W (1 - exp(-KL))). The same bounds what is left
//              of a first window too long to be followed to its end (then `cut`, and window_s is shorter).
//   "Hoeffding" Endpoints that take turns fail unlike each other: a sum of such coins is at most as far above
//              its mean as the binomial of their mean (Hoeffding 1956). Each failure's own chance is that of
//              its turn: h is the mean over a round, and a part of a round has so much more at most
//              (exact_coins).
// Evenly spaced attempts see one of a few numbers of others, and the worst of them is taken.
//
// What "exact" leaves out: times are to the ms, since the machines read ms; and what the first window leaves
// with a chance of 10^-12 at most counts as ended with it.
#pragma once

#include <optional>
#include <string>

#include "sim/exact_rule.hpp"

namespace halfopen::sim::exact {

struct Ejection {
  CountLaw streak;               // attempts until the streak rule alone; never, where it can't be followed
  bool streak_known = true;      // false: too long to be followed, and not needed
  double streak_mean_s = 0;      // E of the time until the streak rule alone
  CountLaw first_window;         // until either, while nothing has aged
  double window_s = 0;           // so long it is exact
  bool cut = false;              // the window is longer than that
  double by_window = 0;          // P(T <= window_s), either rule
  double by_window_ratio = 0;    // the same for the ratio rule alone
  double ratio_per_s = 0;        // h: at most so often a full window meets the ratio rule
  double ratio_spread = 0;       // turns: and so much more, in a part of a round
  double window_misses = 1;      // m: at most, one full window passes the ratio rule
  double window_apart_s = 0;     // from one window to another that has nothing in common with it
  std::string bound;             // "exact" if nothing is left to bound, else the bounds' names
  bool ratio_can_fire = true;    // false: the window never holds the minimum volume (regular arrivals)
  Bounds mean_s;                 // E T
  Bounds in_an_hour;             // P(T <= 3600 s)
  Bounds median_s, within_95_s;  // quantiles of T at 0.5 and 0.95
  Arrivals arrivals;
};

// `turns`: see FailureTurns. Refused: what streak_law and window_law refuse; a rate that is not over 0 and at
// most 10^7 a second.
Answer<Ejection> ejection(const HealthParams& rule, const FailureTurns& turns, const Arrivals& arrivals);

// P(T <= t_s).
Bounds ejected_by(const Ejection& ejection, double t_s);

}  // namespace halfopen::sim::exact
