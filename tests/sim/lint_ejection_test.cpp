// Ejections, probes and retries under the linter, each rule on its edge.
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/active_probe.hpp"
#include "core/endpoint_health.hpp"
#include "sim/draws.hpp"
#include "sim/lint.hpp"
#include "tests/sim/lint_pool.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

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
  CHECK(finding.numbers.size() == 1);
  CHECK(finding.instead_values.empty());
  reload_at(scenario, 100)[0].endpoints.push_back({"b", 1, 1});
  CHECK(ids(scenario).empty());
}

TEST_CASE("lint: pool-without-spare speaks when the others would be full") {
  Scenario scenario = pool("abc", 399.9, true);  // of 10 ms each: 3.999 at a time, in 3 or 2 servers of 2
  for (ServerModel& model : scenario.servers) model.capacity = Capacity{2, 0, 503};
  CHECK(ids(scenario).empty());
  process(scenario).rate_rps = 400;
  const LintFinding finding = only(scenario);
  CHECK(finding.id == "pool-without-spare");
  CHECK(finding.numbers.back().value == doctest::Approx(1));
  CHECK(finding.instead.starts_with("At least 4 endpoints"));
  process(scenario).rate_rps = 600;  // full anyway
  CHECK(ids(scenario).empty());
  process(scenario).rate_rps = 400;
  scenario.servers[2].capacity.reset();  // one without a limit
  CHECK(ids(scenario).empty());
}

// Verdicts come every 1010 ms; from anywhere in between it is 505 ms to the next, and a probe that was under
// way counts.
TEST_CASE("lint: probes-readmit speaks while probes are quicker than eject_ms") {
  Scenario scenario = pool("ab");
  api(scenario).active_health = probe_every(1000, 500);
  active(scenario).success_threshold = 10;
  health(scenario).eject_ms = 9595;
  CHECK(ids(scenario).empty());
  health(scenario).eject_ms = 9596;
  const LintFinding finding = only(scenario);
  CHECK(finding.id == "probes-readmit");
  CHECK(finding.numbers.front().value == doctest::Approx(9.595).epsilon(1e-9));
  CHECK(finding.instead.ends_with("success_threshold of at least 11."));
  active(scenario).success_threshold = 11;
  CHECK(ids(scenario).empty());
}

TEST_CASE("lint: probes-readmit has the mean of the real loop and tracker, wherever in its cycle they meet") {
  Scenario scenario = pool("ab");
  api(scenario).active_health = probe_every(1000, 500);
  active(scenario).success_threshold = 3;
  active(scenario).jitter_ms = 900;
  for (ServerModel& model : scenario.servers) model.latency = FixedLatency{400};
  const double told_ms = only(scenario).numbers.front().value * 1000;
  double sum_ms = 0;
  constexpr int ROUNDS = 20'000;
  const Stream luck(7, "loop");
  std::uint64_t drawn = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    EndpointHealth tracker;
    ActiveProbe loop(active(scenario), health(scenario), 0);
    const auto ejected_at = 5000 + static_cast<std::uint64_t>(luck.unit(drawn++) * 100'000);
    for (std::uint64_t now = 0;;) {
      now += loop.sleep_ms(luck.unit(drawn++)) + 400;
      const bool out = now > ejected_at;
      for (std::uint32_t n = 0; out && tracker.snapshot().ejections == 0 && n < 5; ++n)
        tracker.report(health(scenario), Instant{ejected_at}, true);
      loop.verdict(tracker, Instant{now}, true);
      if (!out || tracker.stored_state() != HealthState::healthy) continue;
      sum_ms += static_cast<double>(now - ejected_at);
      break;
    }
  }
  CHECK(sum_ms / ROUNDS == doctest::Approx(told_ms).epsilon(0.01));
}

// One failure a second, probes each 1010 ms: no streak of 3 comes about, but the ratio rule's 20 failures do.
TEST_CASE("lint: probes-readmit counts the costs of the rule that ejects beside probes, or none") {
  Scenario scenario = pool("ab", 2, false);
  api(scenario).active_health = probe_every(1000, 500);
  health(scenario).consecutive_failures = 3;
  const auto failed_an_hour = [&] {
    for (const LintFinding& finding : lint(scenario)) {
      if (finding.id == "probes-readmit" && finding.numbers.size() > 1) return finding.numbers[1].value;
    }
    return 0.0;
  };
  CHECK(failed_an_hour() == doctest::Approx(3600 * 20 / 20.505).epsilon(1e-6));
  health(scenario).failure_min_volume = std::numeric_limits<std::uint32_t>::max();
  CHECK(failed_an_hour() == 0);
  health(scenario).consecutive_failures = 1;
  CHECK(failed_an_hour() == doctest::Approx(3600 * 1 / 1.505).epsilon(1e-6));
  health(scenario).consecutive_failures = 3;
  process(scenario).poisson = true;
  process(scenario).rate_rps = 6;  // three a gap: a streak fits into 58 % of them
  CHECK(failed_an_hour() == 0);
}

TEST_CASE("lint: probes-readmit is a notice, and a warning where probes are known to pass what fails users") {
  Scenario scenario = pool("ab");
  api(scenario).active_health.emplace();
  CHECK(only(scenario).level == LintLevel::notice);
  add_fault(server(scenario, 'b'), ErrorFault{1, 503});  // probes meet it too
  CHECK(only(scenario).level == LintLevel::notice);
  add_fault(server(scenario, 'b'), LatencyFault{10, 1, 0}, 0, 1000, Scope::traffic);  // fails nobody
  CHECK(only(scenario).level == LintLevel::notice);
  add_fault(server(scenario, 'b'), ErrorFault{1, 503}, 0, 1000, Scope::probes);
  CHECK(only(scenario).level == LintLevel::notice);
  add_fault(server(scenario, 'b'), ErrorFault{1, 503}, 0, 1000, Scope::traffic);
  CHECK(only(scenario).level == LintLevel::warning);
  server(scenario, 'b').faults.clear();
  active(scenario).kind = ProbeKind::tcp;
  CHECK(only(scenario).level == LintLevel::warning);
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
  process(scenario).poisson = true;  // P(6 or more of 4.04) = 0.22
  CHECK(ids(scenario).empty());
  health(scenario).consecutive_failures = 13;  // P(13 or more) = 0.00030: one gap in 56 minutes
  CHECK(ids(scenario).empty());
  health(scenario).consecutive_failures = 14;  // P(14 or more) = 0.000086: in 3.3 hours
  CHECK(only(scenario).numbers.back().value > LINT_RARE_S);
  health(scenario).consecutive_failures = std::numeric_limits<std::uint32_t>::max();  // no streak rule
  CHECK(ids(scenario).empty());
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
