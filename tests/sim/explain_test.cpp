// Why it was out: outages from a timeline, and what a listener hears around one of them. What is told to a
// person is in tests/python/test_explain.py.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "sim/explain.hpp"
#include "sim/outcome_text.hpp"
#include "sim/scenario_json.hpp"
#include "sim/writer_json.hpp"
#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

constexpr Subject A{false, 0, 0}, BREAKER{true, 0, 0};

// "10-110 back, 200-300 run".
std::string text_of(const std::vector<Outage>& outages) {
  std::string out;
  for (const Outage& outage : outages) {
    const char* end = outage.end == Outage::End::back  ? "back"
                      : outage.end == Outage::End::run ? "run"
                                                       : "reload";
    out += (out.empty() ? "" : ", ") + time_text(outage.from) + "-" + time_text(outage.to) + " " + end + " " +
           std::to_string(outage.events.size());
  }
  return out;
}

// "20 #0 503 1 1/1", with its marks; the times and counts that the machine had afterwards.
std::string text_of(const Heard& heard) {
  std::string out = time_text(heard.t) + " ";
  out += heard.probe ? "probe" : "#" + std::to_string(heard.request.index);
  if (!heard.probe)
    out += " sent " + time_text(heard.sent) + " " + outcome_text(heard.outcome, heard.body_broke);
  out += " " + std::to_string(heard.streak) + " " + std::to_string(heard.failures) + "/" +
         std::to_string(heard.volume);
  if (heard.trial) out += " trial";
  if (heard.fail_open) out += " fail-open";
  if (heard.late) out += heard.ignored ? " ignored" : " late";
  return out;
}

Listener::Aim at_outage(const Timeline& timeline, const Subject& subject, std::size_t which,
                        std::size_t keep) {
  const Outage outage = outages_of(timeline, subject).at(which);
  Listener::Aim aim;
  aim.subject = subject;
  aim.out_at = aim.from = outage.from;
  aim.to = outage.to;
  aim.keep = keep;
  return aim;
}

// Hears the run again; `listener` must have been made for it.
void listen(const Scenario& scenario, Listener& listener) {
  RunHooks hooks;
  hooks.observer = &listener;
  simulate(scenario, hooks);
}

std::vector<std::string> led_to(const Scenario& scenario, const Subject& subject, std::size_t which = 0,
                                std::size_t keep = 12) {
  const Timeline timeline = simulate(scenario);
  Listener listener(scenario, timeline, at_outage(timeline, subject, which, keep));
  listen(scenario, listener);
  std::vector<std::string> out;
  for (const Heard& heard : listener.led()) out.push_back(text_of(heard));
  return out;
}

using Lines = std::vector<std::string>;

}  // namespace

// ---- outages ----------------------------------------------------------------------------------------------

TEST_CASE("explain: an outage goes on over failed trials, until the endpoint is back") {
  Scenario scenario = scenario_over("a", 400);
  api(scenario).health = eject_after(1, 100);
  add_fault(server(scenario, 'a'), script({503, 503}));
  requests_at(scenario, {0, 110, 220, 350});
  const Timeline timeline = simulate(scenario);
  CHECK(
      lane_text(timeline.lanes[0].intervals) ==
      "0-10 healthy, 10-110 ejected, 110-120 half_open, 120-220 ejected, 220-230 half_open, 230-400 healthy");
  CHECK(text_of(outages_of(timeline, A)) == "10-230 back 5");
}

TEST_CASE("explain: an outage that the run cuts off ends with it") {
  Scenario scenario = scenario_over("a", 100);
  api(scenario).health = eject_after(1, 1000);
  add_fault(server(scenario, 'a'), script({503}));
  requests_at(scenario, {0});
  CHECK(text_of(outages_of(simulate(scenario), A)) == "10-100 run 1");
}

TEST_CASE("explain: a reload that takes the endpoint away ends its outage, and the next one is another") {
  Scenario scenario = scenario_over("ab", 300);
  api(scenario).health = eject_after(1, 1000);
  add_fault(server(scenario, 'a'), ErrorFault{1, 503});
  requests_at(scenario, {0, 100});
  reload_at(scenario, 40)[0].endpoints = {scenario.upstreams[0].endpoints[1]};
  scenario.reloads.push_back({ms(60), scenario.upstreams});
  const Timeline timeline = simulate(scenario);
  CHECK(lane_text(lane(timeline, 'a').intervals) ==
        "0-10 healthy, 10-40 ejected, 60-110 healthy, 110-300 ejected");
  CHECK(text_of(outages_of(timeline, A)) == "10-40 reload 1, 110-300 run 1");
}

