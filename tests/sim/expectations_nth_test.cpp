// Expectations of the n-th event, and of events in an order.
#include <doctest/doctest.h>

#include "sim/expectations.hpp"
#include "tests/sim/handmade.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using halfopen::sim::handmade::contains;
using halfopen::sim::handmade::MS;

namespace {

const std::string FIRST = "10.0.0.1:8080", SECOND = "10.0.0.2:8080";

Judgement judged(decltype(Expectation::what) what, const Timeline& timeline) {
  static Scenario scenario;  // outlives the judgement that points into it
  scenario.expect = {{std::move(what), {42, 5}, "{}", ""}};
  return judge(scenario, timeline).front();
}

// Ejections of the first endpoint at 100, 200 and 300 ms, and of the second at 150 ms.
Timeline four_ejections() {
  Timeline timeline = handmade::brownout();
  timeline.events = {handmade::ejection(100 * MS), handmade::ejection(150 * MS, 1),
                     handmade::ejection(200 * MS), handmade::ejection(300 * MS)};
  return timeline;
}

ExpectEvent nth(std::uint64_t n, TimeFilter when = {}, const std::string& endpoint = FIRST) {
  ExpectEvent event;
  event.pattern.endpoint = endpoint;
  event.when = when;
  event.nth = n;
  return event;
}

TimeFilter at(std::uint64_t ms) { return {ms, {}}; }
TimeFilter between(double a, double b) { return {{}, {{a, b}}}; }

SequenceStep step(EventType type, const std::string& endpoint = "", TimeFilter when = {}) {
  SequenceStep out;
  out.pattern.type = type;
  out.pattern.endpoint = endpoint;
  out.when = when;
  return out;
}

constexpr auto EJECTED = EventType::endpoint_ejected;
constexpr auto HALF_OPEN = EventType::endpoint_half_open;
constexpr auto RECOVERED = EventType::endpoint_recovered;

// Out at 31250.75 ms, on trial at 61260, back at 61300: of the first endpoint.
Judgement in_order(std::vector<SequenceStep> steps, bool exact = false,
                   const Timeline& timeline = handmade::brownout()) {
  return judged(ExpectSequence{std::move(steps), exact}, timeline);
}

}  // namespace

TEST_CASE("expectations nth: the event is chosen among all of its kind, then its time is judged") {
  const Timeline timeline = four_ejections();
  CHECK(judged(nth(1, at(100)), timeline).held);
  CHECK(judged(nth(2, at(200)), timeline).held);
  CHECK_FALSE(judged(nth(2, at(100)), timeline).held);
  CHECK(judged(nth(3, between(300, 300.000001)), timeline).held);
  CHECK_FALSE(judged(nth(3, between(299, 300)), timeline).held);
  CHECK(judged(nth(2, at(150), ""), timeline).held);  // of anybody
  CHECK(judged(nth(1, at(150), SECOND), timeline).held);
}

TEST_CASE("expectations nth: without a time it has to happen, and it is not the same as at least so many") {
  const Timeline timeline = four_ejections();
  CHECK(judged(nth(3), timeline).held);
  CHECK_FALSE(judged(nth(4), timeline).held);
  CHECK_FALSE(judged(nth(2, between(250, 400)), timeline).held);  // two lie after 150, the second does not
}

TEST_CASE("expectations nth: a failure says when it really was, or how many there were") {
  const Timeline timeline = four_ejections();
  const Judgement late = judged(nth(2, at(300)), timeline);
  CHECK(late.expected == "the 2nd endpoint_ejected of 10.0.0.1:8080, at 300 ms");
  CHECK(late.got.starts_with("it was at 200 ms; at 0.200 s: 10.0.0.1:8080 ejected: 21 of 42 failed"));
  const Judgement few = judged(nth(11), timeline);
  CHECK(few.expected == "the 11th endpoint_ejected of 10.0.0.1:8080");
  CHECK(few.got.starts_with("only 3, at 100, 200, 300 ms; the last, at 0.300 s"));
  ExpectEvent stranger = nth(1);
  stranger.pattern.rule = Rule::consecutive_failures;
  CHECK(judged(stranger, timeline).got.starts_with("none; the nearest, at 0.100 s: 10.0.0.1:8080 ejected"));
  Timeline quiet = four_ejections();
  quiet.events.clear();
  CHECK(judged(nth(1), quiet).got == "none; nothing happened at all");
  CHECK(judged(nth(1, at(100)), timeline).got == "it was at 100 ms");
  stranger.pattern.rule = Rule::error_ratio;
  CHECK(contains(judged(stranger, timeline).got, "can't be evaluated: rule error_ratio never causes"));
}

TEST_CASE("expectations nth: ordinals read as people say them") {
  for (const auto& [n, text] : std::vector<std::pair<std::uint64_t, std::string>>{{1, "1st"},
                                                                                  {2, "2nd"},
                                                                                  {3, "3rd"},
                                                                                  {4, "4th"},
                                                                                  {10, "10th"},
                                                                                  {11, "11th"},
                                                                                  {12, "12th"},
                                                                                  {13, "13th"},
                                                                                  {21, "21st"},
                                                                                  {22, "22nd"},
                                                                                  {111, "111th"},
                                                                                  {123, "123rd"}}) {
    CHECK(contains(judged(nth(n), four_ejections()).expected, "the " + text + " endpoint"));
  }
}

