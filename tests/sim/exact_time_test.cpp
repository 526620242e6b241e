// Ejections in time and probes: the exact answers and their bounds against the real machines.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/active_probe.hpp"
#include "sim/exact.hpp"
#include "tests/sim/exact_judge.hpp"

namespace halfopen::sim::exact {
namespace {

using namespace judging;

// When a fresh endpoint is ejected, in ms; `most_ms` if later.
double ejected_at_ms(const HealthParams& rule, double p, const Arrivals& arrivals, double most_ms,
                     Luck luck) {
  HealthUnderTest machine(rule);
  const double gap = 1000 / arrivals.per_s;
  double t = 0;
  for (;;) {
    t += arrivals.poisson ? luck.exponential(gap) : gap;
    if (t > most_ms) return most_ms;
    if (machine.report(1000 + static_cast<std::uint64_t>(t), luck.unit() < p)) return t;
  }
}

double share_ejected(const HealthParams& rule, double p, const Arrivals& arrivals, double by_s,
                     std::uint64_t runs) {
  std::uint64_t hits = 0;
  for (std::uint64_t r = 0; r < runs; ++r)
    hits += ejected_at_ms(rule, p, arrivals, by_s * 1000, Luck(31, r)) < by_s * 1000;
  return static_cast<double>(hits) / static_cast<double>(runs);
}

TEST_CASE(
    "exact time: within the first window the chance of an ejection is exact, evenly spaced or Poisson") {
  for (const bool poisson : {true, false}) {
    const Arrivals arrivals{20, poisson};
    const Answer<Ejection> e = ejection(small_rule(), {0.3}, arrivals);
    REQUIRE(e);
    const Bounds exact = ejected_by(*e, 1.525);
    REQUIRE(exact.exact());
    const double share = share_ejected(small_rule(), 0.3, arrivals, 1.525, REPLICATES);
    CHECK(errors_away(share * REPLICATES, REPLICATES, exact.low) < WIDTH);
    HealthParams late = small_rule();
    ++late.consecutive_failures;
    CHECK(errors_away(share_ejected(late, 0.3, arrivals, 1.525, REPLICATES) * REPLICATES, REPLICATES,
                      exact.low) > WIDTH);
  }
}

TEST_CASE("exact time: after the first window the bounds hold what the machines do") {
  constexpr std::uint64_t RUNS = 20'000;
  for (const bool poisson : {true, false}) {
    const Arrivals arrivals{20, poisson};
    const Answer<Ejection> e = ejection(small_rule(), {0.2}, arrivals);
    REQUIRE(e);
    CHECK(e->bound == "streak, Harris");
    const Bounds bounds = ejected_by(*e, 12);
    CHECK_FALSE(bounds.exact());
    CHECK(bounds.high - bounds.low < 0.2);
    const double share = share_ejected(small_rule(), 0.2, arrivals, 12, RUNS);
    const double error = WIDTH * std::sqrt(share * (1 - share) / RUNS);
    CHECK(share + error >= bounds.low);
    CHECK(share - error <= bounds.high);
    std::vector<double> times;
    for (std::uint64_t r = 0; r < 2'000; ++r)
      times.push_back(ejected_at_ms(small_rule(), 0.2, arrivals, 1e9, Luck(32, r)) / 1000);
    CHECK(mean_agrees(times, e->mean_s.low, e->mean_s.high));
    CHECK(e->mean_s.low > 0.5 * e->mean_s.high);
  }
}

// The streak alone would take an hour; half and half is the ratio's, soon or late.
TEST_CASE("exact time: where failures are over the ratio, full windows soon have it, and bounds are close") {
  HealthParams rule = small_rule();
  rule.consecutive_failures = 30;
  rule.failure_min_volume = 60;  // of 80 in a window
  for (const bool poisson : {true, false}) {
    const Arrivals arrivals{40, poisson};
    const Answer<Ejection> e = ejection(rule, {0.65}, arrivals);
    REQUIRE(e);
    CHECK(e->mean_s.high < 1.5 * e->mean_s.low);
    std::vector<double> times;
    for (std::uint64_t r = 0; r < 2'000; ++r)
      times.push_back(ejected_at_ms(rule, 0.65, arrivals, 1e9, Luck(33, r)) / 1000);
    CHECK(mean_agrees(times, e->mean_s.low, e->mean_s.high));
    HealthParams deaf = rule;
    deaf.failure_ratio = 0.75;
    std::vector<double> later;
    for (std::uint64_t r = 0; r < 200; ++r)
      later.push_back(ejected_at_ms(deaf, 0.65, arrivals, 1e9, Luck(33, r)) / 1000);
    CHECK_FALSE(mean_agrees(later, e->mean_s.low, e->mean_s.high));
  }
}

TEST_CASE("exact time: a window that never holds the volume leaves the streak alone, and says so") {
  const Answer<Ejection> e = ejection(small_rule(), {0.1}, {4, false});
  REQUIRE(e);
  CHECK_FALSE(e->ratio_can_fire);
  CHECK(e->bound == "exact");
  CHECK(e->mean_s.low == doctest::Approx(streak_mean(5, 0.1) / 4).epsilon(1e-9));
  CHECK(e->mean_s.exact());
}

TEST_CASE("exact time: a window too long to follow is cut, and its rest bounded") {
  const Answer<Ejection> e = ejection(HealthParams{}, {0.005}, {20'000, true});
  REQUIRE(e);
  CHECK(e->cut);
  CHECK(e->window_s < 60);
  CHECK(e->bound == "streak, Harris, Chernoff");
  CHECK(e->mean_s.exact());
  CHECK(e->mean_s.high == doctest::Approx(streak_mean(5, 0.005) / 20'000).epsilon(1e-6));
}

TEST_CASE("exact time: a streak switched off by a large number leaves the ratio rule, or a refusal") {
  HealthParams rule;
  rule.consecutive_failures = 4'000'000'000;
  const Answer<Ejection> sick = ejection(rule, {1}, {10, false});
  REQUIRE(sick);
  CHECK(sick->bound == "exact");
  CHECK(sick->mean_s.low == doctest::Approx(2));  // 20 observations
  rule.failure_min_volume = 4'000'000'000;
  CHECK(ejection(rule, {1}, {10, false}).refusal.find("takes too long") != std::string::npos);
  rule.consecutive_failures = 9'000;
  const Answer<Ejection> never = ejection(rule, {0.5}, {1000, true});
  REQUIRE(never);
  CHECK(never->mean_s.low == FOREVER);
}

TEST_CASE("exact time: the largest settings and rates that files allow are answered or refused, soon") {
  for (const double p : {0.0, 0.005, 0.5, 1.0}) {
    for (const std::uint32_t streak : {1U, 1000U, 4'294'967'295U}) {
      for (const double rate : {1e-9, 1.0, 1e7}) {
        HealthParams rule;
        rule.window_ms = 1'000'000'000'000;
        rule.consecutive_failures = streak;
        rule.failure_ratio = p == 0.5 ? 1e-9 : 0.5;
        const Answer<Ejection> e = ejection(rule, {p}, {rate, rate != 1});
        if (!e) continue;
        CHECK(e->mean_s.low <= e->mean_s.high);
        CHECK(e->in_an_hour.low >= 0);
        CHECK(e->in_an_hour.high <= 1);
        CHECK(e->median_s.low <= e->within_95_s.high);
      }
    }
  }
}

TEST_CASE("exact time: rates and turns out of range are refused in a sentence") {
  CHECK(ejection(HealthParams{}, {0.5}, {0, true}).refusal ==
        "a rate of 0 attempts a second is not over 0 and at most 10,000,000");
  CHECK_FALSE(ejection(HealthParams{}, {}, {1, true}));
  CHECK_FALSE(ejection(HealthParams{}, {-0.1}, {1, true}));
  const Answer<Ejection> e = ejection(HealthParams{}, {0.5}, {1, true});
  REQUIRE(e);
  CHECK_FALSE(cycle(*e, 0.5, 0, {0, 1}));
  CHECK_FALSE(cycle_alone(*e, 0.5, 0));
  CHECK_FALSE(pool_sick({HealthParams{}, 0, {1, true}}, *e, 0.5, 0));
  CHECK(probe_wait({0, 0, 1, 1, 0, 0}).refusal == "probes need an interval of at least 1 ms");
  CHECK_FALSE(probe_wait({100, 0, 1, 0, 0, 0}));
}

// The real loop and tracker: from a change at a random moment of the loop to the ejection, in s.
double detected_s(const ProbeQuestion& q, Luck luck) {
  ActiveParams active;
  active.interval_ms = q.interval_ms;
  active.jitter_ms = q.jitter_ms;
  active.failure_threshold = q.threshold;
  EndpointHealth health;
  ActiveProbe loop(active, HealthParams{}, 0);
  // A loop has run for so long that it has forgotten its start.
  const double change = 40'000 + 20'000 * luck.unit();
  double t = 0;
  for (;;) {
    t += static_cast<double>(loop.sleep_ms(luck.unit()));
    const bool failed = t >= change && luck.unit() < q.chance;
    t += failed ? q.verdict_ms : q.other_ms;
    loop.verdict(health, Instant{1000 + static_cast<std::uint64_t>(t)}, !failed);
    if (health.stored_state() == HealthState::ejected) return (t - change) / 1000;
  }
}

void probes_agree(const ProbeQuestion& q, const ProbeQuestion& asked, bool agree) {
  const Answer<ProbeWait> exact = probe_wait(asked);
  REQUIRE(exact);
  std::vector<double> times;
  for (std::uint64_t r = 0; r < REPLICATES / 4; ++r) times.push_back(detected_s(q, Luck(51, r)));
  CHECK(mean_agrees(times, exact->mean_s, exact->mean_s) == agree);
  std::sort(times.begin(), times.end());
  const auto all = static_cast<double>(times.size());
  const double error = WIDTH * std::sqrt(0.95 * 0.05 / all);
  const auto at = [&](double level) {
    return times[static_cast<std::size_t>(std::min(1.0, level) * (all - 1))];
  };
  CHECK((at(0.95 + error) >= exact->within_95_s.low && at(0.95 - error) <= exact->within_95_s.high) == agree);
  if (agree) {
    CHECK(times.front() >= exact->least_s - 1e-9);
    CHECK(times.back() <= exact->most_s + 1e-9);
  }
}

TEST_CASE("exact time: 25,000 probe loops detect when the convolution and the bounds say so") {
  const ProbeQuestion jittered{500, 400, 3, 1, 100, 20};
  probes_agree(jittered, jittered, true);
  const ProbeQuestion even{500, 0, 2, 1, 0, 0};
  probes_agree(even, even, true);
  const ProbeQuestion gray{500, 100, 2, 0.6, 50, 5};
  probes_agree(gray, gray, true);
  ProbeQuestion one_more = jittered;
  ++one_more.threshold;
  probes_agree(one_more, jittered, false);
}

TEST_CASE(
    "exact time: probes at a fixed interval detect between fall - 1 and fall intervals after the change") {
  const Answer<ProbeWait> wait = probe_wait({1000, 0, 3, 1, 0, 0});
  REQUIRE(wait);
  CHECK(wait->least_s == doctest::Approx(2));
  CHECK(wait->most_s == doctest::Approx(3));
  CHECK(wait->mean_s == doctest::Approx(2.5));
  CHECK(wait->within_95_s.low == doctest::Approx(2.95));
}

}  // namespace
}  // namespace halfopen::sim::exact
