#include "sim/writer_json.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "core/hash.hpp"
#include "sim/number_format.hpp"
#include "sim/writer_jsonl.hpp"
#include "tests/sim/handmade.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using halfopen::sim::handmade::MS;

namespace {

std::string line_of(const TimelineEvent& event) {
  std::string out;
  append_event(out, handmade::brownout(), event);
  return out;
}

// Keys in the order of the file.
using Ordered = nlohmann::ordered_json;

std::vector<std::string> keys(const Ordered& object) {
  std::vector<std::string> out;
  for (const auto& item : object.items()) out.push_back(item.key());
  return out;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

Expectation expectation() {
  Expectation out;
  out.text = R"({"event":"endpoint_ejected","count":1})";
  return out;
}

}  // namespace

TEST_CASE("writer_json: an ejection is the line of the specification, with what else was judged at its end") {
  CHECK(line_of(handmade::ejection()) ==
        R"({"t_ms":31250.75,"type":"endpoint_ejected","upstream":"api","endpoint":"10.0.0.1:8080",)"
        R"("rule":"failure_ratio","because":{"streak":2,"threshold":5,"volume":42,"failures":21,"ratio":0.5,)"
        R"("limit":0.5,"min_volume":20,"for_ms":30000}})");
}

TEST_CASE("writer_json: an ejection without any observation has no ratio") {
  TimelineEvent event = handmade::ejection();
  event.because.volume = event.because.failures = 0;
  CHECK(line_of(event).find("\"ratio\":null") != std::string::npos);
}

TEST_CASE("writer_json: half-open names its slots and nothing else") {
  CHECK(
      line_of(handmade::half_open(60 * MS, 1, 3)) ==
      R"({"t_ms":60,"type":"endpoint_half_open","upstream":"api","endpoint":"10.0.0.2:8080","because":{"slots":3}})");
  CHECK(line_of(handmade::half_open(60 * MS, -1, 2)) ==
        R"({"t_ms":60,"type":"breaker_half_open","upstream":"api","because":{"slots":2}})");
}

TEST_CASE("writer_json: a recovery says via what, and counts successes only by active probes") {
  CHECK(line_of(handmade::recovery(5, Via::fail_open)) ==
        R"({"t_ms":0.000005,"type":"endpoint_recovered","upstream":"api","endpoint":"10.0.0.1:8080",)"
        R"("via":"fail_open","because":{"streak":1,"volume":3,"failures":2}})");
  CHECK(
      line_of(handmade::recovery(5, Via::active_probe)) ==
      R"({"t_ms":0.000005,"type":"endpoint_recovered","upstream":"api","endpoint":"10.0.0.1:8080",)"
      R"("via":"active_probe","because":{"streak":1,"volume":3,"failures":2,"successes":2,"threshold":2}})");
}

TEST_CASE("writer_json: breaker events carry no endpoint") {
  CHECK(line_of(handmade::opening(7 * MS)) ==
        R"({"t_ms":7,"type":"breaker_opened","upstream":"api","rule":"consecutive_failures",)"
        R"("because":{"streak":5,"threshold":5,"volume":42,"failures":21,"ratio":0.5,"limit":0.5,)"
        R"("min_volume":20,"for_ms":30000}})");
  CHECK(line_of(handmade::closing(8 * MS)) ==
        R"({"t_ms":8,"type":"breaker_closed","upstream":"api","because":{"volume":60,"failures":30}})");
}

TEST_CASE("writer_json: the document is valid and its keys come in the documented order") {
  const Timeline timeline = handmade::brownout();
  const Expectation expected = expectation();
  const Ordered json = Ordered::parse(timeline_json(timeline, {{true, "exactly 1", "1", &expected}}));
  CHECK(keys(json) == std::vector<std::string>{"format", "meta", "events", "intervals", "series", "summary",
                                               "expectations"});
  CHECK(json["format"] == "halfopen.timeline/1");
  CHECK(keys(json["meta"]) == std::vector<std::string>{"name", "question", "seed", "version", "digest",
                                                       "fingerprint", "duration_ms", "sample_ms"});
  CHECK(json["meta"]["digest"] == "0000000000000abc");
  CHECK(json["events"].size() == 3);
  CHECK(keys(json["intervals"]) == std::vector<std::string>{"endpoints", "breakers", "faults"});
  CHECK(keys(json["series"]) == std::vector<std::string>{"requests", "ok", "failed", "fast_failed", "retried",
                                                         "fail_open_picks", "latency_p50_ms",
                                                         "latency_p95_ms", "latency_p99_ms", "in_flight",
                                                         "endpoints"});
  CHECK(keys(json["summary"]) == std::vector<std::string>{"requests",
                                                          "ok",
                                                          "failed",
                                                          "fast_failed",
                                                          "unfinished",
                                                          "abandoned",
                                                          "attempts",
                                                          "failures",
                                                          "success_ratio",
                                                          "attempts_per_request",
                                                          "latency_p50_ms",
                                                          "latency_p95_ms",
                                                          "latency_p99_ms",
                                                          "fail_open_picks",
                                                          "late_reports_ignored",
                                                          "ejections",
                                                          "breaker_openings",
                                                          "breaker_open_ms",
                                                          "retries",
                                                          "retries_denied",
                                                          "time_to_detect_ms",
                                                          "missed",
                                                          "lost_before_ejection",
                                                          "false_ejections",
                                                          "overload",
                                                          "false_ejection_ms",
                                                          "in_rotation_while_failing_ms",
                                                          "time_to_return_ms",
                                                          "survivor_load_max",
                                                          "survivor_load_mean"});
  CHECK(
      json["expectations"].dump() ==
      R"([{"held":true,"expect":{"event":"endpoint_ejected","count":1},"expected":"exactly 1","got":"1"}])");
}

TEST_CASE("writer_json: lanes say from when to when, and an ejection when it may end") {
  const Ordered json = Ordered::parse(timeline_json(handmade::brownout(), {}));
  const Ordered& lane = json["intervals"]["endpoints"][0]["lane"];
  CHECK(lane[1].dump() == R"({"from_ms":31250.75,"to_ms":61260,"state":"ejected","eligible_ms":61250.75})");
  CHECK(lane[2].dump() == R"({"from_ms":61260,"to_ms":61300,"state":"half_open"})");
  CHECK(json["intervals"]["breakers"][0]["lane"][0]["state"] == "closed");
  CHECK(json["intervals"]["faults"][0].dump() ==
        R"({"endpoint":"10.0.0.1:8080","fault":0,"kind":"error","scope":"both","lane":[[30000,60000]]})");
}

TEST_CASE(
    "writer_json: what was not measured is null, and so is the state of an endpoint that is not configured") {
  Timeline timeline = handmade::brownout();
  timeline.lanes[0].state[1] = -1;
  timeline.lanes[0].state[2] = static_cast<std::int8_t>(LaneState::half_open);
  const Ordered json = Ordered::parse(timeline_json(timeline, {}));
  CHECK(json["series"]["latency_p99_ms"][0].is_null());
  CHECK(json["summary"]["latency_p99_ms"].is_null());
  CHECK(json["series"]["endpoints"][0]["state"][0] == "healthy");
  CHECK(json["series"]["endpoints"][0]["state"][1].is_null());
  CHECK(json["series"]["endpoints"][0]["state"][2] == "half_open");
}

TEST_CASE("writer_json: an empty run is a valid document") {
  const Ordered json = Ordered::parse(timeline_json(Timeline{}, {}));
  CHECK(json["events"].empty());
  CHECK(json["series"]["requests"].empty());
  CHECK(json["summary"]["success_ratio"].is_null());
}

TEST_CASE("writer_json: names with quotes, line ends and broken UTF-8 keep the document valid") {
  Timeline timeline = handmade::brownout();
  timeline.name = "a \"b\"\n\"version\":\xff";
  timeline.upstream_names[0] = "\t\\";
  CHECK(Ordered::parse(timeline_json(timeline, {}))["meta"]["name"] == "a \"b\"\n\"version\":\uFFFD");
}

TEST_CASE("writer_json: every event, lane and column has a line of its own") {
  const std::vector<std::string> all = lines(timeline_json(handmade::brownout(), {}));
  const auto starting = [&all](std::string_view with) {
    return std::count_if(all.begin(), all.end(),
                         [with](const std::string& line) { return line.starts_with(with); });
  };
  CHECK(starting("{\"t_ms\":") == 3);
  CHECK(starting("\"requests\":[") == 1);
  CHECK(starting("{\"upstream\":\"api\",\"endpoint\":") == 2);
  CHECK(starting("\"version\":") == 1);
}

TEST_CASE("writer_json: the fingerprint is the hash of the event lines, each with its line end") {
  const Timeline timeline = handmade::brownout();
  std::string text;
  for (const TimelineEvent& event : timeline.events) text += line_of(event) + '\n';
  CHECK(fingerprint(timeline) == stable_hash(text));
  CHECK(Ordered::parse(timeline_json(timeline, {}))["meta"]["fingerprint"] == hex16(stable_hash(text)));
}

TEST_CASE("writer_json: one nanosecond more in one event is another fingerprint") {
  Timeline timeline = handmade::brownout();
  const std::uint64_t before = fingerprint(timeline);
  timeline.name = "renamed";
  CHECK(fingerprint(timeline) == before);
  timeline.events[1].t += 1;
  CHECK(fingerprint(timeline) != before);
}

TEST_CASE("writer_json: without_version leaves out the value of meta.version and nothing else") {
  CHECK(without_version("{\n\"version\":\"1\",\n\"a\":2}") == "{\n\"version\":\n\"a\":2}");
  CHECK(without_version("{\n\"version\":\"1\",\n\"a\":2}") ==
        without_version("{\n\"version\":\"2.0\",\n\"a\":2}"));
  CHECK(without_version("{\n\"version\":\"1\",\n\"a\":2}") !=
        without_version("{\n\"version\":\"1\",\n\"a\":3}"));
  CHECK(without_version("no such key") == "no such key");
  CHECK(without_version("{\n\"version\":") == "{\n\"version\":");
}

TEST_CASE(
    "writer_jsonl: meta and events and summary and expectations, and a reader can recompute the "
    "fingerprint") {
  const Timeline timeline = handmade::brownout();
  const Expectation expected = expectation();
  const std::vector<std::string> all = lines(timeline_jsonl(timeline, {{false, "x", "y", &expected}}));
  REQUIRE(all.size() == 6);
  const Ordered meta = Ordered::parse(all[0]);
  CHECK(meta["type"] == "meta");
  CHECK(meta["format"] == "halfopen.timeline/1");
  std::string events;
  for (const std::string& line : all) {
    if (Ordered::parse(line).contains("t_ms")) events += line + '\n';
  }
  CHECK(meta["fingerprint"] == hex16(stable_hash(events)));
  CHECK(Ordered::parse(all[4])["type"] == "summary");
  CHECK(Ordered::parse(all[5])["type"] == "expectation");
  CHECK(Ordered::parse(all[5])["held"] == false);
}
