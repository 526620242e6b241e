// Bursts: good and bad states in turn, as long as the fault's own stream says, and errors in the bad one.
#include <doctest/doctest.h>

#include <string>

#include "sim/draws.hpp"
#include "sim/endpoint_model.hpp"
#include "sim/real_math.hpp"
#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

constexpr BurstsFault ALL_BAD{20, 5, 1, 503};

// The length of phase p of fault <n> of a:1.
Nanos stay(std::uint32_t n, std::uint64_t p, double mean_ms, std::uint64_t seed = 1) {
  const double u = Stream(seed, "fault:a:1/" + std::to_string(n)).unit(p);
  return static_cast<Nanos>(-mean_ms * real::ln(1.0 - u) * 1e6);
}

Scenario bursting(const BurstsFault& bursts, double duration_ms, double from_ms = 0,
                  double to_ms = TO_THE_END) {
  Scenario scenario = scenario_over("a", duration_ms);
  server(scenario, 'a').latency = FixedLatency{0};
  add_fault(server(scenario, 'a'), bursts, from_ms, to_ms);
  return scenario;
}

bool fails_at(Scenario scenario, Nanos t) {
  requests_at(scenario, {0});
  std::get<ArrivalTimes>(scenario.traffic.back().source).at[0] = t;
  const Timeline timeline = simulate(scenario);
  CHECK(timeline.summary.ok + timeline.summary.failed == 1);
  return timeline.summary.failed == 1;
}

EndpointModel bad_state(const ServerModel& config) {
  EndpointModel model(config, 1);
  model.phases(0).bad = true;
  return model;
}

}  // namespace

TEST_CASE("bursts: each stay is its own draw, good first, to the nanosecond") {
  const Scenario scenario = bursting(ALL_BAD, 1000, 7);
  Nanos ends = ms(7);
  CHECK_FALSE(fails_at(scenario, ends - 1));
  CHECK_FALSE(fails_at(scenario, ends));
  for (std::uint64_t p = 0; p < 8; ++p) {
    const bool bad = p % 2 == 1;
    const Nanos length = stay(0, p, bad ? 5 : 20);
    REQUIRE(length > 1000);
    CHECK(fails_at(scenario, ends) == bad);
    ends += length;
    CHECK(fails_at(scenario, ends - 1) == bad);
  }
}

TEST_CASE("bursts: the lane shows the bad phases, whether or not anybody asks, until fault or run end") {
  for (const double to_ms : {TO_THE_END, 150.0}) {
    Scenario scenario = bursting(ALL_BAD, 200, 7, to_ms);
    const Nanos last = ms(to_ms < 0 ? 200 : to_ms);
    Nanos begins = ms(7);
    std::vector<Interval> expected;
    for (std::uint64_t p = 0; begins < last; p += 2) {
      begins += stay(0, p, 20);
      const Nanos ends = begins + stay(0, p + 1, 5);
      if (begins < last) expected.push_back({begins, std::min(ends, last), LaneState::active, {}});
      begins = ends;
    }
    REQUIRE(expected.size() > 2);
    const std::vector<FaultLane> lanes = simulate(scenario).faults;
    REQUIRE(lanes.size() == 1);
    CHECK(lanes[0].kind == "bursts");
    CHECK(lane_text(lanes[0].intervals) == lane_text(expected));
  }
}

TEST_CASE("bursts: a bad phase that the fault's end cuts short errs no more from there on") {
  const Nanos begins = stay(0, 0, 20), length = stay(0, 1, 5);
  REQUIRE(length > 2);
  Scenario scenario = bursting(ALL_BAD, 1000);
  server(scenario, 'a').faults[0].to = begins + length / 2;
  CHECK(fails_at(scenario, begins + length / 2 - 1));
  CHECK_FALSE(fails_at(scenario, begins + length / 2));
  server(scenario, 'a').faults[0].to = begins;  // the phase would begin where the fault ends
  CHECK_FALSE(fails_at(scenario, begins));
  CHECK(simulate(scenario).faults[0].intervals.empty());
}

