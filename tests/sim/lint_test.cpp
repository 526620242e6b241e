// The thresholds of health and breaker, each rule on its edge: one step before it is silent, at the edge it
// speaks.
#include "sim/lint.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/endpoint_health.hpp"
#include "tests/sim/exact_judge.hpp"
#include "tests/sim/lint_pool.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

TEST_CASE("lint: all blocks at their defaults, with ordinary traffic, have no warning") {
  CHECK(ids(pool("abc")).empty());
  Scenario scenario = pool("abc", 300, true);
  api(scenario).breaker.emplace();
  api(scenario).retries.attempts = 2;
  CHECK(ids(scenario).empty());
  api(scenario).active_health.emplace();
  CHECK(only(scenario).level == LintLevel::notice);
  CHECK(only(scenario).id == "probes-readmit");
  api(scenario).active_health.reset();
  api(scenario).health.reset();
  api(scenario).breaker.reset();
  CHECK(ids(scenario).empty());
}

TEST_CASE("lint: every rule has an id of its own and a scenario") {
  std::vector<std::string> seen;
  for (const LintRule& rule : lint_rules()) {
    CHECK(std::find(seen.begin(), seen.end(), rule.id) == seen.end());
    seen.emplace_back(rule.id);
    CHECK(rule.shown_by.starts_with("scenarios/"));
    CHECK(find_lint_rule(rule.id) == &rule);
  }
  CHECK(find_lint_rule("ratio") == nullptr);
}

TEST_CASE("lint: ratio-never-first speaks above the largest share that fits without a streak") {
  Scenario scenario = pool("ab");
  health(scenario).failure_ratio = 20.0 / 24;  // exactly what F F F F S reaches with the 24th
  CHECK(ids(scenario).empty());
  health(scenario).failure_ratio = 0.8334;
  const LintFinding finding = only(scenario);
  CHECK(finding.id == "ratio-never-first");
  CHECK(finding.pointers.front() == "/upstreams/0/health/failure_ratio");
  CHECK(finding.numbers.front().value == 20.0 / 24);
  CHECK(finding.instead ==
        "failure_ratio of at most 0.833, or consecutive_failures of at least 6; failure_min_volume "
        "4294967295 to say that there is no ratio rule.");
  health(scenario).consecutive_failures = 6;
  CHECK(ids(scenario).empty());
  health(scenario).consecutive_failures = 5;
  health(scenario).failure_min_volume = 19;  // 16 of 19: 84.2 %
  CHECK(ids(scenario).empty());
}

// No sequence without a streak has more failures than k - 1 of them, a success, and so on, wherever it
// begins.
TEST_CASE("lint: the machine, fed as many failures as fit, ejects where ratio-never-first is silent") {
  for (std::uint32_t streak = 2; streak <= 6; ++streak) {
    for (std::uint32_t volume = 1; volume <= 25; ++volume) {
      for (int tenth = 1; tenth <= 19; ++tenth) {
        Scenario scenario = pool("ab");
        health(scenario).consecutive_failures = streak;
        health(scenario).failure_min_volume = volume;
        health(scenario).failure_ratio = tenth / 20.0;
        bool ejected = false;
        for (std::uint32_t phase = 0; phase < streak; ++phase) {
          EndpointHealth machine;
          for (std::uint32_t n = 0; n < 60 && !ejected; ++n) {
            machine.report(health(scenario), Instant{n}, (n + phase) % streak != streak - 1);
            ejected = machine.stored_state() == HealthState::ejected;
          }
        }
        const LintFinding* told = nullptr;
        const std::vector<LintFinding> found = lint(scenario);
        for (const LintFinding& finding : found) {
          if (finding.sentence.find("can never") != std::string::npos) told = &finding;
        }
        CAPTURE(streak);
        CAPTURE(volume);
        CAPTURE(tenth);
        CHECK(ejected == (told == nullptr));
      }
    }
  }
}

TEST_CASE("lint: a ratio of 1 and a streak of 1 are meant, one beside them is not") {
  Scenario scenario = pool("ab");
  health(scenario).failure_ratio = 1;
  CHECK(ids(scenario).empty());
  health(scenario).failure_ratio = 0.999;
  CHECK(ids(scenario) == "ratio-never-first");
  health(scenario) = HealthParams{};
  health(scenario).consecutive_failures = 1;
  CHECK(ids(scenario).empty());
}

