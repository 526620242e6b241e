// Expectations of numbers and of a whole event stream.
#include <doctest/doctest.h>

#include "core/hash.hpp"
#include "sim/expectations.hpp"
#include "sim/number_format.hpp"
#include "sim/writer_parts.hpp"
#include "tests/sim/handmade.hpp"
#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;
using halfopen::sim::handmade::contains;

namespace {

ExpectMetric metric(const std::string& name, Compare relation, double bound) {
  ExpectMetric out;
  out.metric = name;
  out.relation = relation;
  out.value = bound;
  return out;
}
ExpectMetric between(ExpectMetric expect, double from_ms, double to_ms) {
  expect.between_ms = {from_ms, to_ms};
  return expect;
}
ExpectMetric of(ExpectMetric expect, const std::string& endpoint) {
  expect.endpoint = endpoint;
  return expect;
}

constexpr auto IS = Compare::equal;

// Runs the scenario with this one expectation and judges it.
Judgement judged(Scenario scenario, const decltype(Expectation::what)& what) {
  scenario.expect = {{what, {7, 3}, "{}", ""}};
  Judgement out = judge(scenario, simulate(scenario)).front();
  out.expectation = nullptr;  // the scenario is gone
  return out;
}

// a fails from 50 to 150: out at 70, on trial from 180 to 190. b is well. Requests every 10 ms from 0, in
// turn, the first to a; each takes 10 ms.
Scenario one_fault() {
  Scenario scenario = scenario_over("ab", 400);
  api(scenario).health = eject_after(1, 100);
  add_fault(server(scenario, 'a'), ErrorFault{1, 503}, 50, 150);
  requests_every(scenario, 10);
  return scenario;
}

}  // namespace

TEST_CASE("expectations metric: each sign compares as it reads") {
  const auto holds = [](Compare relation, double bound) {
    return judged(one_fault(), metric("failed", relation, bound)).held;
  };
  CHECK(simulate(one_fault()).summary.failed == 1);
  CHECK((!holds(Compare::less, 1) && holds(Compare::less, 1.5)));
  CHECK((!holds(Compare::at_most, 0) && holds(Compare::at_most, 1)));
  CHECK((!holds(Compare::equal, 2) && holds(Compare::equal, 1)));
  CHECK((!holds(Compare::not_equal, 1) && holds(Compare::not_equal, 0)));
  CHECK((!holds(Compare::at_least, 2) && holds(Compare::at_least, 1)));
  CHECK((!holds(Compare::greater, 1) && holds(Compare::greater, 0)));
}

TEST_CASE("expectations metric: times compare as they are written") {
  Scenario scenario = one_fault();
  scenario.servers[0].faults[0].from = ms(49.876543);
  CHECK(judged(scenario, metric("time_to_detect_ms", IS, 20.123457)).held);
  CHECK_FALSE(judged(scenario, metric("time_to_detect_ms", IS, 20.123456)).held);
}

TEST_CASE("expectations metric: a window is exact, its begin included and its end excluded") {
  // The failed request arrives at 60 and ends at 70.
  CHECK(judged(one_fault(), between(metric("failed", IS, 1), 70, 70.000001)).held);
  CHECK(judged(one_fault(), between(metric("failed", IS, 0), 69.999999, 70)).held);
  CHECK(judged(one_fault(), between(metric("requests", IS, 1), 60, 70)).held);
  CHECK(judged(one_fault(), between(metric("success_ratio", IS, 0.5), 60.000001, 80.000001)).held);
  CHECK(judged(one_fault(), between(of(metric("attempts", IS, 1), "a:1"), 55, 65)).held);
  CHECK(judged(one_fault(), between(of(metric("failures", IS, 0), "b:1"), 0, 400)).held);
  CHECK(judged(one_fault(), between(metric("ejections", IS, 1), 70, 71)).held);
  CHECK(judged(one_fault(), between(metric("latency_p99_ms", IS, 9.984), 300, 400)).held);
}

TEST_CASE("expectations metric: a window is cut by the run's end, and one beyond it has not been seen") {
  CHECK(judged(one_fault(), between(metric("requests", IS, 10), 300, 9e9)).held);
  const Judgement beyond = judged(one_fault(), between(metric("requests", IS, 0), 400, 500));
  CHECK_FALSE(beyond.held);
  CHECK(beyond.got == "it can't be evaluated: the run ended at 400 ms");
  const Judgement nothing = judged(one_fault(), between(metric("requests", IS, 0), 5.0000001, 5.0000002));
  CHECK_FALSE(nothing.held);
  CHECK(nothing.got == "it can't be evaluated: there is no instant to look at");
}

TEST_CASE("expectations metric: what can't be asked fails whatever the bound") {
  const auto why = [](const ExpectMetric& expect) {
    const Judgement out = judged(one_fault(), expect);
    CHECK_FALSE(out.held);
    return out.got;
  };
  CHECK(why(metric("failures_total", Compare::at_least, 0)) ==
        "it can't be evaluated: there is no metric \"failures_total\"");
  CHECK(why(of(metric("requests", Compare::at_least, 0), "a:1")) ==
        "it can't be evaluated: metric requests is of the whole run, it takes no endpoint");
  CHECK(why(of(metric("attempts", Compare::at_least, 0), "z:1")) ==
        "it can't be evaluated: this run has no z:1");
  CHECK(why(between(metric("unfinished", Compare::at_least, 0), 0, 100)) ==
        "it can't be evaluated: metric unfinished is known when the run has ended, it takes no between_ms");
}

