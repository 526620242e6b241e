// A pool of n identical endpoints: when is none of them left, so that the pool fails open?
#pragma once

#include <cstdint>
#include <string>

#include "sim/exact_ejection.hpp"

namespace halfopen::sim::exact {

// Two questions have an exact answer.
//
// (1) All n begin to fail at p. However requests are spread, endpoint i takes N_i of them until it is
// ejected, so the last one goes with request N_1 + … + N_n, as long as none of the ejected has come back,
// which is certain within eject_ms. `gone_before_return` is P(that sum arrives within eject_ms), which is at
// most the chance that the pool is empty before any return.
//
// (2) They fail at p for good, independently, and requests go to each candidate with equal chance. Then the
// pool is a closed network: a processor-sharing node, where each request serves one of the candidates (1 / (1
// - p) trials and E N requests a round), and a node where eject_ms passes for each by itself (1 / (1 - p)
// times a round). Both are insensitive to the laws of the stays (BCMP 1975; Engset), so the number j of
// endpoints that nobody may pick is Poisson(A) cut off at n:
//   P(j) = A^j / j! / sum over i <= n of A^i / i!,  A = eject_s / (1 - p) / ((1 / (1 - p) + E N) / rate),
// and all n are out for the share B(n, A), Erlang's loss formula. It is entered n / eject_s * B times a
// second. This is a pool that waits for its timers while it is empty. One that fails open is empty for a
// shorter time, because the first success of a fail-open pick brings an endpoint back; it empties about as
// often.
//
// No exact answer: the time to the first empty pool while ejections end by timers (the timers' ages would be
// part of the state), and any of it where p changes with the load.
struct PoolEmpty {
  std::uint32_t endpoints = 0;
  double per_s = 0;              // requests of the whole pool
  Bounds mean_requests, mean_s;  // (1), n E N
  Bounds within_95_s;            // (1), 0 to infinity where the law of the sum is too long
  std::string no_quantile;       // why, then
  Bounds gone_before_return;     // (1)
  Bounds empty_share;            // (2), of the time
  Bounds emptied_per_hour;       // (2)
};

// `one`: an endpoint's ejection at its share of the rate, Poisson or not; `p` the failure probability it was
// asked for. Refused: no endpoints or over 65,536, p outside [0, 1], eject_ms 0.
Answer<PoolEmpty> pool_empty(const Ejection& one, double p, std::uint32_t endpoints, std::uint64_t eject_ms);

// Erlang's loss formula B(n, a), by its recurrence.
double erlang_b(std::uint32_t n, double a);

}  // namespace halfopen::sim::exact
