// Pools of real trackers, judged against sim/exact_pool.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sim/exact_pool.hpp"
#include "tests/sim/exact_judge.hpp"

namespace halfopen::sim::exact::judging {

// A pool of real trackers that fails open: a request goes to a random candidate, or to anybody where there is
// none.
class Pool {
 public:
  Pool(const PoolQuestion& q, Luck luck) : q_(q), luck_(luck), endpoints_(q.endpoints) {}

  // One request, failing with probability p. `now_s` goes on.
  void request(double p) {
    const double gap = 1000 / q_.arrivals.per_s;
    t_ms_ += q_.arrivals.poisson ? luck_.exponential(gap) : gap;
    const Instant now{100'000 + static_cast<std::uint64_t>(t_ms_)};
    std::vector<EndpointHealth*> candidates;
    for (EndpointHealth& one : endpoints_) {
      if (one.is_candidate(q_.rule, now)) candidates.push_back(&one);
    }
    ++requests;
    const bool nobody = candidates.empty();
    fail_open += nobody;
    if (nobody) {
      for (EndpointHealth& one : endpoints_) candidates.push_back(&one);
    }
    EndpointHealth& picked =
        *candidates[static_cast<std::size_t>(luck_.unit() * static_cast<double>(candidates.size()))];
    if (!nobody) picked.acquire(q_.rule, now);
    picked.report(q_.rule, now, luck_.unit() < p);
    emptied += !nobody && std::none_of(endpoints_.begin(), endpoints_.end(),
                                       [&](EndpointHealth& one) { return one.is_candidate(q_.rule, now); });
  }
  double now_s() const { return t_ms_ / 1000; }
  bool all_ejected() const {
    return std::all_of(endpoints_.begin(), endpoints_.end(),
                       [](const EndpointHealth& one) { return one.stored_state() == HealthState::ejected; });
  }

  double requests = 0, fail_open = 0, emptied = 0;

 private:
  const PoolQuestion& q_;
  Luck luck_;
  std::vector<EndpointHealth> endpoints_;
  double t_ms_ = 0;
};

inline Answer<PoolSick> sick_pool(const PoolQuestion& q, double p, double before) {
  const Answer<Ejection> one = ejection(q.rule, {p}, {q.arrivals.per_s / q.endpoints, q.arrivals.poisson});
  return one ? pool_sick(q, *one, p, before) : Answer<PoolSick>::refused(one.refusal);
}
inline Answer<PoolHealthy> healthy_pool(const PoolQuestion& q, double p) {
  const Answer<Ejection> one = ejection(q.rule, {p}, {q.arrivals.per_s / q.endpoints, q.arrivals.poisson});
  return one ? pool_healthy(q, *one, p) : Answer<PoolHealthy>::refused(one.refusal);
}

// From one and a half windows of healthy traffic to the moment when the last is out, in s.
inline double last_out_s(const PoolQuestion& q, double p, double before, Luck luck) {
  Pool pool(q, luck);
  const double turn_s = 1.5 * static_cast<double>(q.rule.window_ms) / 1000;
  while (pool.now_s() < turn_s) pool.request(before);
  while (!pool.all_ejected()) pool.request(p);
  return pool.now_s() - turn_s;
}

inline double errors_of_p95(const PoolQuestion& q, double p, double before, double at_s, std::uint64_t runs) {
  double hits = 0;
  for (std::uint64_t r = 0; r < runs; ++r) hits += last_out_s(q, p, before, Luck(62, r)) <= at_s;
  return (hits / static_cast<double>(runs) - 0.95) / std::sqrt(0.95 * 0.05 / static_cast<double>(runs));
}

}  // namespace halfopen::sim::exact::judging
