// How expectations are read: every form, what is a mistake of the file, and what is only an expectation that
// can't hold.
#include <doctest/doctest.h>

#include "sim/expectations.hpp"
#include "sim/simulation.hpp"
#include "tests/sim/scenario_texts.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

std::string expecting(const std::string& expectation) {
  return scenario(R"("traffic": [ { "upstream": "api", "every_ms": 100 } ], "expect": [ )" + expectation +
                  " ]");
}

Expectation read(const std::string& expectation) { return good(expecting(expectation)).expect.at(0); }

template <class Form>
Form form(const std::string& expectation) {
  const Expectation out = read(expectation);
  CHECK(out.problem == "");
  REQUIRE(std::holds_alternative<Form>(out.what));
  return std::get<Form>(out.what);
}

// The only mistake, without its place.
std::string mistake(const std::string& expectation) {
  const auto all = mistakes(expecting(expectation));
  REQUIRE(all.size() == 1);
  return all[0].substr(all[0].find("/expect/0"));
}

}  // namespace

TEST_CASE("scenario_json expect: nth counts from 1 and is none without the key") {
  CHECK(form<ExpectEvent>(R"({"event": "endpoint_ejected", "nth": 3, "at_ms": 5})").nth == 3);
  CHECK(form<ExpectEvent>(R"({"event": "endpoint_ejected"})").nth == std::nullopt);
  CHECK(mistake(R"({"event": "endpoint_ejected", "nth": 0})")
            .starts_with("/expect/0/nth: nth is 0: it must be a whole number from 1"));
  CHECK(
      mistake(R"({"event": "endpoint_ejected", "nth": 1, "at_most": 2})") ==
      "/expect/0: \"nth\" means one event: an expectation with it has no \"at_most\", which counts several");
  CHECK(mistake(R"({"never": "endpoint_ejected", "nth": 1})")
            .starts_with("/expect/0/nth: an expectation has no key \"nth\""));
}

TEST_CASE("scenario_json expect: a sequence has steps, each with its own event, cause and time") {
  const auto sequence = form<ExpectSequence>(
      R"({"sequence": [ {"event": "endpoint_ejected", "endpoint": "a:1", "rule": "failure_ratio", "at_ms": 7},
                        {"event": "endpoint_recovered", "upstream": "api", "via": "fail_open",
                         "between_ms": [8, 9.5]} ], "exact": true})");
  CHECK(sequence.exact);
  REQUIRE(sequence.steps.size() == 2);
  CHECK(sequence.steps[0].pattern.endpoint == "a:1");
  CHECK(sequence.steps[0].pattern.rule == Rule::failure_ratio);
  CHECK(sequence.steps[0].when.at_ms == 7);
  CHECK(sequence.steps[1].pattern.type == EventType::endpoint_recovered);
  CHECK(sequence.steps[1].pattern.upstream == "api");
  CHECK(sequence.steps[1].pattern.via == Via::fail_open);
  CHECK(sequence.steps[1].when.between_ms == std::pair{8.0, 9.5});
  CHECK_FALSE(form<ExpectSequence>(R"({"sequence": [ {"event": "breaker_opened"} ]})").exact);
}

TEST_CASE("scenario_json expect: a sequence without steps, or with steps that are none, is a mistake") {
  CHECK(mistake(R"({"sequence": []})").starts_with("/expect/0/sequence: sequence is an empty list"));
  CHECK(mistake(R"({"sequence": {"event": "endpoint_ejected"}})").find("must be a list") !=
        std::string::npos);
  CHECK(mistake(R"({"sequence": [ {"endpoint": "a:1"} ]})") ==
        "/expect/0/sequence/0: a step of a sequence needs the key \"event\", which is missing");
  CHECK(mistake(R"({"sequence": [ {"event": "endpoint_ejected", "count": 2} ]})")
            .starts_with("/expect/0/sequence/0/count: a step of a sequence has no key \"count\""));
  CHECK(mistake(R"({"sequence": [ "endpoint_ejected" ]})")
            .starts_with("/expect/0/sequence/0: a step of a sequence must be an object"));
  CHECK(mistake(R"({"event": "endpoint_ejected", "exact": true})")
            .starts_with("/expect/0/exact: an expectation has no key \"exact\""));
}

TEST_CASE("scenario_json expect: a step that names nobody known is an expectation that can't hold") {
  const Expectation unknown =
      read(R"({"sequence": [ {"event": "endpoint_ejected"}, {"event": "endpoint_ejecetd"} ]})");
  CHECK(unknown.problem.find("there is no event \"endpoint_ejecetd\"") != std::string::npos);
  CHECK(unknown.problem.ends_with("; did you mean \"endpoint_ejected\"?"));
  CHECK(
      read(R"({"sequence": [ {"event": "endpoint_ejected", "endpoint": "z:1"} ]})").problem.find("\"z:1\"") !=
      std::string::npos);
}

