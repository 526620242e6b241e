// Each rule of the linter on its edge: one step before it is silent, at the edge it speaks.
#include "sim/lint.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

// An upstream over `letters` with the defaults of health and as much traffic as said, if any.
Scenario pool(const std::string& letters, double rate_rps = 0, bool poisson = false) {
  Scenario scenario = scenario_over(letters, 4000);
  api(scenario).health.emplace();
  if (rate_rps <= 0) return scenario;
  Traffic traffic;
  traffic.upstream = "api";
  ArrivalProcess process;
  process.poisson = poisson;
  process.rate_rps = rate_rps;
  traffic.source = process;
  scenario.traffic.push_back(traffic);
  return scenario;
}

std::string ids(const Scenario& scenario, const LintOptions& options = {}) {
  std::string out;
  for (const LintFinding& finding : lint(scenario, options)) out += (out.empty() ? "" : " ") + finding.id;
  return out;
}

LintFinding only(const Scenario& scenario) {
  const std::vector<LintFinding> found = lint(scenario);
  REQUIRE(found.size() == 1);
  return found[0];
}

HealthParams& health(Scenario& scenario) { return *api(scenario).health; }
BreakerParams& breaker(Scenario& scenario) { return *api(scenario).breaker; }
ActiveParams& active(Scenario& scenario) { return *api(scenario).active_health; }

}  // namespace

TEST_CASE("lint: the defaults of health and breaker, with ordinary traffic, have nothing to say") {
  CHECK(ids(pool("abc")).empty());
  Scenario scenario = pool("abc", 300, true);
  api(scenario).breaker.emplace();
  api(scenario).retries.attempts = 2;
  CHECK(ids(scenario).empty());
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
        "failure_ratio of at most 0.833, or consecutive_failures of at least 6; failure_ratio 1 to say that "
        "there is no ratio rule.");
  health(scenario).consecutive_failures = 6;
  CHECK(ids(scenario).empty());
  health(scenario).consecutive_failures = 5;
  health(scenario).failure_min_volume = 4;  // four failures are no streak of five
  CHECK(ids(scenario).empty());
  health(scenario).failure_min_volume = 5;  // 4 of 5, 7 of 9: less than 0.8334
  CHECK(ids(scenario) == "ratio-never-first");
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
  CHECK(finding.instead.starts_with("failure_min_volume of at most 19, or window_ms of at least 20,000;"));
  health(scenario).window_ms = 19'001;  // the gaps of twenty take 19 s
  CHECK(ids(scenario).empty());
  health(scenario).window_ms = 19'000;
  health(scenario).failure_min_volume = std::numeric_limits<std::uint32_t>::max();  // switched off
  CHECK(ids(scenario).empty());
}

TEST_CASE("lint: volume-out-of-reach at random traffic speaks below one window in a hundred") {
  Scenario scenario = pool("ab", 2, true);
  health(scenario).window_ms = 10'000;       // ten on average
  health(scenario).failure_min_volume = 18;  // P(18 or more) = 0.0143
  CHECK(ids(scenario).empty());
  health(scenario).failure_min_volume = 19;  // P(19 or more) = 0.0072
  const LintFinding finding = only(scenario);
  CHECK(finding.id == "volume-out-of-reach");
  CHECK(finding.numbers.back().value == doctest::Approx(0.00719).epsilon(0.01));
}

