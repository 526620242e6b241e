// A pool of n identical endpoints behind one stream of requests: when is none of them left, so that the pool
// fails open, and for how many of its requests?
#pragma once

#include <cstdint>
#include <string>

#include "sim/exact_ejection.hpp"

namespace halfopen::sim::exact {

struct PoolQuestion {
  HealthParams rule;
  std::uint32_t endpoints = 0;
  Arrivals arrivals;  // of the whole pool
};

// The machines, as they are modelled here: a request goes to one of the candidates, each as likely; where
// there are none it goes to any endpoint, and its success takes that one back, fresh. An ejection ends by its
// timer otherwise, eject_ms later, and then by the next request, a trial.

// All n were healthy for longer than the window, failing at `before`, and turn to p at once and for good.
//
// (1) When is the last of them out? Endpoint i goes with its N_i-th request since the turn, however requests
// are spread; so, as long as no ejected one has come back, which is certain within eject_ms, the last goes
// with request N_1 + … + N_n of the pool. N_i is at most the streak's number, whose law is exact. It is at
// least the lesser of two: that with a streak begun before the turn, and R, the requests that the ratio rule
// needs. With a chance of at most 0.01 / n (Chernoff) it is met by fewer, on any window that holds what an
// endpoint's share of the first rate brings - and survivors only get more, which holds more successes from
// before. One endpoint alone: exact_onset.
//
// (2) For how many requests does it fail open, in the long run? After each success that takes an endpoint
// back, the pool is not empty for N requests at least, N the number until a fresh endpoint is ejected; and
// before such a success come 1 / (1 - p) requests on average, trials and fail-open ones. So the share is at
// most g / (g + E N), g = 1 / (1 - p). At p = 1 only trials, n in eject_ms at most, are something else.
// One endpoint alone, exactly: an outage is outage_alone (exact_cycle), and E N requests lie between two.
struct PoolSick {
  Bounds gone_before_return;  // (1): P(the last is out before any returns)
  Bounds within_95_s;         // (1); only where no_quantile is empty
  std::string no_quantile;    // why there is none
  Bounds fail_open_share;     // (2), of the requests
};

// They fail at p now and then, and are ejected falsely.
//
// An endpoint stays in for N requests and out for eject_s and a trial, 1 / (1 - p) times. While the pool is
// not empty that is a closed network: a processor-sharing node, where each request serves one of the
// candidates, and a node where eject_s passes for each by itself. Both are insensitive to the laws of the
// stays (BCMP 1975; Engset): the number j of endpoints that are out is Poisson(A) cut off at n,
//   P(j) = A^j / j! / sum over i <= n of A^i / i!,  A = eject_s / (1 - p) / ((1 / (1 - p) + E N) / rate),
// all are out for the share B(n, A), Erlang's loss formula, and it is entered n / eject_s * B times a second.
// A pool that fails open leaves that state by another way, with one endpoint back. What it does next differs
// only if that one, which now has all requests, fails its trial or goes again within eject_s: c is the chance
// at most, and the answer is held between (1 - c) and 1 / (1 - c) of it. Arrivals are taken as Poisson and
// picks as random, also where round robin spreads them more evenly.
struct PoolHealthy {
  Bounds emptied_per_hour;
};

// `one`: the ejection of one endpoint at its share of the arrivals, which fails at p. Refused: `before` below
// 0 or above p; no endpoints or over 65,536, eject_ms 0.
Answer<PoolSick> pool_sick(const PoolQuestion& pool, const Ejection& one, double p, double before);
// Refused also: c over 0.1; and where the ratio rule has a part in false ejections (more than 1 in 1000),
// since its window depends on how much traffic the others leave.
Answer<PoolHealthy> pool_healthy(const PoolQuestion& pool, const Ejection& one, double p);

// Erlang's loss formula B(n, a), by its recurrence.
double erlang_b(std::uint32_t n, double a);

}  // namespace halfopen::sim::exact
