#include "sim/writer_text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <sstream>
#include <string>

#include "sim/text_lanes.hpp"
#include "sim/utf8.hpp"
#include "tests/sim/handmade.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using halfopen::sim::handmade::MS;

namespace {

std::string text_of(const Timeline& timeline, const TextStyle& style = {},
                    const std::vector<Judgement>& judgements = {}) {
  return timeline_text(timeline, judgements, "scenarios/brownout.json", style);
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

std::string line_with(const std::string& text, std::string_view part, std::size_t nth = 0) {
  for (const std::string& line : lines(text)) {
    if (line.find(part) != std::string::npos && nth-- == 0) return line;
  }
  return "";
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

void check_page(const std::string& text) {
  for (const std::string& line : lines(text)) {
    CAPTURE(line);
    CHECK(columns_of(line) <= PAGE_WIDTH);
  }
}

std::string without_colour(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\x1b') {
      out += text[at];
      continue;
    }
    while (text[at] != 'm') ++at;
  }
  return out;
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t out = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++out;
  return out;
}

Timeline busy(std::size_t events) {
  Timeline timeline = handmade::brownout();
  timeline.events.clear();
  for (std::size_t i = 0; i < events; ++i) timeline.events.push_back(handmade::ejection((i + 1) * 100 * MS));
  return timeline;
}

}  // namespace

TEST_CASE("writer_text: the account reads like this") {
  const std::string text = text_of(handmade::brownout());
  check_page(text);
  CHECK(line_with(text, "brownout") ==
        "brownout                                                           120 s, seed 7");
  CHECK(contains(text,
                 "Does the ratio rule catch a 60 % brownout before the streak rule, and at what\ncost?\n"));
  CHECK(contains(text, "119,700 of 120,000 requests ok (99.75 %); at worst 14.17 % failed"));
  CHECK(contains(text,
                 "  31.251 s  10.0.0.1:8080 ejected: 21 of 42 failed (50 %), limit 50 % from 20;\n"
                 "            streak 2 of 5; out for 30 s\n"));
  CHECK(contains(text, "  61.260 s  10.0.0.1:8080 half-open: 1 trial granted\n"));
  CHECK(contains(text, "  61.300 s  10.0.0.1:8080 recovered: a trial succeeded\n"));
}

TEST_CASE("writer_text: a lane shows the ejection where it was and the trial that ended it") {
  const std::string lane = line_with(text_of(handmade::brownout()), "10.0.0.1:8080  ");
  // 58 columns of about 2.07 s: 15 whole ones before 31.25 s, the trial at 61.26 s in column 29.
  const auto times = [](std::string_view piece, std::size_t n) {
    std::string out;
    while (n-- > 0) out += piece;
    return out;
  };
  CHECK(lane == "  10.0.0.1:8080       " + times("█", 15) + times("░", 14) + "▒" + times("█", 28));
}

TEST_CASE("writer_text: a fault is drawn over its time") {
  const std::string lane = line_with(text_of(handmade::brownout()), "10.0.0.1:8080 error");
  CHECK(count_of(lane, "━") == 15);
  CHECK(lane.starts_with("  10.0.0.1:8080 error " + std::string(14, ' ') + "━"));
}

TEST_CASE("writer_text: many trials in one column do not look like one long trial") {
  Timeline timeline = handmade::brownout();
  auto& intervals = timeline.lanes[0].intervals;
  intervals.clear();
  for (Nanos t = 0; t < timeline.duration; t += 500 * MS) {
    intervals.push_back({t, t + 480 * MS, LaneState::ejected, t + 480 * MS});
    intervals.push_back({t + 480 * MS, t + 500 * MS, LaneState::half_open, {}});
  }
  const std::string lane = line_with(text_of(timeline), "10.0.0.1:8080  ");
  CHECK(count_of(lane, "░") == 58);
}

TEST_CASE("writer_text: an endpoint that is not configured leaves a gap") {
  Timeline timeline = handmade::brownout();
  timeline.lanes[1].intervals = {{60'000 * MS, 90'000 * MS, LaneState::healthy, {}}};
  const std::string lane = line_with(text_of(timeline), "10.0.0.2:8080  ");
  CHECK(lane.starts_with("  10.0.0.2:8080       " + std::string(29, ' ') + "█"));
  CHECK(columns_of(lane) < 80);
}

