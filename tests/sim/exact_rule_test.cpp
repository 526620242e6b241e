// The laws of the two rules: against closed forms, against every outcome there is, and against 10^5
// replicates of the real machines. And machines that were broken on purpose, which the same judge must not
// let pass.
#include "sim/exact_rule.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/exact_chain.hpp"
#include "tests/sim/exact_judge.hpp"

namespace halfopen::sim::exact {
namespace {

using namespace judging;

constexpr std::uint32_t NO_STREAK = std::numeric_limits<std::uint32_t>::max();

HealthParams rule(std::uint32_t streak, double ratio, std::uint32_t volume) {
  HealthParams out;
  out.consecutive_failures = streak;
  out.failure_ratio = ratio;
  out.failure_min_volume = volume;
  return out;
}

// P(N = i + 1) for i < n, over all 2^n outcomes, each told to a machine of its own.
template <class Machine>
std::vector<double> by_enumeration(const HealthParams& params, const FailureTurns& turns, std::uint32_t n) {
  std::vector<double> out(n, 0.0);
  for (std::uint32_t outcomes = 0; outcomes < (1U << n); ++outcomes) {
    Machine machine(params);
    double chance = 1;
    std::uint32_t ended = n;
    for (std::uint32_t i = 0; i < n; ++i) {
      const bool failure = (outcomes >> i & 1U) != 0;
      chance *= failure ? turns[i % turns.size()] : 1 - turns[i % turns.size()];
      if (ended == n && machine.report(1000 + i, failure)) ended = i;
    }
    if (ended < n) out[ended] += chance;
  }
  return out;
}

template <class Machine>
void all_outcomes_agree(const HealthParams& params, const FailureTurns& turns) {
  constexpr std::uint32_t N = 12;
  const std::vector<double> all = by_enumeration<Machine>(params, turns, N);
  const Answer<CountLaw> law = window_law(params, turns, N);
  REQUIRE(law);
  REQUIRE(law->ends.size() == N);
  double left = 1;
  for (std::uint32_t i = 0; i < N; ++i) {
    CHECK(law->ends[i] == doctest::Approx(all[i]).epsilon(1e-12));
    left -= all[i];
  }
  CHECK(law->beyond == doctest::Approx(left).epsilon(1e-12));
}

TEST_CASE("exact rule: the mean streak is (1 - p^k) / (p^k (1 - p)), three ways") {
  for (const double p : {0.05, 0.5, 0.6, 0.99}) {
    for (const std::uint32_t k : {1U, 2U, 5U, 9U}) {
      const double closed = (1 - std::pow(p, k)) / (std::pow(p, k) * (1 - p));
      CHECK(streak_mean(k, p) == doctest::Approx(closed).epsilon(1e-11));
      const Answer<CountLaw> law = streak_law(k, {p});
      REQUIRE(law);
      CHECK(mean_count(*law) == doctest::Approx(closed).epsilon(1e-9));
      std::vector<Edge> edges;
      for (std::uint32_t s = 0; s < k; ++s) {
        edges.push_back({s, 0, 1 - p});
        if (s + 1 < k) edges.push_back({s, s + 1, p});
      }
      const auto steps = steps_to_absorption(k, edges);
      REQUIRE(steps.value.has_value() == (closed < MAX_STEPS));
      if (steps) CHECK((*steps)[0] == doctest::Approx(closed).epsilon(1e-6));
    }
  }
  CHECK(streak_mean(7, 1) == 7);
  CHECK(streak_mean(7, 0) == FOREVER);
}

TEST_CASE("exact rule: a streak law's tail is the law, far beyond what was stepped") {
  const Answer<CountLaw> law = streak_law(3, {0.3});
  REQUIRE(law);
  // f(n) = p^k (1 - p) P(N > n - k - 1), stepped here for 3,000 attempts.
  std::vector<double> survive{1, 1, 1, 1 - 0.027};
  for (std::size_t n = 4; n <= 3000; ++n) survive.push_back(survive[n - 1] - 0.027 * 0.7 * survive[n - 4]);
  CHECK(law->known_to() < 200);
  for (const std::size_t n : {3U, 4U, 50U, 500U, 3000U}) {
    CHECK(survival(*law, static_cast<double>(n)) == doctest::Approx(survive[n]).epsilon(1e-9));
  }
  const std::optional<double> half = count_quantile(*law, 0.5);
  REQUIRE(half);
  CHECK(survival(*law, *half) <= 0.5);
  CHECK(survival(*law, *half - 1) > 0.5);
}

TEST_CASE("exact rule: a streak that fits between two that never fail is possible") {
  const Answer<CountLaw> one = streak_law(1, {0, 0, 0, 0.5});
  REQUIRE(one);
  CHECK(survival(*one, 4) == doctest::Approx(0.5));
  const Answer<CountLaw> two = streak_law(2, {0, 0.5, 0.5, 0});
  REQUIRE(two);
  CHECK(survival(*two, 4) == doctest::Approx(0.75));
  const Answer<CountLaw> over_the_end = streak_law(2, {0.5, 0, 0, 0.5});
  REQUIRE(over_the_end);
  CHECK(survival(*over_the_end, 5) == doctest::Approx(0.75));
  const Answer<CountLaw> none = streak_law(3, {0, 0.5, 0.5, 0});
  REQUIRE(none);
  CHECK(survival(*none, 1e9) == 1);
}

TEST_CASE("exact rule: a streak begun before ends sooner, by as much as it is long") {
  const Answer<CountLaw> begun = streak_law(3, {1}, 0.5);  // 0, 1, 2 begun: 4/7, 2/7, 1/7
  REQUIRE(begun);
  CHECK(survival(*begun, 1) == doctest::Approx(6.0 / 7));
  CHECK(survival(*begun, 2) == doctest::Approx(4.0 / 7));
  CHECK(survival(*begun, 3) < 1e-15);
}

TEST_CASE("exact rule: a quantile beyond 2^53 attempts is found as well") {
  const Answer<CountLaw> law = streak_law(8, {0.01});  // 10^16 attempts on average
  REQUIRE(law);
  CHECK(*count_quantile(*law, 0.95) == doctest::Approx(-std::log(0.05) * streak_mean(8, 0.01)).epsilon(1e-6));
  CHECK(*count_quantile(*law, 1e-9) == doctest::Approx(1e-9 * streak_mean(8, 0.01)).epsilon(1e-3));
}

TEST_CASE("exact rule: certain failures end after k attempts, impossible ones never") {
  const Answer<CountLaw> sure = streak_law(4, {1});
  REQUIRE(sure);
  CHECK(survival(*sure, 3) == 1);
  CHECK(survival(*sure, 4) == 0);
  const Answer<CountLaw> never = streak_law(4, {0});
  REQUIRE(never);
  CHECK(survival(*never, 1e15) == 1);
  CHECK(mean_count(*never) == FOREVER);
  CHECK_FALSE(count_quantile(*never, 0.5));
}

TEST_CASE("exact rule: what makes no sense is refused in a sentence") {
  CHECK(streak_law(0, {0.5}).refusal == "a streak of 0 failures is no rule: at least 1 is needed");
  CHECK(streak_law(2, {1.5}).refusal == "a failure probability of 1.5 is not within 0 and 1");
  CHECK(streak_law(2, {std::nan("")}).refusal == "a failure probability of nan is not within 0 and 1");
  CHECK(streak_law(2, {}).refusal == "at least one failure probability is needed");
  CHECK(streak_law(1'000'000, {0.9999}).refusal.find("takes too long to follow exactly") !=
        std::string::npos);
  CHECK_FALSE(window_law(rule(2, 0, 1), {0.5}, 10));
  CHECK_FALSE(window_law(rule(2, 0.5, 0), {0.5}, 10));
}

TEST_CASE(
    "exact rule: the failures that a volume needs are those of the machine, also where doubles are tight") {
  CHECK(failures_needed(rule(5, 0.07, 1), 100) == 7);
  CHECK(failures_needed(rule(5, 0.5, 20), 19) == 0);
  CHECK(failures_needed(rule(5, 0.5, 20), 20) == 10);
  CHECK(failures_needed(rule(5, 0.5, 20), 21) == 11);
  CHECK(failures_needed(rule(5, 1.0, 1), 3) == 3);
  CHECK(failures_needed(rule(5, 1e-9, 1), 50) == 1);
}

TEST_CASE("exact rule: all 4096 outcomes of 12 attempts, told to the real endpoint health and breaker") {
  for (const HealthParams& params :
       {rule(3, 0.5, 4), rule(NO_STREAK, 0.5, 6), rule(4, 0.75, 1), rule(2, 1, 20)}) {
    for (const FailureTurns& turns : {FailureTurns{0.3}, FailureTurns{0.7}, FailureTurns{0.05, 0.9, 0.4}}) {
      all_outcomes_agree<HealthUnderTest>(params, turns);
      all_outcomes_agree<BreakerUnderTest>(params, turns);
    }
  }
}

TEST_CASE("exact rule: 100,000 endpoints and breakers eject when the laws say so") {
  const HealthParams both = rule(5, 0.5, 20);
  for (const double p : {0.3, 0.6}) {
    const Answer<CountLaw> law = window_law(both, {p}, 100);
    REQUIRE(law);
    CHECK(agrees(*law, replicates_of<HealthUnderTest>(both, {p}, 100, 11), 99));
    CHECK(agrees(*law, replicates_of<BreakerUnderTest>(both, {p}, 100, 12), 99));
  }
  const HealthParams streak = rule(3, 1, NO_STREAK);
  const Answer<CountLaw> turns = streak_law(3, {0.2, 0.8});
  REQUIRE(turns);
  CHECK(agrees(*turns, replicates_of<HealthUnderTest>(streak, {0.2, 0.8}, 200, 13), 199));
}

// ---- machines broken on purpose
// -----------------------------------------------------------------------------

// A streak one too long.
struct LateByOne : HealthUnderTest {
  explicit LateByOne(const HealthParams& given) : HealthUnderTest(given) { ++params.consecutive_failures; }
};
// A ratio that must be exceeded, not reached.
struct Exceeds : HealthUnderTest {
  explicit Exceeds(const HealthParams& given) : HealthUnderTest(given) {
    params.failure_ratio = std::nextafter(params.failure_ratio, 2.0);
  }
};
// A volume that must be exceeded, not reached.
struct OneMoreVolume : HealthUnderTest {
  explicit OneMoreVolume(const HealthParams& given) : HealthUnderTest(given) { ++params.failure_min_volume; }
};
// One success in twenty is forgotten: it ends no streak and enters no window.
struct Forgets : HealthUnderTest {
  using HealthUnderTest::HealthUnderTest;
  bool report(std::uint64_t now_ms, bool failure) {
    if (!failure && ++successes % 20 == 0) return false;
    return HealthUnderTest::report(now_ms, failure);
  }
  std::uint64_t successes = 0;
};

TEST_CASE("exact rule: the same judge catches machines that are broken on purpose") {
  const HealthParams both = rule(5, 0.5, 20), ratio = rule(NO_STREAK, 0.5, 20);
  const Answer<CountLaw> law = window_law(both, {0.4}, 60), ratio_law = window_law(ratio, {0.4}, 60);
  REQUIRE(law);
  REQUIRE(ratio_law);
  CHECK(agrees(*law, replicates_of<HealthUnderTest>(both, {0.4}, 60, 21), 59));
  CHECK_FALSE(agrees(*law, replicates_of<LateByOne>(both, {0.4}, 60, 21), 59));
  CHECK_FALSE(agrees(*law, replicates_of<Forgets>(both, {0.4}, 60, 21), 59));
  CHECK(agrees(*ratio_law, replicates_of<HealthUnderTest>(ratio, {0.4}, 60, 22), 59));
  CHECK_FALSE(agrees(*ratio_law, replicates_of<Exceeds>(ratio, {0.4}, 60, 22), 59));
  CHECK_FALSE(agrees(*ratio_law, replicates_of<OneMoreVolume>(ratio, {0.4}, 60, 22), 59));
}

}  // namespace
}  // namespace halfopen::sim::exact