// P(no two failures in a row in n tosses of a coin) = F(n + 2) / 2^n: 377 / 2^12 for 12 … 0.00099 for 33.
TEST_CASE("lint: ratio-never-first speaks where a streak comes first in all but 1 of 1,000 cases") {
  Scenario scenario = pool("ab");
  health(scenario).consecutive_failures = 2;
  health(scenario).failure_min_volume = 33;  // 32 before it: 5702887 / 2^32 = 0.00133
  CHECK(ids(scenario).empty());
  health(scenario).failure_min_volume = 35;  // 34 before it: 14930352 / 2^34 = 0.00087
  const LintFinding finding = only(scenario);
  CHECK(finding.id == "ratio-never-first");
  CHECK(finding.numbers.front().value == doctest::Approx(14930352.0 / 17179869184.0).epsilon(1e-9));
  health(scenario).failure_min_volume = 34;  // 33 before it: 9227465 / 2^33 = 0.00107
  CHECK(ids(scenario).empty());
}

TEST_CASE("lint: a breaker's streak is broken by healthy endpoints, so chance says nothing of it") {
  Scenario scenario = pool("ab");
  api(scenario).health.reset();
  api(scenario).breaker.emplace();
  breaker(scenario).consecutive_failures = 2;
  breaker(scenario).error_volume = 1000;
  CHECK(ids(scenario).empty());
  breaker(scenario).error_ratio = 0.5005;  // 500 of 1000, 500 of 1001 …: never more than a half
  CHECK(ids(scenario) == "ratio-never-first");
}

TEST_CASE("lint: volume-out-of-reach at even traffic counts the gaps") {
  Scenario scenario = pool("ab", 2, false);  // one a second at each
  health(scenario).window_ms = 20'000;
  CHECK(ids(scenario).empty());  // 0, 1000, … 19000: twenty
  health(scenario).window_ms = 19'000;
  const LintFinding finding = only(scenario);
  CHECK(finding.id == "volume-out-of-reach");
  CHECK(finding.numbers.front().value == 19);
  CHECK(finding.instead.starts_with("failure_min_volume of at most 19, or window_ms of at least 20000;"));
  health(scenario).window_ms = 19'001;  // the gaps of twenty take 19 s
  CHECK(ids(scenario).empty());
  health(scenario).window_ms = 19'000;
  health(scenario).failure_min_volume = std::numeric_limits<std::uint32_t>::max();  // switched off
  CHECK(ids(scenario).empty());
}

// An attempt finds Poisson(10) others and needs volume - 1 of them.
TEST_CASE("lint: volume-out-of-reach at random traffic speaks below one in a hundred and once an hour") {
  Scenario scenario = pool("ab", 2, true);
  health(scenario).window_ms = 10'000;
  health(scenario).failure_min_volume = 24;  // P(23 or more) = 0.00029: once in 57 minutes
  CHECK(ids(scenario).empty());
  health(scenario).failure_min_volume = 25;  // P(24 or more) = 0.00012
  const LintFinding finding = only(scenario);
  CHECK(finding.id == "volume-out-of-reach");
  CHECK(finding.numbers[1].value == doctest::Approx(0.00012).epsilon(0.05));
  CHECK(finding.numbers[2].value == doctest::Approx(8300).epsilon(0.05));
  process(scenario).rate_rps = 0.0002;  // once in three hours, but each of them is enough
  health(scenario).failure_min_volume = 1;
  CHECK(ids(scenario).empty());
  health(scenario).failure_min_volume = 2;
  CHECK(ids(scenario) == "volume-out-of-reach");
}

// Nothing but failures, and the streak out of the way: when does the machine eject?
TEST_CASE("lint: where volume-out-of-reach speaks, the real machine holds out as long as it says") {
  Scenario scenario = pool("ab", 2, true);
  health(scenario).window_ms = 10'000;
  health(scenario).failure_min_volume = 25;
  const double told_s = only(scenario).numbers.back().value;
  health(scenario).consecutive_failures = std::numeric_limits<std::uint32_t>::max();
  double sum_s = 0;
  constexpr int ROUNDS = 200;
  for (std::uint64_t round = 0; round < ROUNDS; ++round) {
    exact::judging::Luck luck(11, round);
    EndpointHealth machine;
    double now_s = 0;
    while (machine.stored_state() == HealthState::healthy) {
      now_s += luck.exponential(1);
      machine.report(health(scenario), Instant{static_cast<std::uint64_t>(now_s * 1000)}, true);
    }
    sum_s += now_s;
  }
  // Meetings come in clusters, so the first is later than one in so long would be.
  CHECK(sum_s / ROUNDS > told_s);
  CHECK(sum_s / ROUNDS < 4 * told_s);
}

