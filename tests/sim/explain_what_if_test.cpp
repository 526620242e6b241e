// What other settings would have done: which are tried, and how their runs are compared.
#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "sim/explain_what_if.hpp"
#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

constexpr Subject A{false, 0, 0};

}  // namespace

TEST_CASE("explain: the settings of the rule that fired are tried, each just out of reach") {
  const auto ideas = [](Rule rule, Because because, const std::string& upstream_block) {
    Scenario scenario = scenario_over("a", 100);
    api(scenario).health = eject_after(3, 10);
    api(scenario).breaker = open_after(3, 10);
    Timeline timeline = simulate(scenario);
    TimelineEvent event;
    event.rule = rule;
    event.because = because;
    timeline.events = {event};
    const Outage outage{0, ms(50), Outage::End::run, {0}};
    std::string out;
    for (const WhatIf& idea : what_ifs(scenario, timeline, {upstream_block == "breaker", 0, 0}, outage, {})) {
      out += idea.pointer.substr(std::string("/upstreams/0/").size()) + "=" + idea.value + " ";
    }
    return out;
  };
  Because because;
  because.streak = because.threshold = 3;
  because.failures = 29;
  because.volume = 100;
  because.for_ms = 10;
  CHECK(ideas(Rule::consecutive_failures, because, "health") ==
        "health/consecutive_failures=4 health/consecutive_failures=4294967294 health/eject_ms=5 ");
  CHECK(ideas(Rule::consecutive_failures, because, "breaker") ==
        "breaker/consecutive_failures=4 breaker/consecutive_failures=4294967294 breaker/open_ms=5 ");
  // 29 of 100 is 0.29, and 0.29 * 100 is less than 29: the next percent must be above it all the same.
  CHECK(ideas(Rule::failure_ratio, because, "health") ==
        "health/failure_ratio=0.3 health/failure_min_volume=101 health/failure_min_volume=4294967294 "
        "health/eject_ms=5 ");
  CHECK(
      ideas(Rule::error_ratio, because, "breaker") ==
      "breaker/error_ratio=0.3 breaker/error_volume=101 breaker/error_volume=4294967294 breaker/open_ms=5 ");
  because.failures = 100;  // no ratio is above 1
  CHECK(ideas(Rule::failure_ratio, because, "health") ==
        "health/failure_min_volume=101 health/failure_min_volume=4294967294 health/eject_ms=5 ");
  because.min_volume = std::numeric_limits<std::uint32_t>::max();  // an active probe's verdict
  because.limit = 1;
  because.for_ms = 200;                                            // half of it is longer than the outage was
  CHECK(ideas(Rule::consecutive_failures, because, "health") == "active_health/failure_threshold=4 ");
}

TEST_CASE("explain: nothing is tried where a reload brought the settings") {
  Scenario scenario = scenario_over("a", 100);
  api(scenario).health = eject_after(1, 1000);
  add_fault(server(scenario, 'a'), ErrorFault{1, 503});
  requests_at(scenario, {0});
  reload_at(scenario, 11);
  const Timeline timeline = simulate(scenario);
  const Outage outage = outages_of(timeline, A).at(0);
  CHECK(outage.from == ms(10));
  CHECK(!what_ifs(scenario, timeline, A, outage, {}).empty());
  scenario.reloads[0].at = ms(10);
  CHECK(what_ifs(scenario, timeline, A, outage, {}).empty());
}

TEST_CASE("explain: what happened instead is compared by the outage that came next") {
  Scenario scenario = scenario_over("a", 400);
  api(scenario).health = eject_after(2, 50);
  add_fault(server(scenario, 'a'), ErrorFault{1, 503}, 0, 25);
  requests_at(scenario, {0, 10, 20, 90, 200});
  const Timeline timeline = simulate(scenario);
  const Outage outage = outages_of(timeline, A).at(0);
  CHECK(outage.from == ms(20));
  CHECK(outage.to == ms(100));
  const auto instead = [&](auto change) {
    Scenario other = scenario;
    change(other);
    return what_happened_instead(timeline, outage, simulate(other), A);
  };
  CHECK(instead([](Scenario&) {}) ==
        "ejected at the same instant by consecutive_failures: 2 failures in a row, and out as long; as many "
        "requests fail (3)");
  CHECK(instead([](Scenario& s) { server(s, 'a').faults[0].to = ms(150); }) ==
        "ejected at the same instant by consecutive_failures: 2 failures in a row, but back at 0.210 s "
        "instead of 0.100 s; 4 requests fail instead of 3");
  CHECK(
      instead([](Scenario& s) { api(s).health->consecutive_failures = 3; }) ==
      "ejected 10 ms later, by consecutive_failures: 3 failures in a row; back at 0.100 s; as many requests "
      "fail (3)");
  CHECK(instead([](Scenario& s) { api(s).health->consecutive_failures = 1; }) ==
        "out already since 0.010 s, by consecutive_failures: 1 failure in a row; back at 0.100 s; as many "
        "requests fail (3)");
  CHECK(instead([](Scenario& s) { api(s).health->consecutive_failures = 4; }) ==
        "not ejected then or later; as many requests fail (3)");
  CHECK(instead([](Scenario& s) {
          api(s).health->consecutive_failures = 4;
          server(s, 'a').faults[0].to = ms(91);
        }) ==
        "not ejected then, but at 0.100 s, by consecutive_failures: 4 failures in a row; back at 0.210 s; 4 "
        "requests fail instead of 3");
}