TEST_CASE("expectations sequence: steps in order hold, also with events in between") {
  const Judgement whole = in_order({step(EJECTED, FIRST), step(HALF_OPEN, FIRST), step(RECOVERED, FIRST)});
  CHECK(whole.held);
  CHECK(whole.got == "at 31250.75, 61260, 61300 ms");
  CHECK(in_order({step(EJECTED), step(RECOVERED)}).held);
  CHECK(in_order({step(RECOVERED)}).held);
  CHECK_FALSE(in_order({step(RECOVERED), step(EJECTED)}).held);
  CHECK_FALSE(in_order({step(EJECTED), step(EJECTED)}).held);  // one event is no two steps
}

TEST_CASE("expectations sequence: a step's own time and cause have to fit") {
  CHECK(in_order({step(EJECTED, FIRST, at(31250)), step(RECOVERED, FIRST, between(61300, 61301))}).held);
  CHECK_FALSE(in_order({step(EJECTED, FIRST, at(31251))}).held);
  SequenceStep back = step(RECOVERED, FIRST);
  back.pattern.via = Via::half_open_probe;
  CHECK(in_order({step(EJECTED), back}).held);
  back.pattern.via = Via::fail_open;
  CHECK_FALSE(in_order({step(EJECTED), back}).held);
}

TEST_CASE("expectations sequence: events of one instant have the order in which they came") {
  Timeline timeline = handmade::brownout();
  timeline.events = {handmade::half_open(5 * MS), handmade::half_open(5 * MS, 1)};
  CHECK(in_order({step(HALF_OPEN, FIRST), step(HALF_OPEN, SECOND)}, false, timeline).held);
  CHECK_FALSE(in_order({step(HALF_OPEN, SECOND), step(HALF_OPEN, FIRST)}, false, timeline).held);
}

TEST_CASE("expectations sequence: exact allows no other event of the endpoints that it names, anywhere") {
  CHECK(in_order({step(EJECTED, FIRST), step(HALF_OPEN, FIRST), step(RECOVERED, FIRST)}, true).held);
  const Judgement between = in_order({step(EJECTED, FIRST), step(RECOVERED, FIRST)}, true);
  CHECK_FALSE(between.held);
  CHECK(contains(between.got, "at 31250.75, 61300 ms; but also, at 61.260 s: 10.0.0.1:8080 half-open"));
  CHECK_FALSE(in_order({step(HALF_OPEN, FIRST), step(RECOVERED, FIRST)}, true).held);  // one before
  CHECK_FALSE(in_order({step(EJECTED, FIRST), step(HALF_OPEN, FIRST)}, true).held);    // one after
}

TEST_CASE("expectations sequence: exact leaves other endpoints alone, and breakers to their upstream") {
  Timeline timeline = handmade::brownout();
  timeline.events.push_back(handmade::ejection(70'000 * MS, 1));
  timeline.events.push_back(handmade::opening(80'000 * MS));
  const std::vector<SequenceStep> first{step(EJECTED, FIRST), step(HALF_OPEN, FIRST), step(RECOVERED, FIRST)};
  CHECK(in_order(first, true, timeline).held);
  CHECK(in_order({step(EventType::breaker_opened)}, true, timeline).held);
  timeline.events.push_back(handmade::half_open(90'000 * MS, -1));
  CHECK_FALSE(in_order({step(EventType::breaker_opened)}, true, timeline).held);
  CHECK(in_order(first, true, timeline).held);
  // Where a step names nobody, it is about the one whose event it found.
  CHECK(in_order({step(EJECTED), step(HALF_OPEN), step(RECOVERED)}, true, timeline).held);
}

TEST_CASE("expectations sequence: an endpoint of two upstreams is meant in both unless one is named") {
  Timeline timeline = handmade::brownout();
  timeline.upstream_names.push_back("web");
  timeline.lanes.push_back(handmade::endpoint(FIRST, {}));
  timeline.lanes.back().upstream = 1;
  timeline.events.push_back(handmade::ejection(70'000 * MS, 2));
  timeline.events.back().upstream = 1;
  std::vector<SequenceStep> steps{step(EJECTED, FIRST), step(HALF_OPEN, FIRST), step(RECOVERED, FIRST)};
  CHECK_FALSE(in_order(steps, true, timeline).held);
  for (SequenceStep& each : steps) each.pattern.upstream = "api";
  CHECK(in_order(steps, true, timeline).held);
}

TEST_CASE("expectations sequence: a failure names the step that is missing and what came nearest") {
  const Judgement swapped = in_order({step(RECOVERED, FIRST), step(HALF_OPEN, FIRST, at(61260))});
  CHECK(swapped.expected ==
        "in this order: endpoint_recovered of 10.0.0.1:8080; then endpoint_half_open of 10.0.0.1:8080, at "
        "61260 ms");
  CHECK(contains(swapped.got,
                 "no step 2, endpoint_half_open of 10.0.0.1:8080, at 61260 ms, after step 1 at "
                 "61300 ms; only before it, at 61.260 s: 10.0.0.1:8080 half-open"));
  const Judgement nobody = in_order({step(EJECTED, SECOND)}, true);
  CHECK(nobody.expected == "in this order: endpoint_ejected of 10.0.0.2:8080; and no other event of theirs");
  CHECK(contains(nobody.got,
                 "no step 1, endpoint_ejected of 10.0.0.2:8080; the nearest, at 31.251 s: "
                 "10.0.0.1:8080 ejected: 21 of 42"));
  Timeline quiet = handmade::brownout();
  quiet.events.clear();
  CHECK(contains(in_order({step(EJECTED)}, false, quiet).got, "nothing happened at all"));
  SequenceStep never = step(EventType::breaker_opened, FIRST);
  CHECK(contains(in_order({step(EJECTED), never}).got,
                 "it can't be evaluated: in step 2, breaker_opened is an event of an upstream"));
}
