#include "sim/timeline_diff.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <string>

#include "sim/event_text.hpp"
#include "sim/json_source.hpp"
#include "sim/simulation.hpp"
#include "sim/timeline_json.hpp"
#include "sim/utf8.hpp"
#include "sim/writer_json.hpp"
#include "sim/writer_jsonl.hpp"
#include "sim/writer_parts.hpp"
#include "tests/sim/handmade.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using halfopen::sim::handmade::MS;

namespace {

TimelineDiff diff(const std::string& a, const std::string& b) {
  return diff_timelines(a, "a.json", b, "b.json");
}

std::string text_of(const Timeline& timeline) { return timeline_json(timeline, {}); }

// The brownout against itself with one change.
TimelineDiff changed(const std::function<void(Timeline&)>& change) {
  Timeline other = handmade::brownout();
  change(other);
  return diff(text_of(handmade::brownout()), text_of(other));
}

bool has(const TimelineDiff& diff, const std::string& piece) {
  return diff.text.find(piece) != std::string::npos;
}

bool fits_the_page(const std::string& text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (columns_of(std::string_view(text).substr(begin, end - begin)) > PAGE_WIDTH) return false;
    begin = end + 1;
  }
  return true;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

}  // namespace

TEST_CASE("timeline_diff: a timeline is the same as itself, whatever version wrote it") {
  const std::string text = text_of(handmade::brownout());
  const TimelineDiff same = diff(text, replaced(text, "\"version\":\"", "\"version\":\"99."));
  CHECK(same.mistakes.empty());
  CHECK(same.same);
  CHECK(has(same, "the same, 3 events"));
}

TEST_CASE("timeline_diff: order of keys and spelling of numbers make no difference") {
  const std::string text = text_of(handmade::brownout());
  CHECK(diff(text, replaced(text, R"("t_ms":61260,"type":"endpoint_half_open")",
                            R"( "type" : "endpoint_half_open", "t_ms": 61260.0)"))
            .same);
}

TEST_CASE("timeline_diff: the first event that differs is told in both versions, with what differs in it") {
  const TimelineDiff found = changed([](Timeline& timeline) {
    timeline.events[1].t += 1;
    timeline.events[2].because.volume = 4;
  });
  CHECK_FALSE(found.same);
  CHECK(has(found, "differ from event 2 on, of 3 in a.json and 3 in b.json."));
  CHECK(has(found, "The same in both:\n  at 31.251 s: 10.0.0.1:8080 ejected: 21 of 42 failed (50 %)"));
  CHECK(
      has(found,
          "\na.json, line 15:\n  at 61.260 s: 10.0.0.1:8080 half-open: 1 trial granted\n  {\"t_ms\":61260,"));
  CHECK(has(found,
            "\nb.json, line 15:\n  at 61.260 s: 10.0.0.1:8080 half-open: 1 trial granted\n"
            "  {\"t_ms\":61260.000001,"));
  CHECK(has(found, "They differ in t_ms.\nAfter it: 1 event in a.json, 1 event in b.json.\n"));
  CHECK_FALSE(has(found, "fingerprint"));
  CHECK(fits_the_page(found.text));
}

TEST_CASE("timeline_diff: three common events stand before the first that differs, and not four") {
  const auto with_four_common = [](Nanos last) {
    Timeline timeline = handmade::busy(6);
    timeline.events[4].t = last;
    return text_of(timeline);
  };
  const TimelineDiff found = diff(with_four_common(500 * MS), with_four_common(501 * MS));
  CHECK(has(found, "from event 5 on"));
  CHECK(has(found, "The same in both, and more before:\n  at 0.200 s"));
  CHECK_FALSE(has(found, "at 0.100 s"));
  CHECK(has(found, "at 0.400 s"));
}

TEST_CASE("timeline_diff: a timeline that ends earlier differs where it ends") {
  const std::string whole = text_of(handmade::busy(4)), cut = text_of(handmade::busy(3));
  const TimelineDiff shorter = diff(cut, whole), longer = diff(whole, cut);
  CHECK(has(shorter, "from event 4 on, of 3 in a.json and 4 in b.json."));
  CHECK(has(shorter, "a.json: no more events\n\nb.json, line 17:\n  at 0.400 s"));
  CHECK(has(shorter, "After it: 0 events in a.json, 0 events in b.json."));
  CHECK(has(longer, "b.json: no more events\n"));
  CHECK_FALSE(has(longer, "They differ in"));
  CHECK(diff(text_of(handmade::busy(0)), text_of(handmade::busy(0))).same);
  CHECK(has(diff(text_of(handmade::busy(0)), text_of(handmade::busy(1))), "from event 1 on, of 0 in"));
}