TEST_CASE("bursts: stays that last no time pass, and what they leave touching is one period") {
  // Means of 2 ns: four stays of ten are shorter than 1 ns. On two servers, so that the boundaries of one
  // instant are many, and with a capacity, so that each is judged.
  Scenario scenario = scenario_over("ab", 0.002);
  for (const char letter : {'a', 'b'}) {
    server(scenario, letter).latency = FixedLatency{0};
    server(scenario, letter).capacity = Capacity{1, 1, 503};
    add_fault(server(scenario, letter), BurstsFault{2e-6, 2e-6, 1, 503});
  }
  std::vector<bool> bad(2000, false);
  Nanos t = 0;
  std::size_t empty = 0;
  for (std::uint64_t p = 0; t < 2000; ++p) {
    const Nanos length = stay(0, p, 2e-6);
    empty += length == 0;
    for (Nanos at = t; at < std::min<Nanos>(t + length, 2000); ++at) bad[at] = p % 2 == 1;
    t += length;
  }
  CHECK(empty > 300);
  std::vector<bool> shown(2000, false);
  Nanos before = 0;
  const std::vector<Interval> intervals = simulate(scenario).faults[0].intervals;
  for (const Interval& interval : intervals) {
    CHECK((interval.from > before || before == 0));
    CHECK(interval.to > interval.from);
    for (Nanos at = interval.from; at < interval.to; ++at) shown[at] = true;
    before = interval.to;
  }
  CHECK(intervals.size() > 100);
  CHECK(shown == bad);
  scenario.servers.pop_back();
  scenario.upstreams[0].endpoints.pop_back();
  for (Nanos at = 0; at < 40; ++at) CHECK(fails_at(scenario, at) == bad[at]);
}

TEST_CASE("bursts: an attempt is judged when it comes, a state that changes meanwhile does not reset it") {
  const Nanos begins = stay(0, 0, 20), length = stay(0, 1, 5);
  Scenario scenario = bursting(ALL_BAD, 1000);
  server(scenario, 'a').latency = FixedLatency{static_cast<double>(length) / 2e6};
  CHECK_FALSE(fails_at(scenario, begins - 1));
  CHECK(fails_at(scenario, begins + length - 1));
  CHECK_FALSE(EndpointModel(server(scenario, 'a'), 1).can_go_down());
}

TEST_CASE("bursts: in the bad state each attempt has its own draw, at its own counter, in its scope") {
  Scenario scenario = scenario_over("a", 1);
  ServerModel& config = server(scenario, 'a');
  add_fault(config, BurstsFault{1, 1, 0.4, 500}, 0, TO_THE_END, Scope::traffic);
  const Stream service(1, "service:api/a:1"), fault(1, "fault:a:1/0");
  EndpointModel bad = bad_state(config), good(config, 1);
  int hits = 0;
  for (std::uint64_t index = 0; index < 400; ++index) {
    const AttemptKey key{index, 2, 3, false, false};
    const bool hit = fault.unit(index, 0, 2, 3) < 0.4;
    CHECK(bad.judge(0, key, service).outcome.status == (hit ? 500 : 200));
    CHECK(bad.judge(0, {index, 0, 0, true, false}, service).outcome.status == 200);
    CHECK(good.judge(0, key, service).outcome.status == 200);
    hits += hit;
  }
  CHECK(hits > 120);
  CHECK(hits < 200);
}

TEST_CASE("bursts: with error and brownout in file order, the first hit wins") {
  Scenario scenario = scenario_over("a", 1);
  ServerModel& config = server(scenario, 'a');
  const Stream service(1, "service:api/a:1");
  add_fault(config, BurstsFault{1, 1, 1, 500});
  add_fault(config, ErrorFault{1, 501});
  CHECK(bad_state(config).judge(0, {}, service).outcome.status == 500);
  CHECK(EndpointModel(config, 1).judge(0, {}, service).outcome.status == 501);
  config.faults.clear();
  add_fault(config, BurstsFault{1, 1, 0, 500});
  add_fault(config, BrownoutFault{1, 502, 1, 1});
  add_fault(config, BurstsFault{1, 1, 1, 504});
  EndpointModel both = bad_state(config);
  both.phases(2).bad = true;
  CHECK(both.judge(0, {}, service).outcome.status == 502);
  config.faults.erase(config.faults.begin() + 1);
  add_fault(config, HangFault{1});
  EndpointModel last = bad_state(config);
  last.phases(1).bad = true;
  CHECK(last.judge(0, {}, service).outcome.status == 504);  // and who was answered does not hang
  CHECK(last.judge(0, {}, service).manner == ServerAnswer::Manner::serve);
}

TEST_CASE("bursts: they are at work in the bad state only, and only with errors that are failures") {
  Scenario scenario = scenario_over("a", 1);
  ServerModel& config = server(scenario, 'a');
  const Stream service(1, "service:api/a:1");
  add_fault(config, BurstsFault{1, 1, 0.001, 503}, 0, 10);
  EndpointModel bad = bad_state(config);
  CHECK(bad.judge(0, {1, 0, 0, false, false}, service).met_failing);
  CHECK(bad.judge(ms(9.999999), {1, 0, 0, false, false}, service).met_failing);
  CHECK_FALSE(bad.judge(ms(10), {1, 0, 0, false, false}, service).met_failing);
  CHECK_FALSE(EndpointModel(config, 1).judge(0, {1, 0, 0, false, false}, service).met_failing);
  std::get<BurstsFault>(config.faults[0].kind).status = 404;
  CHECK_FALSE(bad_state(config).judge(0, {1, 0, 0, false, false}, service).met_failing);
}
