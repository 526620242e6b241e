#include "sim/writer_text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "sim/event_text.hpp"
#include "sim/text_lanes.hpp"
#include "sim/text_names.hpp"
#include "tests/sim/handmade.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::handmade;

namespace {

const TextStyle ASCII{.ascii = true}, ALL{.max_events = std::numeric_limits<std::size_t>::max()};

std::string text_of(const Timeline& timeline, const TextStyle& style = {},
                    const std::vector<Judgement>& judgements = {}) {
  return timeline_text(timeline, judgements, "scenarios/brownout.json", style);
}

}  // namespace

TEST_CASE("writer_text: the account reads like this") {
  const std::string text = text_of(brownout());
  check_page(text);
  CHECK(line_with(text, "brownout") ==
        "brownout                                                           120 s, seed 7");
  CHECK(contains(text,
                 "Does the ratio rule catch a 60 % brownout before the streak rule, and at what\ncost?\n"));
  CHECK(contains(text,
                 "119,700 of 120,000 requests ok (99.75 %); at worst 14.17 % failed (142 of\n  1,002) from "
                 "30 s to 31 s\n"));
  CHECK(contains(text,
                 "  31.251 s  10.0.0.1:8080 ejected: 21 of 42 failed (50 %), limit 50 % from 20;\n"
                 "            streak 2 of 5; out for 30 s\n"));
  CHECK(contains(text, "  61.260 s  10.0.0.1:8080 half-open: 1 trial granted\n"));
  CHECK(contains(text, "  61.300 s  10.0.0.1:8080 recovered: a trial succeeded\n"));
}

TEST_CASE("writer_text: a lane shows the ejection where it was and the trial that ended it") {
  const std::string lane = line_with(text_of(brownout()), "10.0.0.1:8080  ");
  // 58 columns of about 2.07 s: 15 whole ones before 31.25 s, the trial at 61.26 s in column 29.
  CHECK(lane == "  10.0.0.1:8080       " + repeat("█", 15) + repeat("░", 14) + "▒" + repeat("█", 28));
}

TEST_CASE("writer_text: a fault is drawn over its time") {
  const std::string lane = line_with(text_of(brownout()), "10.0.0.1:8080 error");
  CHECK(count_of(lane, "━") == 15);
  CHECK(lane.starts_with("  10.0.0.1:8080 error " + std::string(14, ' ') + "━"));
}

TEST_CASE("writer_text: many trials in one column do not look like one long trial") {
  CHECK(count_of(line_with(text_of(many_trials()), "10.0.0.1:8080  "), "░") == 58);
}

TEST_CASE("writer_text: an endpoint that is not configured leaves a gap") {
  Timeline timeline = brownout();
  timeline.lanes[1].intervals = {{60'000 * MS, 90'000 * MS, LaneState::healthy, {}}};
  const std::string lane = line_with(text_of(timeline), "10.0.0.2:8080  ");
  CHECK(lane.starts_with("  10.0.0.2:8080       " + std::string(29, ' ') + "█"));
  CHECK(columns_of(lane) < 80);
}

TEST_CASE("writer_text: one failure in a sparkline does not look like none") {
  Timeline timeline = brownout();
  timeline.series.failed.assign(120, 0);
  timeline.series.failed[0] = 1000;
  timeline.series.failed[119] = 1;
  CHECK(line_with(text_of(timeline), "  failed   ").ends_with("··▁"));
  for (std::size_t i = 117; i < 120; ++i) timeline.series.requests[i] = 0;  // the last column
  CHECK(line_with(text_of(timeline), "  requests/s").ends_with("█·"));
  CHECK(line_with(text_of(timeline, ASCII), "  failed   ").ends_with("..._"));
}

TEST_CASE("writer_text: the peak in the picture is the headline's, and a column shows its worst bin") {
  Timeline timeline = brownout();
  timeline.series.failed.assign(120, 0);
  timeline.series.failed[61] = timeline.series.failed[62] = 500;
  timeline.series.ok[61] = 505, timeline.series.ok[62] = 500;
  timeline.series.failed[80] = timeline.series.ok[80] = 1;  // as large a share of less
  const std::string text = text_of(timeline);
  CHECK(contains(text, "at worst 50 % failed (500 of 1,000)\n  from 62 s to 63 s\n"));
  CHECK(line_with(text, "  failed   ").starts_with("  failed         50 % "));
  CHECK(count_of(line_with(text, "  failed   "), "█") == 3);  // each of the three bins is in a column
}

TEST_CASE("writer_text: bins wider than columns are drawn as steps") {
  Timeline timeline = brownout();
  timeline.sample = 12'000 * MS;
  timeline.series = {};
  fill_series(timeline, 70, 3, 4);
  CHECK(contains(text_of(timeline), ' ' + repeat("·", 17) + repeat("█", 6) + repeat("·", 35) + '\n'));
}

