// What chance does to healthy endpoints, told by lint and done by the real machines.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/endpoint_health.hpp"
#include "sim/analysis.hpp"
#include "sim/lint.hpp"
#include "tests/sim/exact_judge.hpp"
#include "tests/sim/lint_pool.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

std::optional<LintFinding> false_ejections(const Scenario& scenario) {
  for (const LintFinding& finding : lint(scenario)) {
    if (finding.id == "false-ejections") return finding;
  }
  return std::nullopt;
}

// Times until a fresh machine at one of two endpoints is out, `most_s` at most.
std::vector<double> replicates(Scenario& scenario, double p, int rounds, double most_s) {
  const double gap_s = 2 / process(scenario).rate_rps;
  std::vector<double> out;
  for (int round = 0; round < rounds; ++round) {
    exact::judging::Luck luck(5, static_cast<std::uint64_t>(round));
    EndpointHealth machine;
    double now_s = 0;
    while (machine.stored_state() == HealthState::healthy && now_s < most_s) {
      now_s += process(scenario).poisson ? luck.exponential(gap_s) : gap_s;
      machine.report(health(scenario), Instant{static_cast<std::uint64_t>(now_s * 1000)}, luck.unit() < p);
    }
    out.push_back(now_s);
  }
  return out;
}

}  // namespace

// (1 + p) / p^2 = 40,200 attempts at 0.5 %, 11.17 a second for one in an hour.
TEST_CASE("lint: false-ejections speaks at more than one an hour") {
  Scenario scenario = pool("ab", 2 * 11.16, true);
  health(scenario).consecutive_failures = 2;
  CHECK(ids(scenario).empty());
  process(scenario).rate_rps = 2 * 11.18;
  const LintFinding finding = only(scenario);
  CHECK(finding.id == "false-ejections");
  CHECK(finding.numbers.front().value == doctest::Approx(40'200 / 11.18).epsilon(1e-3));
  CHECK(finding.instead.starts_with("consecutive_failures of at least 3,"));
  add_fault(server(scenario, 'a'), ErrorFault{0.001, 503});
  add_fault(server(scenario, 'b'), ErrorFault{0.001, 503});
  CHECK(ids(scenario).empty());
}

// The streak is out of the way, and full windows hold 20 to 200: the first window says little, the ratio rule
// meets its full windows again and again.
TEST_CASE("lint: false-ejections hears the ratio rule, and the real machine is out within what it says") {
  struct Case {
    double rate_rps, ratio, p;
    std::uint64_t window_ms;
    std::uint32_t volume;
    bool poisson;
  };
  for (const Case& one : {Case{8, 0.5, 0.3, 10'000, 20, true}, Case{20, 0.5, 0.3, 5000, 20, true},
                          Case{2, 0.5, 0.3, 20'000, 10, true}, Case{40, 0.4, 0.3, 5000, 80, true},
                          Case{8, 0.5, 0.35, 10'000, 20, false}, Case{2, 0.5, 0.3, 20'000, 10, false}}) {
    Scenario scenario = pool("ab", one.rate_rps, one.poisson);
    health(scenario).consecutive_failures = std::numeric_limits<std::uint32_t>::max();
    health(scenario).failure_ratio = one.ratio;
    health(scenario).failure_min_volume = one.volume;
    health(scenario).window_ms = one.window_ms;
    for (const char letter : {'a', 'b'}) add_fault(server(scenario, letter), ErrorFault{one.p, 503});
    const std::optional<LintFinding> finding = false_ejections(scenario);
    CAPTURE(one.rate_rps);
    CAPTURE(one.p);
    CAPTURE(one.poisson);
    REQUIRE(finding);
    CHECK(finding->pointers.front() == "/upstreams/0/health/failure_ratio");
    CHECK(finding->numbers.front().value < LINT_RARE_S);
    const double low = finding->numbers.back().value, high = finding->numbers.front().value;
    CHECK(exact::judging::mean_agrees(replicates(scenario, one.p, 300, 100'000), low, high));
  }
}

TEST_CASE("lint: false-ejections is silent where the real machine lasts an hour or longer") {
  int silent = 0, told = 0;
  for (const double ratio : {0.4, 0.45, 0.5, 0.55, 0.6, 0.65}) {
    Scenario scenario = pool("ab", 4, true);
    health(scenario).consecutive_failures = std::numeric_limits<std::uint32_t>::max();
    health(scenario).failure_ratio = ratio;
    health(scenario).window_ms = 20'000;
    for (const char letter : {'a', 'b'}) add_fault(server(scenario, letter), ErrorFault{0.3, 503});
    const std::vector<double> times = replicates(scenario, 0.3, 100, 20'000);
    double sum = 0;
    for (const double time : times) sum += time;
    const bool rare = sum / 100 > 1.5 * LINT_RARE_S;
    CAPTURE(ratio);
    CAPTURE(sum / 100);
    const std::optional<LintFinding> finding = false_ejections(scenario);
    const bool often = finding && finding->numbers.front().unit == "s";
    CHECK_FALSE((rare && often));
    ++(often ? told : silent);
  }
  CHECK(told >= 1);
  CHECK(silent >= 1);
}

// One in a hundred is three of 250: before the volume grows, not seldom; afterwards, hardly ever.
TEST_CASE(
    "lint: false-ejections hears what ejects before the first window is full, however rare it is later") {
  Scenario scenario = pool("ab", 500, true);
  health(scenario).failure_ratio = 0.02;
  health(scenario).failure_min_volume = 100;
  const std::optional<LintFinding> finding = false_ejections(scenario);
  REQUIRE(finding);
  CHECK(finding->sentence == "A healthy endpoint is ejected soon after a start or each return.");
  CHECK(finding->numbers.front().unit == "share");
  const double chance = finding->numbers.front().value;
  std::vector<double> times = replicates(scenario, ASSUMED_HEALTHY, 3'000, 30);
  const auto out = std::count_if(times.begin(), times.end(), [](double time) { return time < 30; });
  CHECK(exact::judging::errors_away(static_cast<double>(out), 3'000, chance) < exact::judging::WIDTH);
  health(scenario).failure_ratio = 0.05;  // 0.01 %
  CHECK_FALSE(false_ejections(scenario));
}
