#include "sim/expectations.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "tests/sim/handmade.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using halfopen::sim::handmade::MS;

namespace {

Judgement judged(decltype(Expectation::what) what, const Timeline& timeline = handmade::brownout()) {
  static Scenario scenario;  // outlives the judgement that points into it
  scenario.expect = {{std::move(what), {42, 5}, "{}", ""}};
  return judge(scenario, timeline).front();
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// An expectation of an event, put together field by field.
struct Wanted {
  ExpectEvent expect;

  explicit Wanted(EventType type = EventType::endpoint_ejected) { expect.pattern.type = type; }
  Wanted of(std::string endpoint) && {
    return expect.pattern.endpoint = std::move(endpoint), std::move(*this);
  }
  Wanted upstream(std::string name) && { return expect.pattern.upstream = std::move(name), std::move(*this); }
  Wanted by(Rule rule) && { return expect.pattern.rule = rule, std::move(*this); }
  Wanted via(Via via) && { return expect.pattern.via = via, std::move(*this); }
  Wanted at(std::uint64_t ms) && { return expect.when.at_ms = ms, std::move(*this); }
  Wanted between(double a, double b) && { return expect.when.between_ms = {a, b}, std::move(*this); }
  Wanted count(CountIs relation, std::uint64_t n) && {
    expect.relation = relation;
    expect.count = n;
    return std::move(*this);
  }

  Judgement judge(const Timeline& timeline = handmade::brownout()) const { return judged(expect, timeline); }
  bool held(const Timeline& timeline = handmade::brownout()) const { return judge(timeline).held; }
  Judgement never() const { return judged(ExpectNever{expect.pattern, expect.when}); }
};

ExpectState state(std::string name, std::string endpoint, TimeFilter when) {
  return {std::move(name), std::move(endpoint), "", when};
}

TimeFilter at(std::uint64_t ms) { return {ms, {}}; }
TimeFilter between(double a, double b) { return {{}, {{a, b}}}; }

Timeline with_ejections(std::initializer_list<Nanos> times) {
  Timeline timeline = handmade::brownout();
  timeline.events.clear();
  for (const Nanos t : times) timeline.events.push_back(handmade::ejection(t));
  return timeline;
}

constexpr auto EXACTLY = CountIs::exactly;
constexpr auto AT_LEAST = CountIs::at_least;
constexpr auto AT_MOST = CountIs::at_most;
const std::string FIRST = "10.0.0.1:8080", SECOND = "10.0.0.2:8080";

}  // namespace

TEST_CASE("expectations: without a count an event has to happen at least once") {
  CHECK(Wanted().held());
  CHECK(Wanted().held(with_ejections({1, 2})));
  CHECK_FALSE(Wanted().held(with_ejections({})));
}

TEST_CASE("expectations: counts are exact, lower or upper bounds") {
  const Timeline two = with_ejections({1 * MS, 2 * MS});
  CHECK_FALSE(Wanted().count(EXACTLY, 1).held(two));
  CHECK(Wanted().count(EXACTLY, 2).held(two));
  CHECK_FALSE(Wanted().count(EXACTLY, 3).held(two));
  CHECK(Wanted().count(AT_LEAST, 2).held(two));
  CHECK_FALSE(Wanted().count(AT_LEAST, 3).held(two));
  CHECK(Wanted().count(AT_MOST, 2).held(two));
  CHECK_FALSE(Wanted().count(AT_MOST, 1).held(two));
  CHECK(Wanted().count(EXACTLY, 0).held(with_ejections({})));
  CHECK(Wanted().count(AT_LEAST, 0).held(with_ejections({})));
}

TEST_CASE("expectations: at_ms takes the whole millisecond and not a nanosecond more") {
  for (const auto& [time, expected] : {std::pair<Nanos, bool>{31'250 * MS - 1, false},
                                       {31'250 * MS, true},
                                       {31'250 * MS + 999'999, true},
                                       {31'251 * MS, false}}) {
    const Nanos t = time;  // clang 14 can't capture a structured binding
    CAPTURE(t);
    CHECK(Wanted().at(31250).held(with_ejections({t})) == expected);
  }
}

TEST_CASE("expectations: between_ms includes its begin and excludes its end") {
  for (const auto& [time, expected] : {std::pair<Nanos, bool>{100 * MS - 1, false},
                                       {100 * MS, true},
                                       {200 * MS - 1, true},
                                       {200 * MS, false}}) {
    const Nanos t = time;  // clang 14 can't capture a structured binding
    CAPTURE(t);
    CHECK(Wanted().between(100, 200).held(with_ejections({t})) == expected);
  }
  CHECK(
      Wanted().between(0.0000005, 0.0000019).held(with_ejections({1})));  // rounded to the nearest ns: [1, 2)
}

TEST_CASE("expectations: times filter what is counted") {
  const Timeline three = with_ejections({100 * MS, 200 * MS, 300 * MS});
  CHECK(Wanted().between(150, 1000).count(EXACTLY, 2).held(three));
  CHECK(Wanted().at(300).count(EXACTLY, 1).held(three));
}

TEST_CASE("expectations: endpoint, upstream, rule and via all have to fit") {
  CHECK(Wanted().of(FIRST).held());
  CHECK_FALSE(Wanted().of(SECOND).held());
  CHECK(Wanted().upstream("api").held());
  CHECK_FALSE(Wanted().upstream("web").held());
  CHECK(Wanted().by(Rule::failure_ratio).held());
  CHECK_FALSE(Wanted().by(Rule::consecutive_failures).held());
  CHECK(Wanted(EventType::endpoint_recovered).via(Via::half_open_probe).held());
  CHECK_FALSE(Wanted(EventType::endpoint_recovered).via(Via::fail_open).held());
}

TEST_CASE("expectations: an event pattern finds the breaker's events by upstream") {
  Timeline timeline = handmade::brownout();
  timeline.events.push_back(handmade::opening(70'000 * MS));
  CHECK(Wanted(EventType::breaker_opened).upstream("api").held(timeline));
  CHECK_FALSE(Wanted(EventType::breaker_opened).upstream("web").held(timeline));
}

TEST_CASE("expectations: never holds when nothing matches") {
  CHECK_FALSE(Wanted().never().held);
  CHECK(Wanted().of(SECOND).never().held);
  CHECK(Wanted().between(0, 31000).never().held);
  CHECK_FALSE(Wanted().at(31250).never().held);
  CHECK(Wanted(EventType::breaker_opened).never().held);
}

TEST_CASE("expectations: a pattern that nothing can ever answer fails, also under never") {
  for (const Wanted& event :
       {Wanted(EventType::breaker_opened).of(FIRST),
        Wanted(EventType::endpoint_half_open).by(Rule::failure_ratio), Wanted().via(Via::fail_open),
        Wanted().by(Rule::error_ratio), Wanted(EventType::breaker_opened).by(Rule::failure_ratio)}) {
    CHECK_FALSE(event.never().held);
    CHECK(contains(event.never().got, "can't be evaluated"));
    CHECK_FALSE(event.judge().held);
  }
}

TEST_CASE("expectations: what the file could not name has not held") {
  Scenario scenario;
  scenario.expect = {{ExpectNever{},
                      {42, 5},
                      R"({"never":"endpoint_exploded"})",
                      "there is no event \"endpoint_exploded\""}};
  const auto judgements = judge(scenario, handmade::brownout());
  REQUIRE(judgements.size() == 1);
  CHECK_FALSE(judgements[0].held);
  CHECK(judgements[0].expected == R"({"never":"endpoint_exploded"})");
  CHECK(judgements[0].got == "it can't be evaluated: there is no event \"endpoint_exploded\"");
}

TEST_CASE("expectations: a state at_ms is the one at the begin of that millisecond") {
  CHECK(judged(state("healthy", FIRST, at(31250))).held);
  CHECK(judged(state("ejected", FIRST, at(31251))).held);
  CHECK(judged(state("ejected", FIRST, at(61259))).held);
  CHECK(judged(state("half_open", FIRST, at(61260))).held);
  CHECK(judged(state("half_open", FIRST, at(61299))).held);
  CHECK(judged(state("healthy", FIRST, at(61300))).held);
}

TEST_CASE("expectations: a state between_ms has to be shown throughout, the end excluded") {
  CHECK(judged(state("ejected", FIRST, between(31250.75, 61260))).held);
  CHECK_FALSE(judged(state("ejected", FIRST, between(31250.749999, 61260))).held);
  CHECK_FALSE(judged(state("ejected", FIRST, between(31250.75, 61260.000001))).held);
  CHECK(judged(state("healthy", SECOND, between(0, 120000))).held);
}

TEST_CASE("expectations: a state that changes in between and comes back was not shown throughout") {
  const Judgement judgement = judged(state("healthy", FIRST, between(0, 120000)));
  CHECK_FALSE(judgement.held);
  CHECK(contains(judgement.got, "at 31250.75 ms it was ejected (from 31250.75 ms to 61260 ms)"));
  CHECK(contains(judgement.got, "21 of 42 failed"));
}

TEST_CASE("expectations: equal states side by side are one") {
  Timeline timeline = handmade::brownout();
  timeline.lanes[1].intervals = {{0, 5 * MS, LaneState::healthy, {}},
                                 {5 * MS, timeline.duration, LaneState::healthy, {}}};
  CHECK(judged(state("healthy", SECOND, between(1, 9)), timeline).held);
}

TEST_CASE("expectations: an endpoint that was not configured shows no state") {
  Timeline timeline = handmade::brownout();
  timeline.lanes[1].intervals = {{50 * MS, 90 * MS, LaneState::healthy, {}}};
  CHECK_FALSE(judged(state("healthy", SECOND, at(49)), timeline).held);
  CHECK(judged(state("healthy", SECOND, at(50)), timeline).held);
  CHECK_FALSE(judged(state("healthy", SECOND, at(90)), timeline).held);
  CHECK(contains(judged(state("healthy", SECOND, at(90)), timeline).got, "not configured"));
}

TEST_CASE("expectations: a state after the end of the run has not been shown") {
  const Judgement judgement = judged(state("healthy", SECOND, at(120000)));
  CHECK_FALSE(judgement.held);
  CHECK(judgement.got == "the run ended at 120000 ms");
  CHECK_FALSE(judged(state("healthy", SECOND, between(119000, 120000.5))).held);
}

TEST_CASE("expectations: a breaker's state is asked by its upstream") {
  Timeline timeline = handmade::brownout();
  timeline.breakers[0].intervals = {{0, 10 * MS, LaneState::closed, {}},
                                    {10 * MS, 20 * MS, LaneState::open, {}},
                                    {20 * MS, timeline.duration, LaneState::breaker_half_open, {}}};
  CHECK(judged(ExpectState{"open", "", "api", at(10)}, timeline).held);
  CHECK(judged(ExpectState{"half_open", "", "api", between(20, 30)}, timeline).held);
  CHECK_FALSE(judged(ExpectState{"closed", "", "api", at(10)}, timeline).held);
  CHECK(contains(judged(ExpectState{"closed", "", "web", at(10)}, timeline).got,
                 "this run has no breaker of web"));
  CHECK_FALSE(judged(ExpectState{"closed", "", "web", at(10)}, timeline).held);
}

TEST_CASE(
    "expectations: an endpoint of two upstreams has to show the state in both, or in the one that is named") {
  Timeline timeline = handmade::brownout();
  timeline.upstream_names.push_back("web");
  timeline.lanes.push_back(handmade::endpoint(FIRST, {{0, timeline.duration, LaneState::healthy, {}}}));
  timeline.lanes.back().upstream = 1;
  CHECK_FALSE(judged(state("healthy", FIRST, at(40000)), timeline).held);
  CHECK(judged(ExpectState{"healthy", FIRST, "web", at(40000)}, timeline).held);
}

TEST_CASE(
    "expectations: a failure names what was expected, what happened and the nearest event with its reason") {
  const Judgement judgement = Wanted().of(FIRST).by(Rule::consecutive_failures).count(EXACTLY, 1).judge();
  CHECK(judgement.expected == "exactly 1 endpoint_ejected of 10.0.0.1:8080 by rule consecutive_failures");
  CHECK(judgement.got ==
        "none; the nearest, at 31.251 s: 10.0.0.1:8080 ejected: 21 of 42 failed (50 %), limit 50 % from 20; "
        "streak 2 of 5; out for 30 s");
  CHECK(failure_text(judgement, "x.json") ==
        "x.json:42:5: expected " + judgement.expected + "\ngot " + judgement.got);
}

TEST_CASE("expectations: among near misses the one closest in time is named") {
  const Timeline timeline = with_ejections({10'000 * MS, 50'000 * MS, 90'000 * MS});
  CHECK(contains(Wanted().between(60'000, 70'000).judge(timeline).got, "the nearest, at 50.000 s"));
  CHECK(contains(Wanted().between(80'000, 90'000).judge(timeline).got, "the nearest, at 90.000 s"));
}

TEST_CASE("expectations: of too many the first surplus one is named") {
  const Judgement judgement =
      Wanted().count(AT_MOST, 1).judge(with_ejections({10 * MS, 20 * MS, 30 * MS, 40 * MS}));
  CHECK(contains(judgement.got, "4, at 10, 20, 30, ... ms; one too many, at 0.020 s"));
}

TEST_CASE("expectations: a run without events says so") {
  CHECK(Wanted().judge(with_ejections({})).got == "none; nothing happened at all");
}

TEST_CASE("expectations: a failure can't steer the terminal that it is printed on") {
  const std::string text = failure_text(Wanted().of("a\x1b[31m").judge(), "x\n.json");
  CHECK(contains(text, "x .json:42:5: expected at least 1 endpoint_ejected of a [31m"));
}

TEST_CASE("expectations: a long lane is judged in one pass") {
  Timeline timeline = handmade::brownout();
  auto& lane = timeline.lanes[1].intervals;
  lane.clear();
  for (Nanos t = 0; t < 1'000'000; ++t) lane.push_back({t, t + 1, LaneState::healthy, {}});
  CHECK(judged(state("healthy", SECOND, between(0, 1)), timeline).held);
  CHECK_FALSE(judged(state("healthy", SECOND, between(0, 1.000001)), timeline).held);
}
