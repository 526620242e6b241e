// What each machine of `step` shows, operation by operation.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/balancer.hpp"
#include "core/hash.hpp"
#include "core/random.hpp"
#include "tests/sim/step_run.hpp"

using namespace halfopen::sim::steps;

namespace {

constexpr const char* TWO = R"("endpoints":[{"address":"a","port":1},{"address":"b","port":2}])";

std::string build(const std::string& rest = "", const std::string& op = "build") {
  return R"({"op":")" + op + R"(",)" + TWO + rest + "}";
}
TEST_CASE("step health: parameters keep what they don't name, and one bad value keeps them all") {
  const std::vector<std::string> lines{R"({"op":"params","consecutive_failures":2,"eject_ms":10})",
                                       R"({"op":"params","eject_ms":20,"window_ms":0})",
                                       R"({"op":"params","eject_ms":"20"})",
                                       R"({"op":"params","half_open_probes":65536})",
                                       R"({"op":"params","failure_ratio":1.5})",
                                       R"({"op":"params","failure_min_volume":4294967296})",
                                       R"({"op":"params","failure_ratio":1})",
                                       R"({"op":"report","t":1,"failure":true})",
                                       R"({"op":"report","t":1,"failure":true})",
                                       R"({"op":"is_available","t":10})",
                                       R"({"op":"is_available","t":11})"};
  const Run run = step("health", lines);
  REQUIRE(run.answers.size() == lines.size());
  for (std::size_t n = 1; n <= 5; ++n) CHECK(run.answers[n].contains("error"));
  CHECK(run.answers[8]["events"] ==
        json::parse(R"([{"type":"endpoint_ejected","rule":"consecutive_failures"}])"));
  CHECK(run.answers[9]["result"] == false);
  CHECK(run.answers[10]["result"] == true);
}

TEST_CASE(
    "step health: a question answers true or false, a report null, and an expired ejection reads half_open") {
  const auto seen =
      answers("health",
              {R"({"op":"params","consecutive_failures":1,"eject_ms":100})",
               R"({"op":"report","t":5,"failure":true})", R"({"op":"is_candidate","t":104})",
               R"({"op":"is_available","t":105})", R"({"op":"params"})", R"({"op":"consume_probe","t":105})",
               R"({"op":"is_candidate","t":105})", R"({"op":"consume_probe"})", R"({"op":"acquire","t":105})",
               R"({"op":"report","t":106,"failure":false})"});
  CHECK(seen[0]["result"].is_null());
  CHECK(seen[1]["result"].is_null());
  CHECK(seen[1]["state"] == "ejected");
  CHECK(seen[1]["ejections"] == 1);
  CHECK(seen[1]["streak"] == 0);
  CHECK(seen[2]["result"] == false);
  CHECK(seen[3]["result"] == true);
  CHECK(seen[3]["state"] == "half_open");
  CHECK(seen[3]["events"].empty());
  CHECK(seen[4]["state"] == "ejected");  // no t is 0
  CHECK(seen[5]["result"] == false);     // still ejected: no pick has met it
  CHECK(seen[6]["events"] == json::parse(R"([{"type":"endpoint_half_open"}])"));
  CHECK(seen[7]["result"] == true);
  CHECK(seen[7]["state"] == "half_open");
  CHECK(seen[8]["result"] == false);
  CHECK(seen[9]["events"] == json::parse(R"([{"type":"endpoint_recovered","via":"half_open_probe"}])"));
}

TEST_CASE("step health: the window is shown as stored, however late one looks") {
  const auto seen =
      answers("health", {R"({"op":"params","window_ms":10})", R"({"op":"report","t":0,"failure":true})",
                         R"({"op":"is_candidate","t":1000})", R"({"op":"report","t":9,"failure":false})",
                         R"({"op":"report_probe","t":50,"failure":true})",
                         R"({"op":"report","t":10,"failure":false})"});
  CHECK(seen[2]["window_total"] == 1);
  CHECK(seen[3]["window_total"] == 2);
  CHECK(seen[4]["window_total"] == 2);
  CHECK(seen[4]["streak"] == 1);
  CHECK(seen[5]["window_total"] == 2);
  CHECK(seen[5]["window_failures"] == 0);
}

TEST_CASE("step health: verdicts need a loop, which keeps the parameters of its start") {
  const Run early =
      step("health", {R"({"op":"verdict","ok":true})", R"({"op":"active","success_threshold":2})",
                      R"({"op":"active","success_threshold":0,"failure_threshold":1})",
                      R"({"op":"verdict","ok":true})"});
  CHECK(early.status == 2);
  for (const json& answer : early.answers) CHECK(answer.contains("error"));

  const auto seen =
      answers("health", {R"({"op":"params","eject_ms":100})",
                         R"({"op":"active","success_threshold":2,"failure_threshold":1})",
                         R"({"op":"params","eject_ms":5000})", R"({"op":"verdict","t":0,"ok":false})",
                         R"({"op":"is_available","t":100})", R"({"op":"verdict","t":50,"ok":true})",
                         R"({"op":"verdict","t":60,"ok":true})"});
  CHECK(seen[3]["state"] == "ejected");
  CHECK(seen[3]["window_total"] == 0);
  CHECK(seen[4]["result"] == true);
  CHECK(seen[5]["state"] == "ejected");
  CHECK(seen[6]["events"] == json::parse(R"([{"type":"endpoint_recovered","via":"active_probe"}])"));
}

TEST_CASE("step breaker: each state with the one number that belongs to it, and Retry-After is rounded up") {
  const auto seen = answers(
      "breaker", {R"({"op":"params","consecutive_failures":2,"open_ms":2001,"half_open_probes":2})",
                  R"({"op":"report","t":10,"failure":true})", R"({"op":"report","t":10,"failure":true})",
                  R"({"op":"check","t":10})", R"({"op":"check","t":11})", R"({"op":"check","t":2010})",
                  R"({"op":"check","t":2011})", R"({"op":"check","t":2011})", R"({"op":"check","t":2011})",
                  R"({"op":"report","t":2012,"failure":true})"});
  CHECK(seen[1]["state"] == "closed");
  CHECK(seen[1]["streak"] == 1);
  CHECK_FALSE(seen[1].contains("until_ms"));
  CHECK(seen[2]["state"] == "open");
  CHECK(seen[2]["until_ms"] == 2011);
  CHECK_FALSE(seen[2].contains("streak"));
  CHECK(seen[3]["result"] == json::parse(R"({"decision":"reject","retry_after_ms":2001,"retry_after_s":3})"));
  CHECK(seen[4]["result"] == json::parse(R"({"decision":"reject","retry_after_ms":2000,"retry_after_s":2})"));
  CHECK(seen[5]["result"] == json::parse(R"({"decision":"reject","retry_after_ms":1,"retry_after_s":1})"));
  CHECK(seen[6]["result"] == json::parse(R"({"decision":"allow"})"));
  CHECK(seen[6]["events"] == json::parse(R"([{"type":"breaker_half_open"}])"));
  CHECK(seen[6]["probes_left"] == 1);
  CHECK(seen[7]["probes_left"] == 0);
  CHECK(seen[8]["result"] == json::parse(R"({"decision":"reject","retry_after_ms":1000,"retry_after_s":1})"));
  CHECK(seen[8]["state"] == "half_open");
  CHECK(seen[9]["result"].is_null());
  CHECK(seen[9]["events"] == json::parse(R"([{"type":"breaker_opened","rule":"half_open_probe_failed"}])"));
}

TEST_CASE("step breaker: counts leave out what has aged at t, and params shows them as stored") {
  const auto seen =
      answers("breaker", {R"({"op":"report","t":0,"failure":true})", R"({"op":"check","t":59999})",
                          R"({"op":"check","t":60000})", R"({"op":"params","t":60000})"});
  CHECK(seen[1]["window_total"] == 1);
  CHECK(seen[2]["window_total"] == 0);
  CHECK(seen[2]["window_failures"] == 0);
  CHECK(seen[2]["streak"] == 1);
  CHECK(seen[3]["window_total"] == 1);
  CHECK(seen[3]["window_failures"] == 1);
}

TEST_CASE("step retry_budget: a tenth grants the first retry at ten requests") {
  std::vector<std::string> lines(9, R"({"op":"request","t":1})");
  lines.insert(lines.end(),
               {R"({"op":"reserve","t":1,"percent":10})", R"({"op":"request","t":1})",
                R"({"op":"reserve","t":1,"percent":10})", R"({"op":"reserve","t":1,"percent":10})"});
  const auto seen = answers("retry_budget", lines);
  CHECK(seen[9]["result"] == false);
  CHECK(seen[11]["result"] == true);
  CHECK(seen[11]["retries"] == 1);
  CHECK(seen[12]["result"] == false);

  const Run wrong = step("retry_budget", {R"({"op":"reserve","percent":0})", R"({"op":"reserve"})",
                                          R"({"op":"reserve","percent":4294967296})"});
  for (const json& answer : wrong.answers) CHECK(answer.contains("error"));
}

TEST_CASE("step retry_budget: a nominal backoff takes any base, cap and retry") {
  const auto seen =
      answers("retry_budget", {R"({"op":"nominal_backoff","base_ms":25,"cap_ms":250,"retry":4})",
                               R"({"op":"nominal_backoff","base_ms":25,"cap_ms":250,"retry":5})",
                               R"({"op":"nominal_backoff","base_ms":300,"cap_ms":0,"retry":9})",
                               R"({"op":"nominal_backoff","base_ms":1,"cap_ms":18446744073709551615,)"
                               R"("retry":18446744073709551615})"});
  CHECK(seen[0]["result"] == 200);
  CHECK(seen[1]["result"] == 250);
  CHECK(seen[2]["result"] == 300);
  CHECK(seen[3]["result"] == 18446744073709551615U);
  CHECK(step("retry_budget", {R"({"op":"nominal_backoff","base_ms":1,"cap_ms":1,"retry":0})"}).status == 2);
}

TEST_CASE("step upstream: nothing comes before build, and a bad configuration leaves the old one") {
  const std::vector<std::string> lines{
      build("", "rebuild"),
      R"({"op":"pick"})",
      R"({"op":"done","dispatch":1,"failure":true})",
      build(),
      R"({"op":"rebuild","endpoints":[]})",
      R"({"op":"rebuild"})",
      R"({"op":"rebuild","endpoints":[{"address":"a"}]})",
      R"({"op":"rebuild","endpoints":[{"address":"a","port":1},{"address":"a","port":1}]})",
      R"({"op":"rebuild","endpoints":[{"address":"a","port":1,"weight":65536},{"address":"b","port":1}]})",
      build(R"(,"health":null)", "rebuild"),
      build(R"(,"health":{"eject_ms":0})", "rebuild"),
      build(R"(,"load_balancer":"least")", "rebuild"),
      build(R"(,"late_reports":true)"),
      R"({"op":"pick","key":5})"};
  const Run run = step("upstream", lines);
  REQUIRE(run.answers.size() == lines.size());
  for (std::size_t n = 0; n < lines.size(); ++n) {
    CAPTURE(lines[n]);
    CHECK(run.answers[n].contains("error") == (n != 3));
  }
  CHECK(run.answers[4]["line"] == 5);
}

TEST_CASE(
    "step upstream: dispatches are numbered from 1 since build, in-flight goes up and down in set order") {
  const auto seen = answers("upstream", {build(), R"({"op":"pick"})", R"({"op":"pick"})", R"({"op":"pick"})",
                                         R"({"op":"done","dispatch":1,"failure":true})",
                                         R"({"op":"abandon","dispatch":2})", build(), R"({"op":"pick"})"});
  CHECK(seen[0]["states"] == json::parse("[null,null]"));
  CHECK(seen[0]["breaker"].is_null());
  CHECK_FALSE(seen[0].contains("dispatch"));
  CHECK(seen[1]["result"] == "a:1");
  CHECK(seen[1]["dispatch"] == 1);
  CHECK(seen[2]["result"] == "b:2");
  CHECK(seen[3]["dispatch"] == 3);
  CHECK(seen[3]["inflight"] == json::parse("[2,1]"));
  CHECK(seen[4]["inflight"] == json::parse("[1,1]"));
  CHECK(seen[4]["result"].is_null());
  CHECK(seen[5]["inflight"] == json::parse("[1,0]"));
  CHECK(seen[7]["inflight"] == json::parse("[1,0]"));
  CHECK(seen[7]["dispatch"] == 1);
}

TEST_CASE("step upstream: an attempt is reported once, its body breaks once and only after that") {
  const std::vector<std::string> lines{
      build(R"(,"health":{"consecutive_failures":2})"), R"({"op":"pick"})",
      R"({"op":"body_broken","dispatch":1})",           R"({"op":"done","dispatch":1,"failure":true})",
      R"({"op":"done","dispatch":1,"failure":true})",   R"({"op":"abandon","dispatch":1})",
      R"({"op":"body_broken","dispatch":1})",           R"({"op":"body_broken","dispatch":1})",
      R"({"op":"done","dispatch":0,"failure":true})",   R"({"op":"done","dispatch":2,"failure":true})",
      R"({"op":"done","dispatch":-1,"failure":true})"};
  const Run run = step("upstream", lines);
  REQUIRE(run.answers.size() == lines.size());
  for (const std::size_t n : {2U, 4U, 5U, 7U, 8U, 9U, 10U}) {
    CAPTURE(lines[n]);
    CHECK(run.answers[n].contains("error"));
  }
  CHECK(run.answers[3]["states"][0] == "healthy");
  CHECK(run.answers[6]["states"][0] == "ejected");  // headers and body: two failures in a row
  CHECK(run.answers[6]["events"][0]["endpoint"] == "a:1");
  CHECK(run.answers[6]["inflight"] == json::parse("[0,0]"));
}

TEST_CASE("step upstream: late reports are ignored and counted when the upstream says so") {
  const std::vector<std::string> lines{R"({"op":"pick"})", R"({"op":"pick"})", R"({"op":"pick"})",
                                       R"({"op":"done","dispatch":1,"failure":true})",
                                       R"({"op":"done","dispatch":3,"failure":false})"};
  for (const bool ignore : {true, false}) {
    CAPTURE(ignore);
    std::vector<std::string> all{build(std::string(R"(,"health":{"consecutive_failures":1})") +
                                       (ignore ? R"(,"late_reports":"ignore")" : ""))};
    all.insert(all.end(), lines.begin(), lines.end());
    const json last = answers("upstream", all).back();
    CHECK(last["late_reports_ignored"] == (ignore ? 1 : 0));
    CHECK(last["states"][0] == (ignore ? "ejected" : "healthy"));
    CHECK(last["inflight"] == json::parse("[0,1]"));
    CHECK(last["events"].size() == (ignore ? 0 : 1));
  }
}

TEST_CASE("step upstream: a refused pick has no number but counts for the words of random") {
  const auto seen = answers(
      "upstream",
      {R"({"op":"build","load_balancer":"random","breaker":{"consecutive_failures":1,"open_ms":10},)"
       R"("endpoints":[{"address":"e0","port":1},{"address":"e1","port":1},{"address":"e2","port":1},)"
       R"({"address":"e3","port":1},{"address":"e4","port":1},{"address":"e5","port":1}]})",
       R"({"op":"pick"})", R"({"op":"done","dispatch":1,"failure":true})", R"({"op":"pick","t":9})",
       R"({"op":"pick","t":10})", R"({"op":"pick","t":10})"});
  const auto expected = [](std::uint64_t pick) {
    const auto words = halfopen::philox4x64_10({pick, 0, 0, 0}, {1, halfopen::stable_hash("balance:step")});
    const auto [i, j] = halfopen::two_choices(words[0], words[1], 6);
    return "e" + std::to_string(std::min(i, j)) + ":1";
  };
  CHECK(seen[1]["result"] == expected(0));
  CHECK(seen[2]["breaker"] == "open");
  CHECK(seen[3]["result"].is_null());
  CHECK(seen[3]["retry_after_ms"] == 1);
  CHECK_FALSE(seen[3].contains("dispatch"));
  CHECK(seen[4]["result"] == expected(2));
  CHECK(seen[4]["dispatch"] == 2);
  CHECK(seen[4]["events"] == json::parse(R"([{"type":"breaker_half_open"}])"));
  CHECK(seen[5]["retry_after_ms"] == 1000);
}

TEST_CASE("step upstream: an IPv6 address may be written with or without its brackets") {
  for (const char* address : {"::1", "[::1]"}) {
    const auto seen = answers("upstream", {std::string(R"({"op":"build","endpoints":[{"address":")") +
                                               address + R"(","port":8080}]})",
                                           R"({"op":"pick"})"});
    CHECK(seen[1]["result"] == "[::1]:8080");
  }
}

}  // namespace