TEST_CASE("explain: a breaker's outages are its own") {
  Scenario scenario = scenario_over("a", 300);
  api(scenario).health = eject_after(3, 100);
  api(scenario).breaker = open_after(1, 50);
  add_fault(server(scenario, 'a'), script({503}));
  requests_at(scenario, {0, 60});
  const Timeline timeline = simulate(scenario);
  CHECK(text_of(outages_of(timeline, BREAKER)) == "10-70 back 3");
  CHECK(outages_of(timeline, A).empty());
}

// ---- listening --------------------------------------------------------------------------------------------

TEST_CASE("explain: what led to an ejection is what was reported since it was last let in") {
  Scenario scenario = scenario_over("a", 400);
  api(scenario).health = eject_after(2, 20);
  add_fault(server(scenario, 'a'), script({503, 503, 200, 503, 200, 503, 503}));
  requests_at(scenario, {0, 10, 60, 100, 120, 140, 160});
  CHECK(led_to(scenario, A, 0) == Lines{"10 #0 sent 0 503 1 1/1", "20 #1 sent 10 503 0 0/0"});
  CHECK(led_to(scenario, A, 1) == Lines{"110 #3 sent 100 503 1 1/1", "130 #4 sent 120 200 0 1/2",
                                        "150 #5 sent 140 503 1 2/3", "170 #6 sent 160 503 0 0/0"});
}

TEST_CASE("explain: only the last few are kept") {
  Scenario scenario = scenario_over("a", 400);
  api(scenario).health = eject_after(4);
  add_fault(server(scenario, 'a'), ErrorFault{1, 503});
  requests_at(scenario, {0, 10, 20, 30});
  CHECK(led_to(scenario, A, 0, 2) == Lines{"30 #2 sent 20 503 3 3/3", "40 #3 sent 30 503 0 0/0"});
}

TEST_CASE("explain: only what concerns the endpoint is heard") {
  Scenario scenario = scenario_over("ab", 400);
  api(scenario).health = eject_after(2);
  add_fault(server(scenario, 'a'), ErrorFault{1, 503});
  requests_at(scenario, {0, 10, 20, 30});
  CHECK(led_to(scenario, A) == Lines{"10 #0 sent 0 503 1 1/1", "30 #2 sent 20 503 0 0/0"});
}

TEST_CASE("explain: a breaker keeps its counts, and hears every endpoint but no probe") {
  Scenario scenario = scenario_over("ab", 400);
  api(scenario).health = eject_after(9);
  api(scenario).active_health = probe_every(15, 15);
  api(scenario).active_health->failure_threshold = 9;
  api(scenario).breaker = open_after(2);
  add_fault(server(scenario, 'a'), ErrorFault{1, 503});
  add_fault(server(scenario, 'b'), ErrorFault{1, 503});
  requests_at(scenario, {0, 20});
  CHECK(led_to(scenario, BREAKER) == Lines{"10 #0 sent 0 503 1 1/1", "30 #1 sent 20 503 2 2/2"});
}

TEST_CASE("explain: an answer from before the ejection is late, and ignored only if the file says so") {
  for (const LateReports policy : {LateReports::count, LateReports::ignore}) {
    Scenario scenario = scenario_over("a", 400);
    api(scenario).health = eject_after(1, 200);
    api(scenario).late_reports = policy;
    add_fault(server(scenario, 'a'), script({503, 503, 200}));
    add_fault(server(scenario, 'a'), LatencyFault{20, 1, 0}, 1, 2);
    add_fault(server(scenario, 'a'), LatencyFault{40, 1, 0}, 2, 3);
    requests_at(scenario, {0, 1, 2});  // failures at 10 and 31, a success at 52
    const Timeline timeline = simulate(scenario);
    Listener listener(scenario, timeline, at_outage(timeline, A, 0, 12));
    listen(scenario, listener);
    const Meanwhile& meanwhile = listener.meanwhile();
    CHECK(meanwhile.late_failed == 1);
    CHECK(meanwhile.late_ok == 1);
    CHECK(meanwhile.late_ignored == (policy == LateReports::ignore ? 2 : 0));
    REQUIRE(listener.back().has_value() == (policy == LateReports::count));
    if (listener.back()) CHECK(text_of(*listener.back()) == "52 #2 sent 2 200 0 0/0 late");
  }
}