TEST_CASE("lint: a ratio of 1 is told beside a longer streak only") {
  Scenario scenario = pool("ab");
  health(scenario).failure_ratio = 1;
  health(scenario).consecutive_failures = 20;  // with the volume's 20th failure the streak is there as well
  CHECK(ids(scenario).empty());
  health(scenario).consecutive_failures = 21;
  const LintFinding finding = only(scenario);
  CHECK(finding.id == "ratio-one-is-not-off");
  CHECK(finding.level == LintLevel::notice);
  CHECK(finding.numbers.front().value == 20);
  EndpointHealth machine;
  for (std::uint64_t n = 1; n < 20; ++n) machine.report(health(scenario), Instant{n}, true);
  CHECK(machine.stored_state() == HealthState::healthy);
  machine.report(health(scenario), Instant{20}, true);
  CHECK(machine.stored_state() == HealthState::ejected);
  health(scenario).failure_ratio = 0.999;
  CHECK(ids(scenario).find("ratio-one") == std::string::npos);
  health(scenario) = HealthParams{};
  api(scenario).breaker.emplace();
  breaker(scenario).consecutive_failures = 100;
  breaker(scenario).error_ratio = 1;
  CHECK(ids(scenario) == "ratio-one-is-not-off");
}

TEST_CASE("lint: the peak of the traffic counts, retries too, and a list of times is no rate") {
  Scenario scenario = pool("ab", 1, false);
  health(scenario).window_ms = 20'000;
  CHECK(ids(scenario) == "volume-out-of-reach");
  std::vector<RateStage>& stages = process(scenario).stages;
  stages = {{0, 4, ms(2000)}, {4, 0, ms(2000)}};
  CHECK(ids(scenario).empty());
  stages.clear();
  api(scenario).retries.attempts = 1;
  api(scenario).retries.budget_percent = 99;
  CHECK(ids(scenario).empty());
  scenario.traffic.clear();
  requests_at(scenario, {1, 2, 3});
  CHECK(ids(scenario).empty());
}

TEST_CASE("lint: the breaker's window is a minute of the whole upstream") {
  Scenario scenario = pool("ab", 0.5, false);
  api(scenario).health.reset();
  api(scenario).breaker.emplace();
  breaker(scenario).error_volume = 30;
  CHECK(ids(scenario).empty());
  breaker(scenario).error_volume = 31;
  CHECK(only(scenario).pointers == std::vector<std::string>{"/upstreams/0/breaker/error_volume"});
}

TEST_CASE("lint: breaker-opens-first speaks when the breaker's count is full no later than the endpoint's") {
  Scenario scenario = pool("ab");
  api(scenario).breaker.emplace();  // 20 of which 10 fail, from the dead endpoint's tenth failure on
  health(scenario).consecutive_failures = 9;
  CHECK(ids(scenario).empty());
  health(scenario).consecutive_failures = 10;
  const LintFinding finding = only(scenario);
  CHECK(finding.id == "breaker-opens-first");
  CHECK(finding.numbers.front().value == 20);
  CHECK(finding.numbers.back().value == 20);
  CHECK(finding.instead.find("health.consecutive_failures of at most 9.") != std::string::npos);
  breaker(scenario).error_ratio = 0.51;  // one of two can't
  CHECK(ids(scenario).empty());
  breaker(scenario).error_ratio = 0.5;
  breaker(scenario).error_volume = 21;  // out with the 20th
  CHECK(ids(scenario).empty());
}

TEST_CASE("lint: a breaker that opens at the first failure never waits for an ejection") {
  Scenario scenario = pool("abc");
  api(scenario).breaker.emplace();
  breaker(scenario).consecutive_failures = 1;
  CHECK(only(scenario).pointers.front() == "/upstreams/0/breaker/consecutive_failures");
  api(scenario).endpoints.resize(1);
  CHECK(ids(scenario) == "pool-of-one");
}
