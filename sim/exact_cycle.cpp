#include "sim/exact_cycle.hpp"

#include <algorithm>
#include <cmath>

#include "sim/exact_chain.hpp"
#include "sim/real_math.hpp"

namespace halfopen::sim::exact {

namespace {

struct Point {
  double in_rotation = 1, outages = 0, trials = 0, trial_share = 0, turned_away = 0;
};

// Attempts that come in one stay out.
double turned_away_of(const Arrivals& arrivals, double out_s) {
  const double expected = out_s * arrivals.per_s;
  return arrivals.poisson ? expected : std::max(1.0, std::ceil(expected - 1e-9)) - 1;
}

// All of them where the stay in rotation is `healthy_s` and the wait for a trial `wait_s`, per second and per
// attempt.
Answer<Point> at(double healthy_s, double wait_s, double out_s, double p, const Arrivals& arrivals) {
  if (healthy_s == FOREVER) return Point{};
  enum : std::uint32_t { HEALTHY, OUT, HALF_OPEN };
  const Answer<Stationary> chain =
      stationary({healthy_s, out_s, wait_s},
                 {{HEALTHY, OUT, 1}, {OUT, HALF_OPEN, 1}, {HALF_OPEN, OUT, p}, {HALF_OPEN, HEALTHY, 1 - p}});
  if (!chain) return Answer<Point>::refused(chain.refusal);
  Point out;
  out.in_rotation = chain->share[HEALTHY];
  out.outages = chain->visits[HEALTHY] / chain->step_s;
  out.trials = chain->visits[HALF_OPEN] / chain->step_s;
  const double taken = out.in_rotation * arrivals.per_s + out.trials;
  out.trial_share = out.trials / taken;
  out.turned_away = chain->visits[OUT] * turned_away_of(arrivals, out_s) / (chain->step_s * arrivals.per_s);
  return out;
}

// From the least to the most of what was found.
void widen(Bounds& bounds, double value, bool first) {
  bounds = first ? Bounds{value, value} : Bounds{std::min(bounds.low, value), std::max(bounds.high, value)};
}

void add(Cycle& out, const Point& point, bool first) {
  widen(out.in_rotation, point.in_rotation, first);
  widen(out.outages_per_hour, point.outages * 3600, first);
  widen(out.trials_per_hour, point.trials * 3600, first);
  widen(out.trial_share, point.trial_share, first);
  widen(out.turned_away, point.turned_away, first);
}

const char* const NO_TIME = "an ejection of 0 ms is none: at least 1 ms is needed";

}  // namespace

Bounds wait_of_own_stream(const Arrivals& arrivals, std::uint64_t out_ms) {
  const double out_s = static_cast<double>(out_ms) / 1000, gap_s = 1 / arrivals.per_s;
  const double wait_s = arrivals.poisson ? gap_s : (turned_away_of(arrivals, out_s) + 1) * gap_s - out_s;
  return {wait_s, wait_s};
}

Bounds wait_among_others(const Arrivals& at_endpoint) { return {0, 1 / at_endpoint.per_s}; }

Answer<Cycle> cycle(const Ejection& ejection, double p, std::uint64_t out_ms, const Bounds& wait_s) {
  if (out_ms == 0) return Answer<Cycle>::refused(NO_TIME);
  const double out_s = static_cast<double>(out_ms) / 1000;
  Cycle out;
  out.healthy_s = ejection.mean_s;
  out.trials_per_outage = p < 1 ? 1 / (1 - p) : FOREVER;
  out.outage_s = {(out_s + wait_s.low) * out.trials_per_outage,
                  (out_s + wait_s.high) * out.trials_per_outage};
  bool first = true;
  for (const double healthy_s : {ejection.mean_s.low, ejection.mean_s.high}) {
    for (const double wait : {wait_s.low, wait_s.high}) {
      const Answer<Point> point = at(healthy_s, wait, out_s, p, ejection.arrivals);
      if (!point) return Answer<Cycle>::refused(point.refusal);
      add(out, *point, first);
      first = false;
    }
  }
  return out;
}

// A spell ends after min(eject, time until the first success); even ones that see none, with their trial.
OutageAlone outage_alone(const Arrivals& arrivals, double p, std::uint64_t out_ms) {
  const double out_s = static_cast<double>(out_ms) / 1000, gap_s = 1 / arrivals.per_s;
  const double came = turned_away_of(arrivals, out_s);
  if (p >= 1) return {came, 1, 1, FOREVER};
  double none = 0;
  if (arrivals.poisson) {
    none = real::exp(std::max(-700.0, -came * (1 - p)));
  } else {
    none = p > 0 ? real::exp(std::max(-700.0, came * real::ln(p))) : came > 0 ? 0 : 1;
  }
  OutageAlone out;
  out.spells = 1 / (1 - none * p);
  out.fail_open = (1 - none) / (1 - p) * out.spells;
  out.trials = none * out.spells;
  out.mean_s = (out.fail_open + out.trials) * gap_s;  // each request is one gap after another (Wald)
  return out;
}

Answer<Cycle> cycle_alone(const Ejection& ejection, double p, std::uint64_t out_ms) {
  if (out_ms == 0) return Answer<Cycle>::refused(NO_TIME);
  const double per_s = ejection.arrivals.per_s;
  const OutageAlone outage = outage_alone(ejection.arrivals, p, out_ms);
  Cycle out;
  out.healthy_s = ejection.mean_s;
  out.trials_per_outage = outage.trials;
  out.outage_s = {outage.mean_s, outage.mean_s};
  bool first = true;
  for (const double healthy_s : {ejection.mean_s.low, ejection.mean_s.high}) {
    Point point;
    if (p >= 1) {
      point = {0, 0, per_s / (outage.fail_open + 1), 1 / (outage.fail_open + 1), 0};
    } else if (healthy_s != FOREVER) {
      const double round_s = healthy_s + outage.mean_s;
      point = {healthy_s / round_s, 1 / round_s, outage.trials / round_s, outage.trials / (round_s * per_s),
               0};
    }
    add(out, point, first);
    first = false;
  }
  return out;
}

}  // namespace halfopen::sim::exact
