// What somebody wrote, read back as the struct that a run leaves behind.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "sim/expectations.hpp"
#include "sim/scenario_json.hpp"
#include "sim/simulation.hpp"
#include "sim/timeline_back_json.hpp"
#include "sim/writer_json.hpp"
#include "sim/writer_jsonl.hpp"
#include "sim/writer_parts.hpp"

using namespace halfopen::sim;

namespace {

struct Run {
  Scenario scenario;
  Timeline timeline;
  std::vector<Judgement> judgements;
};

Run run(const std::string& name) {
  Loaded loaded = load_scenario_file("scenarios/" + name + ".json");
  REQUIRE(loaded.scenario);
  Run out{*std::move(loaded.scenario), {}, {}};
  out.timeline = simulate(out.scenario);
  out.judgements = judge(out.scenario, out.timeline);
  return out;
}

TimelineBack good(const std::string& text) {
  TimelineBackRead read = timeline_back(text, "t.json");
  for (const Mistake& mistake : read.mistakes) FAIL_CHECK(mistake.text());
  REQUIRE(read.back);
  return *std::move(read.back);
}

std::vector<std::string> event_lines(const Timeline& timeline) {
  std::vector<std::string> out;
  for (const TimelineEvent& event : timeline.events) append_event(out.emplace_back(), timeline, event);
  return out;
}

std::vector<std::string> mistakes(const std::string& text) {
  const TimelineBackRead read = timeline_back(text, "t.json");
  CHECK_FALSE(read.back);
  std::vector<std::string> out;
  for (const Mistake& mistake : read.mistakes) out.push_back(mistake.pointer + ": " + mistake.what);
  return out;
}

// With the first `old` of the text another one.
std::string altered(std::string text, const std::string& old, const std::string& now) {
  const std::size_t at = text.find(old);
  REQUIRE_MESSAGE(at != std::string::npos, old);
  return text.replace(at, old.size(), now);
}

const char* const EVENTFUL[] = {"brownout-one-of-four", "breaker-before-ejection",
                                "active-readmits-before-eject_ms"};

}  // namespace

TEST_CASE("timeline back: a document gives the events, lanes and columns that were written") {
  for (const std::string name : EVENTFUL) {
    CAPTURE(name);
    const Run wrote = run(name);
    const TimelineBack back = good(timeline_json(wrote.timeline, wrote.judgements));
    CHECK(back.whole);
    CHECK(back.timeline.seed == wrote.timeline.seed);
    CHECK(back.timeline.duration == wrote.timeline.duration);
    REQUIRE_FALSE(wrote.timeline.events.empty());
    CHECK(event_lines(back.timeline) == event_lines(wrote.timeline));
    CHECK(back.timeline.series.requests == wrote.timeline.series.requests);
    CHECK(back.timeline.series.in_flight == wrote.timeline.series.in_flight);
    REQUIRE(back.timeline.lanes.size() == wrote.timeline.lanes.size());
    for (std::size_t n = 0; n < wrote.timeline.lanes.size(); ++n) {
      const EndpointLane& there = back.timeline.lanes[n];
      const EndpointLane& here = wrote.timeline.lanes[n];
      CHECK(there.endpoint == here.endpoint);
      CHECK(there.attempts == here.attempts);
      CHECK(there.state == here.state);
      REQUIRE(there.intervals.size() == here.intervals.size());
      for (std::size_t k = 0; k < here.intervals.size(); ++k) {
        CHECK(there.intervals[k].from == here.intervals[k].from);
        CHECK(there.intervals[k].to == here.intervals[k].to);
        CHECK(there.intervals[k].state == here.intervals[k].state);
        CHECK(there.intervals[k].eligible == here.intervals[k].eligible);
      }
    }
    CHECK(back.timeline.breakers.size() == wrote.timeline.breakers.size());
    CHECK(back.timeline.faults.size() == wrote.timeline.faults.size());
  }
}

TEST_CASE("timeline back: judgements point into the expectations, also after a move") {
  const Run wrote = run("brownout-one-of-four");
  const TimelineBack moved = good(timeline_json(wrote.timeline, wrote.judgements));
  REQUIRE(moved.judgements.size() == wrote.judgements.size());
  for (std::size_t n = 0; n < moved.judgements.size(); ++n) {
    CHECK(moved.judgements[n].expectation == &moved.expectations[n]);
    CHECK(moved.judgements[n].held == wrote.judgements[n].held);
    CHECK(moved.judgements[n].got == wrote.judgements[n].got);
    CHECK(moved.expectations[n].text == wrote.judgements[n].expectation->text);
  }
}

TEST_CASE("timeline back: lines give the same events, and say that series are not in them") {
  const Run wrote = run("brownout-one-of-four");
  const TimelineBack back = good(timeline_jsonl(wrote.timeline, wrote.judgements));
  CHECK_FALSE(back.whole);
  CHECK(event_lines(back.timeline) == event_lines(wrote.timeline));
  CHECK(back.judgements.size() == wrote.judgements.size());
  CHECK(back.timeline.series.requests.empty());
}

TEST_CASE(
    "timeline back: a column that has one value less than the others, and a state that is none, are told") {
  const Run wrote = run("brownout-one-of-four");
  const std::string text = timeline_json(wrote.timeline, wrote.judgements);
  const std::vector<std::string> state = mistakes(altered(text, R"("state":"healthy")", R"("state":"well")"));
  REQUIRE(state.size() == 1);
  CHECK(state[0].find("/intervals/endpoints/0/lane/0/state: ") == 0);
  const std::size_t at = text.find(R"("requests":[)") + std::string(R"("requests":[)").size();
  const std::string shorter = std::string(text).erase(at, text.find(',', at) + 1 - at);
  const std::vector<std::string> column = mistakes(shorter);
  REQUIRE_FALSE(column.empty());
  CHECK(column[0].find(" values: each column has one a bin") != std::string::npos);
}

TEST_CASE("timeline back: whatever the text is cut at, it is a sentence and never a crash") {
  const Run wrote = run("active-readmits-before-eject_ms");
  const std::string text = timeline_json(wrote.timeline, wrote.judgements);
  for (std::size_t keep = 0; keep < text.find_last_of('}'); keep += 997) {
    CAPTURE(keep);
    CHECK_FALSE(mistakes(text.substr(0, keep)).empty());
  }
  CHECK_FALSE(mistakes(std::string(200'000, '[')).empty());
}

TEST_CASE("timeline back: a stream that lost its last lines is told from a run in which all held") {
  const Run wrote = run("brownout-one-of-four");
  const std::string text = timeline_jsonl(wrote.timeline, wrote.judgements);
  const std::string cut = text.substr(0, text.rfind('\n', text.size() - 2) + 1);
  const std::vector<std::string> found = mistakes(cut);
  REQUIRE(found.size() == 1);
  CHECK(found[0] == ": it ends too soon, with 19 of 20 expectations: it was cut off");
}