TEST_CASE("explain: fail-open picks, trials and probes of the outage are counted") {
  Scenario scenario = scenario_over("a", 400);
  api(scenario).health = eject_after(2, 100);
  api(scenario).active_health = probe_every(70, 5);
  api(scenario).active_health->success_threshold = 9;
  api(scenario).active_health->failure_threshold = 9;
  add_fault(server(scenario, 'a'), ErrorFault{1, 503}, 0, 130, Scope::traffic);
  server(scenario, 'a').latency = FixedLatency{1};
  requests_at(scenario, {0, 10, 50, 80, 120, 220});  // out at 11; the last one lets it in
  const Timeline timeline = simulate(scenario);
  CHECK(lane_text(timeline.lanes[0].intervals) ==
        "0-11 healthy, 11-120 ejected, 120-121 half_open, 121-221 ejected, 221-400 healthy");
  Listener listener(scenario, timeline, at_outage(timeline, A, 0, 12));
  listen(scenario, listener);
  CHECK(listener.meanwhile().fail_open == 3);  // 50, 80, and 220 a millisecond before its time
  CHECK(listener.meanwhile().trials == 1);
  CHECK(listener.meanwhile().probes_ok == 3);
}

TEST_CASE("explain: a breaker's refusals are counted while it is open, and not those of other upstreams") {
  Scenario scenario = scenario_over("a", 400);
  scenario.upstreams.push_back(upstream_over("web", "b"));
  add_server(scenario, 'b');
  api(scenario).breaker = open_after(1, 100);
  scenario.upstreams[1].breaker = open_after(1, 300);
  add_fault(server(scenario, 'a'), script({503}));
  add_fault(server(scenario, 'b'), script({503}));
  requests_at(scenario, {0, 20, 109, 110, 130});
  requests_at(scenario, {0, 20, 40}, "web");
  const Timeline timeline = simulate(scenario);
  Listener listener(scenario, timeline, at_outage(timeline, BREAKER, 0, 12));
  listen(scenario, listener);
  CHECK(listener.meanwhile().refused == 2);
  REQUIRE(listener.back());
  CHECK(listener.back()->request.index == 3);
}

TEST_CASE("explain: of two ejections in one instant the one that is meant is told") {
  Scenario scenario = scenario_over("a", 100);
  api(scenario).health = eject_after(1);
  add_fault(server(scenario, 'a'), script({503, 200, 503}));
  add_fault(server(scenario, 'a'), LatencyFault{0, 1, 0});
  requests_at(scenario, {0, 0, 0});  // out, let in by a late answer, and out again: all at 10
  const Timeline timeline = simulate(scenario);
  CHECK(text_of(outages_of(timeline, A)) == "10-10 back 2, 10-100 run 1");
  for (const std::size_t which : {0U, 1U}) {
    Listener::Aim aim = at_outage(timeline, A, which, 12);
    aim.skip = which;
    Listener listener(scenario, timeline, aim);
    listen(scenario, listener);
    REQUIRE(!listener.led().empty());
    CHECK(listener.led().back().request.index == 2 * which);
    CHECK(listener.back().has_value() == (which == 0));
  }
}

TEST_CASE("explain: a stretch tells how near it came, and stops at its end") {
  Scenario scenario = scenario_over("a", 400);
  api(scenario).health = eject_after(4);
  add_fault(server(scenario, 'a'), script({503, 503, 200, 503, 200, 503, 503, 503}));
  requests_at(scenario, {0, 10, 20, 30, 40, 50, 60, 70});
  const Timeline timeline = simulate(scenario);
  Listener::Aim aim;
  aim.to = ms(60);  // the answer of 50 is heard, that of 60 is not
  aim.min_volume = 3;
  Listener listener(scenario, timeline, aim);
  listen(scenario, listener);
  CHECK(text_of(listener.led().back()) == "60 #5 sent 50 503 1 4/6");
  REQUIRE(listener.longest_streak());
  CHECK(text_of(*listener.longest_streak()) == "20 #1 sent 10 503 2 2/2");
  REQUIRE(listener.nearest_ratio());
  CHECK(text_of(*listener.nearest_ratio()) == "40 #3 sent 30 503 1 3/4");  // 2 of 2 are too few to count
}

TEST_CASE("explain: listening changes nothing") {
  const Loaded loaded = load_scenario_file("scenarios/breaker-before-ejection.json");
  REQUIRE(loaded.scenario);
  const Timeline timeline = simulate(*loaded.scenario);
  Listener listener(*loaded.scenario, timeline, at_outage(timeline, BREAKER, 0, 12));
  RunHooks hooks;
  hooks.observer = &listener;
  CHECK(timeline_json(simulate(*loaded.scenario, hooks), {}) == timeline_json(timeline, {}));
  CHECK(listener.led().size() == 5);
}
