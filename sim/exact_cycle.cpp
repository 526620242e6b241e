#include "sim/exact_cycle.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/exact_chain.hpp"

namespace halfopen::sim::exact {

namespace {

struct Stays {
  double out_s = 0, wait_s = 0;
  double turned_away = 0;  // attempts that come while it is out, of one stay
};

Stays stays_of(const Arrivals& arrivals, double out_s) {
  if (arrivals.poisson) return {out_s, 1 / arrivals.per_s, arrivals.per_s * out_s};
  const double turns = std::max(1.0, std::ceil(out_s * arrivals.per_s - 1e-9));
  return {out_s, turns / arrivals.per_s - out_s, turns - 1};
}

struct Point {
  double in_rotation = 1, outages = 0, trials = 0, trial_share = 0, turned_away = 0;
};

// All of them where the stay in rotation is `healthy_s`, per second and per attempt.
Answer<Point> at(double healthy_s, const Stays& stays, double p, double per_s) {
  if (healthy_s == FOREVER) return Point{};
  enum : std::uint32_t { HEALTHY, OUT, HALF_OPEN };
  const Answer<Stationary> chain =
      stationary({healthy_s, stays.out_s, stays.wait_s},
                 {{HEALTHY, OUT, 1}, {OUT, HALF_OPEN, 1}, {HALF_OPEN, OUT, p}, {HALF_OPEN, HEALTHY, 1 - p}});
  if (!chain) return Answer<Point>::refused(chain.refusal);
  Point out;
  out.in_rotation = chain->share[HEALTHY];
  out.outages = chain->visits[HEALTHY] / chain->step_s;
  out.trials = chain->visits[HALF_OPEN] / chain->step_s;
  const double taken = out.in_rotation * per_s + out.trials;
  out.trial_share = out.trials / taken;
  out.turned_away = chain->visits[OUT] * stays.turned_away / (chain->step_s * per_s);
  return out;
}

Bounds ordered(double a, double b, double scale = 1) {
  return {std::min(a, b) * scale, std::max(a, b) * scale};
}

}  // namespace

Answer<Cycle> cycle(const Ejection& ejection, const FailureTurns& turns, std::uint64_t out_ms) {
  if (out_ms == 0) return Answer<Cycle>::refused("an ejection of 0 ms is none: at least 1 ms is needed");
  if (turns.empty()) return Answer<Cycle>::refused("at least one failure probability is needed");
  const double p = std::accumulate(turns.begin(), turns.end(), 0.0) / static_cast<double>(turns.size());
  const double per_s = ejection.arrivals.per_s;
  const Stays stays = stays_of(ejection.arrivals, static_cast<double>(out_ms) / 1000);
  const Answer<Point> low = at(ejection.mean_s.low, stays, p, per_s);
  const Answer<Point> high = at(ejection.mean_s.high, stays, p, per_s);
  if (!low) return Answer<Cycle>::refused(low.refusal);
  if (!high) return Answer<Cycle>::refused(high.refusal);
  Cycle out;
  out.healthy_s = ejection.mean_s;
  out.trials_per_outage = p < 1 ? 1 / (1 - p) : FOREVER;
  out.outage_s = (stays.out_s + stays.wait_s) * out.trials_per_outage;
  out.in_rotation = ordered(low->in_rotation, high->in_rotation);
  out.outages_per_hour = ordered(low->outages, high->outages, 3600);
  out.trials_per_hour = ordered(low->trials, high->trials, 3600);
  out.trial_share = ordered(low->trial_share, high->trial_share);
  out.turned_away = ordered(low->turned_away, high->turned_away);
  return out;
}

}  // namespace halfopen::sim::exact