TEST_CASE("lint: the peak of the traffic counts, retries too, and a list of times is no rate") {
  Scenario scenario = pool("ab", 1, false);
  health(scenario).window_ms = 20'000;
  CHECK(ids(scenario) == "volume-out-of-reach");
  auto& process = std::get<ArrivalProcess>(scenario.traffic[0].source);
  process.stages = {{0, 4, ms(2000)}, {4, 0, ms(2000)}};
  CHECK(ids(scenario).empty());
  process.stages.clear();
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

// (1 + p) / p^2 = 40,200 attempts at 0.5 %, 11.17 a second for one in an hour.
TEST_CASE("lint: false-ejections speaks at more than one an hour") {
  Scenario scenario = pool("ab", 2 * 11.16, true);
  health(scenario).consecutive_failures = 2;
  CHECK(ids(scenario).empty());
  std::get<ArrivalProcess>(scenario.traffic[0].source).rate_rps = 2 * 11.18;
  const LintFinding finding = only(scenario);
  CHECK(finding.id == "false-ejections");
  CHECK(finding.numbers.front().value == doctest::Approx(40'200 / 11.18).epsilon(1e-3));
  CHECK(finding.instead.starts_with("consecutive_failures of at least 3,"));
  add_fault(server(scenario, 'a'), ErrorFault{0.001, 503});
  add_fault(server(scenario, 'b'), ErrorFault{0.001, 503});
  CHECK(ids(scenario).empty());
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

TEST_CASE("lint: an ejection may end with the attempt timeout, not before it") {
  Scenario scenario = pool("ab");
  api(scenario).timeouts.read_ms = 8000;
  health(scenario).eject_ms = 8000;
  CHECK(ids(scenario).empty());
  health(scenario).eject_ms = 7999;
  const LintFinding finding = only(scenario);
  CHECK(finding.id == "eject-shorter-than-timeout");
  CHECK(finding.pointers ==
        std::vector<std::string>{"/upstreams/0/health/eject_ms", "/upstreams/0/timeouts/read_ms"});
  CHECK(finding.numbers.front().value == 0.001);
  api(scenario).late_reports = LateReports::ignore;
  CHECK(ids(scenario).empty());
  api(scenario).late_reports = LateReports::count;
  api(scenario).timeouts.read_ms.reset();
  CHECK(ids(scenario).empty());
  health(scenario).eject_ms = 4999;  // connect_ms is 5000
  CHECK(only(scenario).pointers.back() == "/upstreams/0/timeouts/connect_ms");
}

TEST_CASE("lint: pool-of-one, unless a reload adds to it") {
  Scenario scenario = pool("a", 100, true);
  const LintFinding finding = only(scenario);
  CHECK(finding.id == "pool-of-one");
  CHECK(finding.numbers.size() == 2);
  reload_at(scenario, 100)[0].endpoints.push_back({"b", 1, 1});
  CHECK(ids(scenario).empty());
}

TEST_CASE("lint: pool-without-spare speaks when the others would be full") {
  Scenario scenario = pool("abc", 399.9, true);  // of 10 ms each: 3.999 at a time, in 3 or 2 servers of 2
  for (ServerModel& model : scenario.servers) model.capacity = Capacity{2, 0, 503};
  CHECK(ids(scenario).empty());
  std::get<ArrivalProcess>(scenario.traffic[0].source).rate_rps = 400;
  const LintFinding finding = only(scenario);
  CHECK(finding.id == "pool-without-spare");
  CHECK(finding.numbers.back().value == doctest::Approx(1));
  CHECK(finding.instead.starts_with("At least 4 endpoints"));
  std::get<ArrivalProcess>(scenario.traffic[0].source).rate_rps = 600;  // full anyway
  CHECK(ids(scenario).empty());
  std::get<ArrivalProcess>(scenario.traffic[0].source).rate_rps = 400;
  scenario.servers[2].capacity.reset();  // one without a limit
  CHECK(ids(scenario).empty());
}

// Probes of 10 ms, 1000 ms apart: from anywhere in a cycle, 510 ms and 1010 ms for each success more.
TEST_CASE("lint: probes-readmit speaks while probes are quicker than eject_ms") {
  Scenario scenario = pool("ab");
  api(scenario).active_health = probe_every(1000, 500);
  active(scenario).success_threshold = 10;
  health(scenario).eject_ms = 9590;
  CHECK(ids(scenario).empty());
  health(scenario).eject_ms = 9620;
  const LintFinding finding = only(scenario);
  CHECK(finding.id == "probes-readmit");
  CHECK(finding.numbers.front().value == doctest::Approx(9.6).epsilon(0.002));
  CHECK(finding.instead.starts_with("success_threshold of at least 11;"));
  active(scenario).success_threshold = 11;
  CHECK(ids(scenario).empty());
}

TEST_CASE("lint: probes-reset-streak counts the requests between two probes") {
  Scenario scenario = pool("ab", 8, false);  // four a second at each; probes 1,010 ms apart
  api(scenario).active_health = probe_every(1000, 500);
  active(scenario).success_threshold = 1000;
  CHECK(ids(scenario).empty());  // five fit: 0, 250, … 1000
  health(scenario).consecutive_failures = 6;
  const LintFinding finding = only(scenario);
  CHECK(finding.id == "probes-reset-streak");
  CHECK(finding.numbers.front().value == 5);
  std::get<ArrivalProcess>(scenario.traffic[0].source).poisson = true;  // P(6 or more of 4.04) = 0.22
  CHECK(ids(scenario).empty());
  health(scenario).consecutive_failures = 11;  // P(11 or more) = 0.0031
  CHECK(ids(scenario) == "probes-reset-streak");
}

TEST_CASE("lint: probes-in-lockstep counts loops over upstreams and balancers") {
  Scenario scenario = pool("ab");
  api(scenario).active_health = probe_every(1000, 500);
  active(scenario).success_threshold = 1000;
  CHECK(ids(scenario, {4}).empty());
  CHECK(ids(scenario, {5}) == "probes-in-lockstep");
  active(scenario).jitter_ms = 1;
  CHECK(ids(scenario, {5}).empty());
  active(scenario).jitter_ms = 0;
  for (int n = 1; n < 5; ++n) {
    CHECK(ids(scenario).empty());
    UpstreamConfig more = api(scenario);
    more.name += std::to_string(n);
    scenario.upstreams.push_back(more);
  }
  const LintFinding finding = only(scenario);
  CHECK(finding.pointers.size() == 5);
  CHECK(finding.numbers.front().value == 5);
  scenario.upstreams[4].active_health->interval_ms = 1001;
  CHECK(ids(scenario).empty());
}

TEST_CASE("lint: retries-double-load speaks at two attempts a request") {
  Scenario scenario = pool("ab");
  api(scenario).retries.attempts = 1;
  api(scenario).retries.budget_percent = 99;
  CHECK(ids(scenario).empty());
  api(scenario).retries.budget_percent = 100;
  const LintFinding finding = only(scenario);
  CHECK(finding.id == "retries-double-load");
  CHECK(finding.numbers.front().value == 2);
  api(scenario).retries.retry_transport = false;
  CHECK(ids(scenario) == "retries-double-load");
  api(scenario).retries.retry_statuses.reset();  // nothing is retried
  CHECK(ids(scenario).empty());
}

TEST_CASE("lint: a breaker ends a brownout that retries would double, unless it tolerates as much") {
  Scenario scenario = pool("ab");
  api(scenario).retries.attempts = 10;
  api(scenario).retries.budget_percent = 1000;
  api(scenario).breaker.emplace();
  breaker(scenario).error_ratio = 0.5;  // 1 + 1/2 + … + 1/1024 stays below 2
  CHECK(ids(scenario).empty());
  breaker(scenario).error_ratio = 0.51;
  CHECK(ids(scenario) == "retries-double-load");
}

TEST_CASE("lint: findings come by upstream, then by rule, each with its upstream's name") {
  Scenario scenario = pool("ab");
  scenario.upstreams.push_back(upstream_over("more", "cd"));
  for (UpstreamConfig& config : scenario.upstreams) {
    config.health.emplace();
    config.health->failure_ratio = 0.9;
    config.health->eject_ms = 1;
  }
  const std::vector<LintFinding> found = lint(scenario);
  REQUIRE(found.size() == 4);
  CHECK(ids(scenario) ==
        "ratio-never-first eject-shorter-than-timeout ratio-never-first eject-shorter-than-timeout");
  CHECK(found[1].upstream == "api");
  CHECK(found[2].upstream == "more");
}
