// The cycle of one endpoint, healthy - ejected - half-open: the exact answers against the real machine.
#include "sim/exact_cycle.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "tests/sim/exact_judge.hpp"

namespace halfopen::sim::exact {
namespace {

using namespace judging;

Answer<Cycle> own_stream(const Ejection& e, double p, std::uint64_t out_ms) {
  return cycle(e, p, out_ms, wait_of_own_stream(e.arrivals, out_ms));
}

struct Stay {
  std::vector<double> healthy_s, outage_s, trials;
};

// 100,000 cycles of the real machine, one after another.
Stay cycles_of(const HealthParams& rule, double p, double per_s, std::uint64_t seed) {
  EndpointHealth health;
  Luck luck(seed, 0);
  Stay out;
  double t = 1000, since = t, trials = 0;
  while (out.outage_s.size() < REPLICATES) {
    t += luck.exponential(1000 / per_s);
    const Instant now{static_cast<std::uint64_t>(t)};
    if (!health.acquire(rule, now)) continue;
    const HealthState before = health.stored_state();
    trials += before == HealthState::half_open;
    health.report(rule, now, luck.unit() < p);
    const HealthState after = health.stored_state();
    if (before == HealthState::healthy && after == HealthState::ejected) {
      out.healthy_s.push_back((t - since) / 1000);
      since = t;
      trials = 0;
    } else if (before == HealthState::half_open && after == HealthState::healthy) {
      out.outage_s.push_back((t - since) / 1000);
      out.trials.push_back(trials);
      since = t;
    }
  }
  return out;
}

TEST_CASE("exact cycle: 100,000 cycles of an endpoint stay in and out as long as the chain says") {
  const HealthParams rule = small_rule();
  const Answer<Ejection> e = ejection(rule, {0.6}, {20, true});
  REQUIRE(e);
  const Answer<Cycle> exact = own_stream(*e, 0.6, rule.eject_ms);
  REQUIRE(exact);
  const Stay stay = cycles_of(rule, 0.6, 20, 41);
  CHECK(mean_agrees(stay.healthy_s, exact->healthy_s.low, exact->healthy_s.high));
  CHECK(mean_agrees(stay.outage_s, exact->outage_s.low, exact->outage_s.high));
  CHECK(mean_agrees(stay.trials, exact->trials_per_outage, exact->trials_per_outage));
  HealthParams longer = rule;
  longer.eject_ms += 50;
  CHECK_FALSE(
      mean_agrees(cycles_of(longer, 0.6, 20, 41).outage_s, exact->outage_s.low, exact->outage_s.high));
}

// Shares and rates of one endpoint, in batches of `batch_s`; whoever comes while it is out is turned away, or
// served all the same where the pool fails open.
struct Batches {
  std::vector<double> in_rotation, turned_away, trial_share, outages_per_hour, trials_per_hour;
};
Batches batches_of(const HealthParams& rule, double p, const Arrivals& arrivals, double batch_s,
                   std::uint64_t runs, bool fails_open = false) {
  Batches out;
  for (std::uint64_t r = 0; r < runs; ++r) {
    EndpointHealth health;
    Luck luck(42, r);
    const double gap = 1000 / arrivals.per_s;
    double t = 0, in_ms = 0, since = 0, asked = 0, away = 0, taken = 0, trials = 0, outages = 0;
    while (t < batch_s * 1000) {
      t += arrivals.poisson ? luck.exponential(gap) : gap;
      const Instant now{1000 + static_cast<std::uint64_t>(t)};
      ++asked;
      const bool candidate = health.acquire(rule, now);
      if (!candidate && !fails_open) {
        ++away;
        continue;
      }
      ++taken;
      const HealthState before = health.stored_state();
      trials += before == HealthState::half_open;
      health.report(rule, now, luck.unit() < p);
      const HealthState after = health.stored_state();
      if (before == HealthState::healthy && after == HealthState::ejected) ++outages, in_ms += t - since;
      if (before != HealthState::healthy && after == HealthState::healthy) since = t;
    }
    if (health.stored_state() == HealthState::healthy) in_ms += t - since;
    out.in_rotation.push_back(in_ms / t);
    out.turned_away.push_back(away / asked);
    out.trial_share.push_back(trials / taken);
    out.outages_per_hour.push_back(outages / t * 3.6e6);
    out.trials_per_hour.push_back(trials / t * 3.6e6);
  }
  return out;
}

TEST_CASE(
    "exact cycle: shares of the time and of the attempts, and how often, are those of the real machine") {
  const HealthParams rule = small_rule();
  for (const bool poisson : {true, false}) {
    const Arrivals arrivals{20, poisson};
    const Answer<Ejection> e = ejection(rule, {0.6}, arrivals);
    REQUIRE(e);
    const Answer<Cycle> exact = own_stream(*e, 0.6, rule.eject_ms);
    REQUIRE(exact);
    const auto agree = [&](double p, bool wanted) {
      const Batches real_ones = batches_of(rule, p, arrivals, 400, 60);
      const auto same = [&](const std::vector<double>& found, const Bounds& said) {
        CHECK(mean_agrees(found, said.low, said.high) == wanted);
      };
      same(real_ones.in_rotation, exact->in_rotation);
      same(real_ones.turned_away, exact->turned_away);
      same(real_ones.trial_share, exact->trial_share);
      same(real_ones.outages_per_hour, exact->outages_per_hour);
      same(real_ones.trials_per_hour, exact->trials_per_hour);
    };
    agree(0.6, true);
    agree(0.35, false);
  }
}

TEST_CASE("exact cycle: an endpoint alone is taken back by what fails open to it, as often as is said") {
  HealthParams rule = small_rule();
  rule.eject_ms = 90;  // of two requests or so: some succeed, some leave it to a trial
  for (const bool poisson : {true, false}) {
    const Arrivals arrivals{20, poisson};
    const Answer<Ejection> e = ejection(rule, {0.6}, arrivals);
    REQUIRE(e);
    const Answer<Cycle> exact = cycle_alone(*e, 0.6, rule.eject_ms);
    REQUIRE(exact);
    const Batches real = batches_of(rule, 0.6, arrivals, 400, 60, true);
    CHECK(mean_agrees(real.in_rotation, exact->in_rotation.low, exact->in_rotation.high));
    CHECK(mean_agrees(real.trial_share, exact->trial_share.low, exact->trial_share.high));
    CHECK(mean_agrees(real.outages_per_hour, exact->outages_per_hour.low, exact->outages_per_hour.high));
    CHECK(mean_agrees(real.trials_per_hour, exact->trials_per_hour.low, exact->trials_per_hour.high));
    const Batches closed = batches_of(rule, 0.6, arrivals, 400, 60);
    CHECK_FALSE(mean_agrees(closed.in_rotation, exact->in_rotation.low, exact->in_rotation.high));
  }
}

TEST_CASE("exact cycle: a cycle without failures never leaves, one without successes never returns") {
  const Answer<Ejection> never = ejection(HealthParams{}, {0}, {10, true});
  REQUIRE(never);
  const Answer<Cycle> in = own_stream(*never, 0, 1000);
  REQUIRE(in);
  CHECK(in->in_rotation.low == 1);
  CHECK(in->outages_per_hour.high == 0);
  const Answer<Ejection> always = ejection(HealthParams{}, {1}, {10, false});
  REQUIRE(always);
  CHECK(always->mean_s.low == doctest::Approx(0.5));
  const Answer<Cycle> out = own_stream(*always, 1, 1000);
  REQUIRE(out);
  CHECK(out->in_rotation.high < 1e-12);
  CHECK(out->outage_s.low == FOREVER);
  CHECK(out->turned_away.low == doctest::Approx(0.9));  // every tenth is a trial
}

}  // namespace
}  // namespace halfopen::sim::exact