TEST_CASE("timeline_diff: upstreams are named where there are several") {
  Timeline timeline = handmade::eventful(), other = timeline;
  timeline.events.push_back(handmade::ejection(70'000 * MS, 1));
  timeline.events.back().upstream = 1;
  const TimelineDiff found = diff(text_of(timeline), text_of(other));
  CHECK(has(found, "  at 70.000 s: web 10.0.0.2:8080 ejected"));
}

TEST_CASE(
    "timeline_diff: with the same events, every metric that differs is told, and meta but for its version") {
  const TimelineDiff found = changed([](Timeline& timeline) {
    timeline.digest = 0xABD;
    timeline.seed = 8;
    timeline.summary.ok -= 1;
    timeline.summary.failed += 1;
    timeline.summary.latency_p99_ms = 5;
  });
  CHECK_FALSE(found.same);
  CHECK(has(found, "The events are the same, 3 events; other things are not."));
  CHECK(has(found, "meta, digest: \"0000000000000abc\" | \"0000000000000abd\"\n"));
  CHECK(has(found, "meta, seed: 7 | 8\n"));
  CHECK(has(found, "summary, failed: 300 | 301\n"));
  CHECK(has(found, "summary, latency_p99_ms: null | 5\n"));
  CHECK(has(found, "summary, ok: 119700 | 119699\n"));
}

TEST_CASE("timeline_diff: a series differs in a column and a bin, an interval in a lane") {
  const TimelineDiff series = changed([](Timeline& timeline) {
    timeline.series.failed[31] = 143;
    timeline.series.failed[119] = 1;
  });
  CHECK(has(series, "series, failed, bin 31 (from 31 s): 142 | 143 (the first of 2 values that\ndiffer)\n"));
  const TimelineDiff of_endpoint = changed([](Timeline& timeline) { timeline.lanes[1].attempts[0] = 1; });
  CHECK(has(of_endpoint, "series, endpoints, api 10.0.0.2:8080, attempts, bin 0 (from 0 ms): 250 | 1\n"));
  const TimelineDiff longer = changed([](Timeline& timeline) { timeline.series.ok.push_back(5); });
  CHECK(has(longer, "series, ok, bin 120 (from 120 s): nothing | 5\n"));
  const TimelineDiff lane =
      changed([](Timeline& timeline) { timeline.lanes[0].intervals[1].eligible.reset(); });
  CHECK(
      has(lane, "intervals, endpoints, api 10.0.0.1:8080, lane, no. 2, eligible_ms: 61250.75 |\nnothing\n"));
  const TimelineDiff more = changed([](Timeline& timeline) { timeline.faults.clear(); });
  CHECK(has(more, "intervals, faults, 10.0.0.1:8080 error: an object | nothing\n"));
}

TEST_CASE("timeline_diff: one object a line is compared with one document in what both have") {
  const Timeline timeline = handmade::brownout();
  const std::string lines = timeline_jsonl(timeline, {});
  const TimelineDiff same = diff(text_of(timeline), lines);
  CHECK(same.mistakes.empty());
  CHECK(same.same);
  CHECK(has(same, "Intervals and series are in one of the files only"));
  CHECK(diff(lines, lines).text.find("one of the files only") == std::string::npos);
  const TimelineDiff other = diff(lines, timeline_jsonl(handmade::busy(3), {}));
  CHECK(has(other, "from event 1 on"));
  CHECK(has(other, "a.json, line 2:\n"));
  // Events alone are a stream as well.
  const std::size_t meta_ends = lines.find('\n') + 1;
  const std::string events = lines.substr(meta_ends, lines.find("{\"type\":\"summary\"") - meta_ends);
  CHECK(diff(events, "\n" + events).mistakes.size() == 1);  // a stream says what it is in its first line
  CHECK(diff(events, events + "\n\n").same);
  CHECK(diff(events, text_of(timeline)).same);
}

TEST_CASE("timeline_diff: an event of another version is told as it stands") {
  const std::string text = text_of(handmade::brownout());
  const std::string other = replaced(text, "endpoint_recovered", "endpoint_revived");
  const TimelineDiff found = diff(text, other);
  CHECK(has(found, "at 61300 ms: \"endpoint_revived\" (an event that this version does not know)"));
  CHECK(has(found, "They differ in type."));
}

TEST_CASE("timeline_diff: what is no timeline is refused with every mistake in its place") {
  const std::string good = text_of(handmade::brownout());
  const auto refused = [&good](const std::string& bad) {
    const TimelineDiff found = diff(good, bad);
    CHECK_FALSE(found.same);
    CHECK(found.text.empty());
    REQUIRE_FALSE(found.mistakes.empty());
    for (const Mistake& mistake : found.mistakes) CHECK(mistake.file == "b.json");
    return found.mistakes.front().text();
  };
  CHECK(refused("").find("b.json:1:1: ") == 0);
  CHECK(refused("[]").find("b.json:1:1: a timeline must be an object") == 0);
  CHECK(refused("{}").find("needs the key \"format\"") != std::string::npos);
  CHECK(refused(replaced(good, "timeline/1", "timeline/2")).find("b.json:2:10: /format: ") == 0);
  CHECK(refused(replaced(good, "\"t_ms\":61260,", ""))
            .find("b.json:15:1: /events/1: an event needs the key \"t_ms\"") == 0);
  CHECK(refused(replaced(good, "\"t_ms\":61260", "\"t_ms\":-1")).find("b.json:15:9: /events/1/t_ms: ") == 0);
  CHECK(refused(good + good).find("b.json:") == 0);
  CHECK(refused(std::string(100'000, '[')).find("nested more than") != std::string::npos);
  CHECK(refused(replaced(good, "\"seed\":7", "\"seed\":7,\"seed\":7")).find("stands twice") !=
        std::string::npos);
  const std::string lines = timeline_jsonl(handmade::brownout(), {});
  CHECK(refused(lines + lines).find("b.json:6:1: the file holds several timelines") == 0);
  CHECK(refused(lines + "{\"t_ms\":1\n").find("b.json:6:") == 0);
  CHECK(refused(lines + "7\n").find("b.json:6:1: a line of a timeline must be an object, not 7") == 0);
  CHECK(diff("", "").mistakes.size() == 2);
}

TEST_CASE("timeline_diff: no damage to a file does more than be told") {
  const std::string good = text_of(handmade::eventful()), lines = timeline_jsonl(handmade::eventful(), {});
  const auto survives = [](const std::string& whole, const std::string& damaged) {
    const TimelineDiff found = diff(whole, damaged);
    CHECK(found.mistakes.empty() != found.text.empty());
    CHECK((found.same || found.mistakes.empty() || found.text.empty()));
    return found.same;
  };
  for (const std::string* whole : {&good, &lines}) {
    for (std::size_t cut = 1; cut < whole->size(); cut += 97) survives(*whole, whole->substr(0, cut));
    for (std::size_t at = 0; at < whole->size(); at += 89) {
      for (const char c : {'"', '{', ']', '0', '-', 'e', '\0', '\xFF'}) {
        std::string damaged = *whole;
        damaged[at] = c;
        survives(*whole, damaged);
      }
    }
  }
}

TEST_CASE("timeline_diff: names from files do not reach the terminal raw, and lines keep to the page") {
  const Timeline long_names = handmade::longest_names();
  Timeline other = long_names;
  other.events.pop_back();
  const TimelineDiff found =
      diff_timelines(text_of(long_names), std::string(120, 'p') + "\x1b[2J", text_of(other), "b");
  CHECK(found.text.find('\x1b') == std::string::npos);
  CHECK(fits_the_page(found.text));
}

TEST_CASE("timeline_diff: an event read back has the sentence that its run had for it") {
  std::size_t told = 0;
  for (const char* name :
       {"brownout-one-of-four", "breaker-before-ejection", "active-readmits-before-eject_ms", "late-report",
        "brownout-all", "failed-trial"}) {
    const Loaded loaded = load_scenario_file("scenarios/" + std::string(name) + ".json");
    REQUIRE(loaded.scenario);
    const Timeline timeline = simulate(*loaded.scenario);
    const std::string text = timeline_json(timeline, {});
    const ReadTimeline read = read_timeline(text, name);
    REQUIRE(read.timeline);
    REQUIRE(read.timeline->events.size() == timeline.events.size());
    for (std::size_t n = 0; n < timeline.events.size(); ++n) {
      const bool several = timeline.upstream_names.size() > 1;
      CHECK(event_sentence(read.timeline->events[n], several) == event_text(timeline, timeline.events[n]));
      const EventPlace& place = read.timeline->places[n];
      std::string line;
      append_event(line, timeline, timeline.events[n]);
      CHECK(text.substr(place.begin, place.end - place.begin) == line);
      ++told;
    }
  }
  CHECK(told > 50);
}