TEST_CASE("writer_text: names that are too long keep what tells them apart") {
  Timeline timeline = brownout();
  for (const char* name : {"10.0.0.12:8080", "[2001:db8::1]:80", "[2001:db8::2]:80", "db-1.example.com:80"}) {
    timeline.lanes.push_back(endpoint(name, {}));
  }
  const Names mixed(timeline, {});
  CHECK(mixed.shown("10.0.0.1:8080", 13) == "10.0.0.1:8080");
  CHECK(mixed.shown("10.0.0.1:8080", 12) == "10.0.0.1…080");
  CHECK(mixed.shown("10.0.0.12:8080", 10) == "10.0.0.12…");
  CHECK(mixed.shown("[2001:db8::2]:80", 13) == "[2001:db8::2…");
  CHECK(mixed.shown("db-1.example.com:80", 10) == "db….com:80");
  timeline.lanes.resize(3);
  const Names alike(timeline, {});
  CHECK(alike.shown("10.0.0.12:8080", 10) == "10…12:8080");
  CHECK(alike.shown("10.0.0.1:8080", 8) == "1…1:8080");
  CHECK(alike.shown("10.0.0.1:8080", 5) == "…1:8…");
  timeline.lanes.resize(1);
  timeline.lanes[0].endpoint = "[2001:db8:0:0:1::18]:8080";
  timeline.faults = {{"[2001:db8:0:0:1::17]:8080", 0, "brownout", Scope::traffic, {}}};
  CHECK(contains(text_of(timeline), "\n  [200…17]:8080 brownout (traffic)\n"));
}

TEST_CASE("writer_text: a script is drawn where it begins, reloads and clock steps in rows of their own") {
  Timeline timeline = eventful();
  const std::string text = text_of(timeline);
  check_page(text);
  CHECK(contains(text, "\n  10.0.0.3:8080 outcomes " + std::string(27, ' ') + "┝ script, until used up\n"));
  CHECK(contains(text, "\n  reload  " + std::string(24, ' ') + "▾" + std::string(18, ' ') + "▾\n"));
  CHECK(contains(text, "\n  clock   " + std::string(43, ' ') + "◂" + std::string(12, ' ') + "▸\n"));
  CHECK(contains(text, "\n  20.000 s  configuration reloaded\n"));
  CHECK(contains(
      text, "\n  61.260 s  clock stepped back 5 s\n  61.260 s  configuration reloaded\n  61.260 s  api"));
  CHECK(contains(text, "\n  90.000 s  clock stepped forward 1.5 s\n"));
  timeline.clock_steps[1].at = 61'300 * MS;
  timeline.faults[1].intervals[0].from = 119'000 * MS;
  CHECK(line_with(text_of(timeline), "  clock ").ends_with(" ◆"));
  CHECK(line_with(text_of(timeline), "outcomes").ends_with("  script, until used up ┝"));
}

TEST_CASE("writer_text: probes, fail-open picks, and endpoints by upstream") {
  const std::string text = text_of(eventful());
  CHECK(contains(text, "1 ejection, 0 breaker openings, 15 fail-open picks from 31 s to 34 s\n"));
  CHECK(contains(line_with(text, "  fail-open/s"), "  fail-open/s         10 ··"));
  CHECK(contains(text,
                 "\n\n"
                 "  endpoint         attempts  failed   share  ejected       for  probes  failed\n"
                 "  api\n"
                 "    10.0.0.1:8080    29,731     312  1.05 %        1  30.009 s       -       -\n"
                 "    10.0.0.3:8080    29,731       0     0 %        0      0 ms       -       -\n"
                 "  web\n"
                 "    10.0.0.2:8080    29,731       0     0 %        0      0 ms   1,200       3\n"));
  CHECK(contains(text, "  percentiles: lower edge of a 1/128 step\n\n  against the faults\n"));
  CHECK_FALSE(contains(text_of(brownout()), "probes"));
  CHECK_FALSE(contains(text_of(brownout()), "fail-open/s"));
  CHECK_FALSE(contains(text_of(Timeline{}), "percentiles"));
}

TEST_CASE("writer_text: an endpoint that is out and back over and over is told by its first and last times") {
  CHECK(count_of(text_of(restless(6)), " ejected: ") == 7);
  const std::string text = text_of(restless(18));
  check_page(text);
  CHECK(count_of(text, " ejected: ") == 4);
  CHECK(contains(
      text, "\n      ...  out and back 15 times more, 0.300 s to 1.750 s; --all shows them\n  1.800 s  10."));
  CHECK(count_of(text_of(restless(18), ALL), " ejected: ") == 19);
}