TEST_CASE("expectations metric: without a sample nothing holds, not even unequal") {
  Scenario quiet = scenario_over("a", 100);
  const auto why = [&quiet](const std::string& name) {
    const Judgement out = judged(quiet, metric(name, Compare::not_equal, 1));
    CHECK_FALSE(out.held);
    return out.got;
  };
  CHECK(why("success_ratio") == "no value: no request ended");
  CHECK(why("attempts_per_request") == "no value: no request was admitted");
  CHECK(why("latency_p95_ms") == "no value: no request ended ok");
  CHECK(why("time_to_detect_ms") == "no value: no failing fault begins");
  CHECK(why("time_to_return_ms") == "no value: no failing fault ends");
  CHECK(contains(why("survivor_load_max"), "no value: there is no bin at whose end somebody is ejected"));
  add_fault(server(quiet, 'a'), HangFault{1}, 20, 50);
  CHECK(why("time_to_detect_ms") ==
        "no value: no failing fault was detected, the first is at a:1 (hang from 20 ms)");
  api(quiet).health = eject_after(1);
  server(quiet, 'a').faults[0].kind = DownFault{};
  requests_at(quiet, {20});
  CHECK(why("time_to_return_ms") == "no value: a:1 (down from 20 ms) never returned");
  CHECK(judged(quiet, between(metric("success_ratio", Compare::at_least, 0), 30, 40)).got ==
        "no value: no request ended in that time");
  CHECK(judged(quiet, between(metric("ok", IS, 0), 30, 40)).held);
}

TEST_CASE("expectations metric: a failure says what was expected, the value, and who it is due to") {
  const auto told = [](const ExpectMetric& expect) {
    const Judgement out = judged(one_fault(), expect);
    CHECK_FALSE(out.held);
    return out.expected + " | " + out.got;
  };
  CHECK(told(metric("time_to_detect_ms", Compare::at_most, 19.5)) ==
        "time_to_detect_ms <= 19.5 | 20 ms; the slowest, a:1 (error from 50 ms), at 0.070 s: a:1 ejected: 1 "
        "failure in a row, limit 1; 1 of 4 failed (25 %); out for 100 ms");
  CHECK(told(between(metric("ejections", IS, 0), 50, 100))
            .starts_with("ejections == 0, in [50, 100) ms | 1; the first, at 0.070 s: a:1 ejected"));
  CHECK(told(of(metric("lost_before_ejection", Compare::less, 1), "a:1")) ==
        "lost_before_ejection of a:1 < 1 | 1; most at a:1 (error from 50 ms): 1");
  CHECK(told(metric("time_to_return_ms", Compare::greater, 1000)) ==
        "time_to_return_ms > 1000 | 40 ms; the slowest, a:1 (error from 50 ms), which ended at 150 ms");
  CHECK(told(metric("success_ratio", Compare::at_least, 1)).starts_with("success_ratio >= 1 | 0.97"));
  Scenario unwatched = one_fault();
  api(unwatched).health.reset();
  CHECK(judged(unwatched, metric("missed", IS, 0)).got == "1; a:1 (error from 50 ms)");
}

TEST_CASE("expectations metric: a false ejection and an overload are told with their reason") {
  Scenario scenario = one_fault();
  server(scenario, 'a').faults[0].kind = LatencyFault{100, 1, 0};
  api(scenario).timeouts.read_ms = 30;
  CHECK(contains(judged(scenario, metric("false_ejections", IS, 0)).got,
                 "1; the first, at 0.090 s: a:1 ejected"));
  CHECK(judged(scenario, metric("overload", IS, 0)).held);
  server(scenario, 'a').faults.clear();
  server(scenario, 'a').capacity = Capacity{1, 9, 503};
  server(scenario, 'a').latency = FixedLatency{25};
  CHECK(contains(judged(scenario, metric("overload", IS, 0)).got, "the first, at 0."));
}

TEST_CASE("expectations metric: where it stands in the file is told with the failure") {
  Scenario scenario = one_fault();
  scenario.expect = {{metric("ok", IS, 0), {7, 3}, "{}", ""}};
  const auto judgements = judge(scenario, simulate(scenario));
  CHECK(failure_text(judgements[0], "x.json") == "x.json:7:3: expected ok == 0\ngot 38");
}

TEST_CASE("expectations fingerprint: the event lines as written, to the byte") {
  const Timeline timeline = simulate(one_fault());
  StableHash hash;
  for (const TimelineEvent& event : timeline.events) {
    std::string line;
    append_event(line, timeline, event);
    hash.add(line + '\n');
  }
  const std::string digits = hex16(hash.finish());
  CHECK(judged(one_fault(), ExpectFingerprint{digits}).held);
  Scenario other = one_fault();
  other.servers[0].faults[0].from += 1;  // no event says so
  CHECK(judged(other, ExpectFingerprint{digits}).held);
  other.servers[0].latency = FixedLatency{10.000001};
  const Judgement failed = judged(other, ExpectFingerprint{digits});
  CHECK_FALSE(failed.held);
  CHECK(failed.expected == "events of fingerprint " + digits);
  CHECK(failed.got == hex16(fingerprint(simulate(other))) +
                          "; what differs from an earlier timeline is told by halfopen diff");
}