TEST_CASE("writer_text: one failure in a sparkline does not look like none") {
  Timeline timeline = handmade::brownout();
  timeline.series.failed.assign(120, 0);
  timeline.series.failed[0] = 1000;
  timeline.series.failed[119] = 1;
  const std::string spark = line_with(text_of(timeline), "  failed   ", 0);
  CHECK(spark.ends_with("▁▂"));
}

TEST_CASE("writer_text: 80 columns, whatever the names") {
  Timeline timeline = handmade::brownout();
  timeline.name = std::string(200, 'n');
  timeline.question =
      std::string(300, 'q') +
      " \x1b[31m 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字";
  timeline.upstream_names = {std::string(120, 'u'), "漢字"};
  timeline.lanes[0].endpoint = "[2001:0db8:85a3:0000:0000:8a2e:0370:7334]:65535";
  timeline.lanes[1].endpoint = std::string(253, 'h') + ":8080";
  timeline.faults[0].endpoint = timeline.lanes[1].endpoint;
  timeline.faults[0].scope = Scope::traffic;
  timeline.seed = std::numeric_limits<std::uint64_t>::max();
  timeline.events.push_back(handmade::opening(70'000 * MS));
  for (const bool ascii : {false, true}) {
    TextStyle style;
    style.ascii = ascii;
    const std::string text = text_of(timeline, style);
    check_page(text);
    CHECK_FALSE(contains(text, "\x1b"));
  }
}

TEST_CASE("writer_text: 80 columns, whatever the numbers") {
  Timeline timeline = busy(100);
  Summary& s = timeline.summary;
  s.requests = s.ok = s.failed = s.attempts = s.failures = s.retries = s.fail_open_picks = 200'000'000'000;
  s.latency_p50_ms = s.latency_p95_ms = 9'999'999'999.123;
  s.breaker_open_ms = 9'999'999'999;
  timeline.lanes[0].total_attempts = timeline.lanes[0].total_failures = 200'000'000'000;
  timeline.events.back().because.volume = timeline.events.back().because.failures = 200'000'000'000;
  timeline.events.back().because.for_ms = 1'000'000'000'000;
  check_page(text_of(timeline));
}

TEST_CASE("writer_text: every length of a run has an axis that fits") {
  for (Nanos duration = 1; duration <= 10'000'000'000 * MS; duration *= 7) {
    CAPTURE(duration);
    Timeline timeline = handmade::brownout();
    timeline.duration = duration;
    timeline.sample = duration / 3 + 1;
    timeline.series = {};
    handmade::fill_series(timeline, 10, 0, 1);
    check_page(text_of(timeline));
  }
}

TEST_CASE("writer_text: an empty run has an account") { check_page(text_of(Timeline{})); }

TEST_CASE("writer_text: up to 40 events are shown whole, beyond that the first 30 and the last 10") {
  CHECK(count_of(text_of(busy(40)), " ejected: ") == 40);
  CHECK_FALSE(contains(text_of(busy(40)), "--all"));
  const std::string cut = text_of(busy(41));
  CHECK(count_of(cut, " ejected: ") == 40);
  CHECK(contains(cut, "  ... 1 event more, shown with --all ...\n"));
  CHECK(contains(text_of(busy(500)), "  ... 460 events more, shown with --all ...\n"));
  TextStyle all;
  all.max_events = std::numeric_limits<std::size_t>::max();
  CHECK(count_of(text_of(busy(500), all), " ejected: ") == 500);
}

TEST_CASE("writer_text: of very many endpoints those are drawn to which something happened") {
  Timeline timeline = handmade::brownout();
  for (int i = 0; i < 100; ++i) {
    timeline.lanes.insert(
        timeline.lanes.begin(),
        handmade::endpoint("h" + std::to_string(i) + ":1", {{0, timeline.duration, LaneState::healthy, {}}}));
  }
  timeline.events.clear();
  const auto shown = lanes_to_show(timeline, 24);
  CHECK(shown.size() == 24);
  CHECK(std::find(shown.begin(), shown.end(), 100) != shown.end());
  CHECK(contains(text_of(timeline), "  ... and 78 more, healthy throughout\n"));
}

TEST_CASE("writer_text: ASCII means ASCII") {
  Timeline timeline = handmade::brownout();
  timeline.name = "Überlast";
  TextStyle style;
  style.ascii = true;
  const std::string text = text_of(timeline, style);
  CHECK(std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
  CHECK(contains(line_with(text, "10.0.0.1:8080  "), "###..............+###"));
}

TEST_CASE("writer_text: colour changes nothing but the colour") {
  Scenario scenario;
  scenario.expect = {{ExpectNever{}, {4, 2}, "{}", ""}, {ExpectEvent{}, {5, 2}, "{}", ""}};
  const Timeline timeline = handmade::brownout();
  const auto judgements = judge(scenario, timeline);
  TextStyle style;
  const std::string plain = text_of(timeline, style, judgements);
  style.colour = true;
  const std::string colourful = text_of(timeline, style, judgements);
  CHECK_FALSE(contains(plain, "\x1b"));
  CHECK(contains(colourful, "\x1b"));
  CHECK(without_colour(colourful) == plain);
}

TEST_CASE("writer_text: expectations say which held, and where the others are in the file") {
  Scenario scenario;
  scenario.expect = {{ExpectEvent{}, {4, 2}, "{}", ""}, {ExpectNever{}, {5, 3}, "{}", ""}};
  const Timeline timeline = handmade::brownout();
  const std::string text = text_of(timeline, {}, judge(scenario, timeline));
  check_page(text);
  CHECK(contains(text, "  FAILED  1 of 2 expectations did not hold\n"));
  CHECK(contains(text, "  held    at least 1 endpoint_ejected\n"));
  CHECK(contains(
      text, "  FAILED  no endpoint_ejected\n          got 1, at 31250.75 ms; one too many, at 31.251 s:"));
  CHECK(contains(text, "          scenarios/brownout.json:5:3\n"));
}

TEST_CASE("text_layout: wrapping, shortening and numbers") {
  CHECK(wrap("", 10) == std::vector<std::string>{""});
  CHECK(wrap("a bb  ccc", 4) == std::vector<std::string>{"a bb", "ccc"});
  CHECK(wrap("abcdefgh", 3) == std::vector<std::string>{"abc", "def", "gh"});
  CHECK(wrap("out for 30 s", 10) == std::vector<std::string>{"out for", "30 s"});
  CHECK(shorten("10.0.0.1:8080", 13, false) == "10.0.0.1:8080");
  CHECK(shorten("10.0.0.1:8080", 9, false) == "10.0…8080");
  CHECK(shorten("10.0.0.1:8080", 9, true) == "10....080");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1'000) == "1,000");
  CHECK(grouped(1'234'567) == "1,234,567");
  CHECK(percent(0.5) == "50 %");
  CHECK(percent(1) == "100 %");
  CHECK(percent(0.999999) == "> 99.99 %");
  CHECK(percent(0.000001) == "< 0.01 %");
  CHECK(length_text(0) == "0 ms");
  CHECK(length_text(250 * MS) == "250 ms");
  CHECK(length_text(1'500 * MS) == "1.5 s");
  CHECK(length_text(1'999 * MS + 999'999) == "2 s");
  CHECK(length_text(30'000 * MS) == "30 s");
  CHECK(instant_text(31'250 * MS + 750'000) == "31.251 s");
  CHECK(instant_text(0) == "0.000 s");
}

TEST_CASE(
    "writer_text: of very many upstreams those are drawn whose endpoints are, or whose breaker opened") {
  Timeline timeline = handmade::brownout();
  timeline.events.clear();
  for (std::uint32_t i = 1; i <= 1000; ++i) {
    timeline.upstream_names.push_back("u" + std::to_string(i));
    timeline.lanes.push_back(handmade::endpoint("h:1", {{0, timeline.duration, LaneState::healthy, {}}}));
    timeline.lanes.back().upstream = i;
    timeline.breakers.push_back({i, {{0, timeline.duration, LaneState::closed, {}}}});
  }
  timeline.breakers[777].intervals = {{0, 5 * MS, LaneState::closed, {}},
                                      {5 * MS, timeline.duration, LaneState::open, {}}};
  const std::string text = text_of(timeline);
  check_page(text);
  CHECK(contains(text, "\nu22\n"));
  CHECK_FALSE(contains(text, "\nu23\n"));
  CHECK(contains(text, "\nu777\n  breaker   "));
  CHECK(count_of(text, "  breaker   ") == 24);
}