TEST_CASE("writer_text: 80 columns, whatever the names") {
  const Timeline timeline = longest_names();
  for (const bool ascii : {false, true}) {
    const std::string text = text_of(timeline, {.ascii = ascii});
    check_page(text);
    CHECK_FALSE(contains(text, "\x1b"));
  }
}

TEST_CASE("writer_text: 80 columns, whatever the numbers") {
  Timeline timeline = largest_numbers();
  check_page(text_of(timeline));
  timeline.lanes[0].probes = timeline.lanes[0].failed_probes = 200'000'000'000;
  const std::string text = text_of(timeline);
  check_page(text);
  CHECK(contains(text, "\n  endpoint                probes           failed\n"));
}

TEST_CASE("writer_text: every length of a run has an axis that fits") {
  for (Nanos duration = 1; duration <= 10'000'000'000 * MS; duration *= 7) {
    CAPTURE(duration);
    Timeline timeline = brownout();
    timeline.duration = duration;
    timeline.sample = duration / 3 + 1;
    timeline.series = {};
    fill_series(timeline, 10, 0, 1);
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
  CHECK(count_of(text_of(busy(500), ALL), " ejected: ") == 500);
}

TEST_CASE("writer_text: of very many endpoints those are drawn to which something happened") {
  Timeline timeline = brownout();
  for (int i = 0; i < 100; ++i) {
    timeline.lanes.insert(timeline.lanes.begin(), endpoint("h" + std::to_string(i) + ":1",
                                                           {{0, timeline.duration, LaneState::healthy, {}}}));
  }
  timeline.events.clear();
  const auto shown = lanes_to_show(timeline, 24);
  CHECK(shown.size() == 24);
  CHECK(std::find(shown.begin(), shown.end(), 100) != shown.end());
  CHECK(contains(text_of(timeline), "  ... and 78 more, healthy throughout\n"));
}

TEST_CASE("writer_text: ASCII means ASCII") {
  Timeline timeline = eventful();
  timeline.name = "Überlast";
  const std::string text = text_of(timeline, ASCII);
  CHECK(std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
  CHECK(contains(line_with(text, "10.0.0.1:8080  "), "###..............+###"));
}

TEST_CASE("writer_text: colour changes nothing but the colour") {
  Scenario scenario;
  scenario.expect = {{ExpectNever{}, {4, 2}, "{}", ""}, {ExpectEvent{}, {5, 2}, "{}", ""}};
  const Timeline timeline = eventful();
  const auto judgements = judge(scenario, timeline);
  const std::string plain = text_of(timeline, {}, judgements);
  const std::string colourful = text_of(timeline, {.colour = true}, judgements);
  CHECK_FALSE(contains(plain, "\x1b"));
  CHECK(contains(colourful, "\x1b"));
  CHECK(without_colour(colourful) == plain);
}

TEST_CASE("writer_text: expectations say which held, and where the others are in the file") {
  Scenario scenario;
  scenario.expect = {{ExpectEvent{}, {4, 2}, "{}", ""}, {ExpectNever{}, {5, 3}, "{}", ""}};
  const Timeline timeline = brownout();
  const std::string text = text_of(timeline, {}, judge(scenario, timeline));
  check_page(text);
  CHECK(contains(text, "  FAILED  1 of 2 expectations did not hold\n"));
  CHECK(contains(text, "  held    at least 1 endpoint_ejected\n"));
  CHECK(contains(
      text, "  FAILED  no endpoint_ejected\n          got 1, at 31250.75 ms; one too many, at 31.251 s:"));
  CHECK(contains(text, "          scenarios/brownout.json:5:3\n"));
}

TEST_CASE("event_text: every count is grouped, and closing does not speak of the window that it empties") {
  TimelineEvent event = ejection();
  event.because.streak = event.because.threshold = 1000;
  CHECK(contains(reason_text(event), "streak 1,000 of 1,000"));
  event.rule = Rule::consecutive_failures;
  CHECK(contains(reason_text(event), "1,000 failures in a row, limit 1,000;"));
  CHECK(reason_text(closing(0)) == "closed: a trial succeeded");
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
  CHECK(decimal(1234567.25, 1) == "1,234,567.2");
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
  const Timeline timeline = many_upstreams();
  const std::string text = text_of(timeline);
  check_page(text);
  CHECK(contains(text, "\nu22\n"));
  CHECK_FALSE(contains(text, "\nu23\n"));
  CHECK(contains(text, "\nu777\n  breaker   "));
  CHECK(count_of(text, "  breaker   ") == 24);
}