TEST_CASE("scenario_json expect: a metric with one of six signs") {
  const std::vector<std::string> signs{"<", "<=", "==", "!=", ">=", ">"};
  for (std::size_t i = 0; i < signs.size(); ++i) {
    const auto metric = form<ExpectMetric>(R"({"metric": "ok", ")" + signs[i] + R"(": 1.5})");
    CHECK(metric.metric == "ok");
    CHECK(metric.relation == static_cast<Compare>(i));
    CHECK(metric.value == 1.5);
    CHECK(metric.between_ms == std::nullopt);
    CHECK(metric.endpoint.empty());
  }
  const auto narrow =
      form<ExpectMetric>(R"({"metric": "attempts", ">": -1, "between_ms": [100, 200.5], "endpoint": "b:2"})");
  CHECK(narrow.value == -1.0);
  CHECK(narrow.between_ms == std::pair{100.0, 200.5});
  CHECK(narrow.endpoint == "b:2");
}

TEST_CASE("scenario_json expect: a metric without a sign, with two, or with none that is a number") {
  const std::string one = "an expectation of a metric needs exactly one of the keys < <= == != >= >";
  CHECK(mistake(R"({"metric": "ok"})") == "/expect/0: " + one);
  CHECK(mistake(R"({"metric": "ok", ">": 1, "<": 5})") == "/expect/0: " + one);
  CHECK(mistake(R"({"metric": "ok", ">": "1"})").starts_with("/expect/0/>: > is \"1\": it must be a number"));
  CHECK(
      mistake(R"({"metric": 5, ">": 1})").starts_with("/expect/0/metric: metric is 5: it must be a string"));
  CHECK(mistake(R"({"metric": "ok", ">": 1, "at_ms": 5})")
            .starts_with("/expect/0/at_ms: an expectation has no"));
  CHECK(mistake(R"({"metric": "ok", ">": 1, "upstream": "api"})").starts_with("/expect/0/upstream:"));
  CHECK(mistake(R"({"metric": "ok", ">": 1, "between_ms": [5, 5]})").starts_with("/expect/0/between_ms:"));
}

TEST_CASE("scenario_json expect: a metric that does not exist is an expectation that can't hold") {
  CHECK(read(R"({"metric": "sucess_ratio", ">": 0.9})").problem ==
        "there is no metric \"sucess_ratio\"; did you mean \"success_ratio\"?");
  const std::string far = read(R"({"metric": "cost_in_euros", ">": 0.9})").problem;
  CHECK(far.starts_with("there is no metric \"cost_in_euros\": it is one of requests, ok, failed"));
  CHECK(read(R"({"metric": "attempts", ">": 0, "endpoint": "c:1"})").problem.find("\"c:1\"") !=
        std::string::npos);
  const Scenario scenario = good(expecting(R"({"metric": "sucess_ratio", ">": 0.9})"));
  const auto judgements = judge(scenario, simulate(scenario));
  CHECK_FALSE(judgements[0].held);
  CHECK(judgements[0].got.starts_with("it can't be evaluated: there is no metric"));
}

TEST_CASE("scenario_json expect: a fingerprint is 16 hexadecimal digits in lower case") {
  CHECK(form<ExpectFingerprint>(R"({"fingerprint": "0123456789abcdef"})").digits == "0123456789abcdef");
  for (const char* digits :
       {"", "0123456789abcde", "0123456789abcdef0", "0123456789ABCDEF", "0123456789abcdeg"}) {
    CHECK(mistake(R"({"fingerprint": ")" + std::string(digits) + R"("})")
              .find("must be 16 hexadecimal digits in lower case") != std::string::npos);
  }
  CHECK(mistake(R"({"fingerprint": 5})").find("must be a string") != std::string::npos);
}

TEST_CASE("scenario_json expect: an expectation has exactly one form") {
  CHECK(mistake(R"({"metric": "ok", ">": 1, "fingerprint": "0123456789abcdef"})")
            .starts_with("/expect/0: an expectation needs exactly one of the keys event, never, state"));
  CHECK(mistake("{}").starts_with("/expect/0: an expectation needs exactly one of the keys event, never"));
}

TEST_CASE("scenario_json expect: more windows than a run can copy its counts for are refused") {
  const auto windows = [](std::size_t count) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i) {
      list += (i == 0 ? "" : ", ") + std::string(R"({"metric": "ok", ">": -1, "between_ms": [)") +
              std::to_string(i) + ", 999999]}";
    }
    return expecting(list);
  };
  CHECK(good(windows(4095)).expect.size() == 4095);
  const auto refused = mistakes(windows(4096));
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].find("/expect: the windows of the metrics begin and end at 4097 different times") !=
        std::string::npos);
}
