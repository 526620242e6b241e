// What is allowed and will surprise: each warning at its edge, one ms before it and at it.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sim/scenario_json.hpp"
#include "sim/scenario_json_parts.hpp"

using namespace halfopen::sim;

namespace {

// Of a run of 1,000 ms, whose upstream "api" waits 500 ms for an answer and 400 ms for a connection.
// `timeouts` and `traffic` replace what is said of them.
struct Text {
  std::string more;
  std::string timeouts = "{ connect_ms: 400, read_ms: 500 }";
  std::string traffic = "[ { upstream: api, every_ms: 10 } ]";
};

std::vector<std::string> warnings(const Text& text) {
  const std::string yaml =
      "duration_ms: 1000\n"
      "upstreams:\n"
      "  - name: api\n"
      "    endpoints: [ { address: a, port: 1 }, { address: b, port: 1 } ]\n"
      "    health: {}\n"
      "    timeouts: " +
      text.timeouts + "\ntraffic: " + text.traffic + "\n" + text.more + "\n";
  const Loaded loaded = load_scenario_text(yaml, "t.yaml");
  CHECK(loaded.scenario);
  std::vector<std::string> out;
  for (const Mistake& mistake : loaded.mistakes) {
    CHECK(mistake.warning);
    CHECK(mistake.line > 0);
    out.push_back(mistake.pointer);
  }
  return out;
}

std::vector<std::string> of(const std::string& more) { return warnings({more}); }
std::vector<std::string> of_fault(const std::string& fault, const std::string& timeouts,
                                  const std::string& traffic = "[ { upstream: api, every_ms: 10 } ]") {
  return warnings({"endpoints: { 'a:1': { faults: [ " + fault + " ] } }", timeouts, traffic});
}

using Pointers = std::vector<std::string>;

}  // namespace

TEST_CASE("warnings: what would come at the end of the run or after it never comes") {
  for (const bool to_the_ns : {false, true}) {
    const std::string before = to_the_ns ? "999.999999" : "999", at = to_the_ns ? "1000.000001" : "1000";
    CAPTURE(at);
    const auto clock = [](const std::string& ms) {
      return "clock: { steps: [ { at_ms: " + ms + ", by_ms: 5 } ] }";
    };
    CHECK(of(clock(before)).empty());
    CHECK(of(clock(at)) == Pointers{"/clock/steps/0/at_ms"});
    const auto fault = [](const std::string& ms) {
      return "endpoints: { 'a:1': { faults: [ { from_ms: " + ms + ", error: { ratio: 1 } } ] } }";
    };
    CHECK(of(fault(before)).empty());
    CHECK(of(fault(at)) == Pointers{"/endpoints/a:1/faults/0/from_ms"});
    const auto traffic = [](const std::string& ms) {
      return "[ { upstream: api, every_ms: 10, from_ms: " + ms + " } ]";
    };
    const std::string timeouts = "{ read_ms: 500 }";
    CHECK(warnings({"", timeouts, traffic(before)}).empty());
    CHECK(warnings({"", timeouts, traffic(at)}) == Pointers{"/traffic/0/from_ms"});
  }
}

TEST_CASE("warnings: a reload is named by its place in the file, not by its turn") {
  const std::string text =
      "reloads: [ { at_ms: 1000, patch: [] }, { at_ms: 999, patch: [] }, { at_ms: 5000, patch: [] }, { "
      "at_ms: 1, "
      "patch: [] } ]";
  CHECK(of(text) == Pointers{"/reloads/0/at_ms", "/reloads/2/at_ms"});
}

TEST_CASE("warnings: the sentence says what happens, in the form of every message") {
  const std::string yaml =
      "duration_ms: 1000\nupstreams: [ { name: api, endpoints: [ { address: a, port: 1 } ] } ]\n"
      "traffic:\n  - { upstream: api, every_ms: 10, from_ms: 2000 }\n";
  const Loaded loaded = load_scenario_text(yaml, "t.yaml");
  REQUIRE(loaded.mistakes.size() == 1);
  CHECK(loaded.mistakes[0].text() ==
        "t.yaml:4:45: warning: /traffic/0/from_ms: this traffic begins at 2000 ms, and the run ends at 1000 "
        "ms: it "
        "never happens");
  CHECK(loaded.scenario);
}

TEST_CASE("warnings: a list of times of which none counts sends nothing") {
  const auto times = [](const std::string& entry) {
    return warnings({"", "{ read_ms: 500 }", "[ { upstream: api, " + entry + " } ]"});
  };
  CHECK(times("at_ms: [5000, 999]").empty());
  CHECK(times("at_ms: [5000, 1000]") == Pointers{"/traffic/0/at_ms"});
  CHECK(times("at_ms: [10, 20], from_ms: 20").empty());
  CHECK(times("at_ms: [10, 20], from_ms: 21") == Pointers{"/traffic/0/at_ms"});
  CHECK(times("at_ms: [10, 20], to_ms: 10") == Pointers{"/traffic/0/at_ms"});
  CHECK(times("at_ms: []") == Pointers{"/traffic/0/at_ms"});
}

TEST_CASE("warnings: a ratio of 0 does nothing") {
  const std::string timeouts = "{ read_ms: 500 }";
  CHECK(of_fault("{ error: { ratio: 1e-9 } }", timeouts).empty());
  CHECK(of_fault("{ error: { ratio: 0 } }", timeouts) == Pointers{"/endpoints/a:1/faults/0/error/ratio"});
  CHECK(of_fault("{ truncate: { ratio: 0 } }", timeouts) ==
        Pointers{"/endpoints/a:1/faults/0/truncate/ratio"});
  CHECK(of_fault("{ hang: { ratio: 0 } }", "{}") == Pointers{"/endpoints/a:1/faults/0/hang/ratio"});
}

TEST_CASE("warnings: a hang that nobody gives up") {
  const std::string hang = "{ from_ms: 100, hang: { ratio: 0.1 } }";
  const Pointers warned{"/endpoints/a:1/faults/0/hang"};
  CHECK(of_fault(hang, "{}") == warned);
  CHECK(of_fault(hang, "{ read_ms: 899 }").empty());
  CHECK(of_fault(hang, "{ read_ms: 900 }") == warned);  // the first of them would end with the run
  CHECK(of_fault("{ from_ms: 100.5, hang: { ratio: 1 } }", "{ read_ms: 899 }").empty());
  CHECK(of_fault("{ from_ms: 100.5, hang: { ratio: 1 } }", "{ read_ms: 900 }") == warned);
  CHECK(
      of_fault("{ hang: { ratio: 1 }, scope: probes }", "{}").empty());  // probes have a timeout of their own
  CHECK(of_fault("{ hang: { ratio: 1 }, scope: traffic }", "{}") == warned);
}

TEST_CASE("warnings: a hang that only callers end, and one that no caller meets") {
  const std::string hang = "{ hang: { ratio: 1 } }";
  const Pointers warned{"/endpoints/a:1/faults/0/hang"};
  const auto abandon = [](const std::string& ratio) {
    return "[ { upstream: api, every_ms: 10, abandon: { ratio: " + ratio + ", after_ms: 50 } } ]";
  };
  CHECK(of_fault(hang, "{}", abandon("1")).empty());
  CHECK(of_fault(hang, "{}", abandon("0.99")) == warned);
  CHECK(of_fault(hang, "{}", "[]").empty());
}

TEST_CASE("warnings: a hang is judged by the longest wait of all generations and upstreams") {
  const std::string reload =
      "reloads: [ { at_ms: 500, patch: [ { op: remove, path: /upstreams/0/timeouts/read_ms } ] } ]\n"
      "endpoints: { 'b:1': { faults: [ { hang: { ratio: 1 } } ] } }";
  CHECK(of(reload) == Pointers{"/endpoints/b:1/faults/0/hang"});
}

TEST_CASE("warnings: a fault of all servers is told once, at its own place, and so is one behind it") {
  const std::string faults =
      "endpoints:\n"
      "  '*': { faults: [ { error: { ratio: 0.5 } }, { hang: { ratio: 1 } } ] }\n"
      "  'b:1': { faults: [ { error: { ratio: 0 } } ] }";
  CHECK(warnings({faults, "{}"}) ==
        Pointers{"/endpoints/*/faults/1/hang", "/endpoints/b:1/faults/0/error/ratio"});
}

TEST_CASE("warnings: a server that accepts nothing, and a connect_ms longer than the run") {
  const std::string down = "{ from_ms: 100, down: { kind: timeout } }";
  const Pointers warned{"/endpoints/a:1/faults/0/down"};
  CHECK(of_fault(down, "{ connect_ms: 899 }").empty());
  CHECK(of_fault(down, "{ connect_ms: 900 }") == warned);
  CHECK(of_fault(down, "{}") == warned);  // 5000 by default
  CHECK(of_fault("{ down: { kind: refused } }", "{}").empty());
}

TEST_CASE("warnings: an expectation of what is after the end") {
  const auto expect = [](const std::string& what) { return of("expect: [ { " + what + " } ]"); };
  CHECK(expect("event: endpoint_ejected, at_ms: 999").empty());
  CHECK(expect("event: endpoint_ejected, at_ms: 1000") == Pointers{"/expect/0/at_ms"});
  CHECK(expect("never: endpoint_ejected, between_ms: [999, 2000]").empty());
  CHECK(expect("never: endpoint_ejected, between_ms: [1000, 2000]") == Pointers{"/expect/0/between_ms"});
  CHECK(expect("state: healthy, endpoint: 'a:1', at_ms: 1000") == Pointers{"/expect/0/at_ms"});
  CHECK(expect("state: healthy, endpoint: 'a:1', between_ms: [0, 1000]").empty());
  CHECK(expect("event: endpoint_eject, at_ms: 1000").empty());  // it can't hold, and says why
}

TEST_CASE("warnings: a window in which no request is sent") {
  const auto window = [](double from_ms, double to_ms, const std::string& metric, double value) {
    Reading reading;
    reading.scenario.duration = 1000 * NANOS_PER_MS;
    Traffic early, late;
    early.from = 100 * NANOS_PER_MS;
    early.source = ArrivalTimes{{50 * NANOS_PER_MS, 300 * NANOS_PER_MS, 200 * NANOS_PER_MS}};
    late.from = 600 * NANOS_PER_MS;
    late.source = ArrivalProcess{false, 0, {{0, 5, 40 * NANOS_PER_MS}, {5, 0, 60 * NANOS_PER_MS}}};
    reading.scenario.traffic = {early, late};
    Expectation expectation;
    expectation.what = ExpectMetric{metric, Compare::equal, value, {{from_ms, to_ms}}, {}};
    reading.scenario.expect.push_back(expectation);
    warn_of_surprises(Json::object(), reading);
    return !reading.findings.empty();
  };
  // Requests at 200 and 300, and from 600 on for the 100 ms of the stages.
  CHECK(window(0, 200, "requests", 1));
  CHECK_FALSE(window(0, 200.000001, "requests", 1));
  CHECK_FALSE(window(300, 301, "failures", 1));
  CHECK(window(300.000001, 600, "success_ratio", 1));
  CHECK_FALSE(window(300.000001, 600.000001, "success_ratio", 1));
  CHECK_FALSE(window(699.999999, 1000, "latency_p99_ms", 1));
  CHECK(window(700, 1000, "latency_p99_ms", 1));
  CHECK_FALSE(window(700, 1000, "requests", 0));   // that is what it says
  CHECK_FALSE(window(700, 1000, "ejections", 1));  // probes eject as well
  CHECK_FALSE(window(700, 1000, "breaker_open_ms", 1));
  CHECK(window(1000, 2000, "breaker_open_ms", 0));  // the run is over
}

TEST_CASE("warnings: a step of a sequence after the end, and errors that bursts never bring") {
  Reading reading;
  reading.scenario.duration = 1000 * NANOS_PER_MS;
  ExpectSequence sequence;
  sequence.steps.resize(3);
  sequence.steps[1].when.at_ms = 999;
  sequence.steps[2].when.at_ms = 1000;
  reading.scenario.expect.resize(1);
  reading.scenario.expect[0].what = sequence;
  reading.scenario.servers.resize(1);
  reading.scenario.servers[0].name = "a:1";
  reading.scenario.servers[0].faults.resize(1);
  reading.scenario.servers[0].faults[0].kind = BurstsFault{100, 100, 0, 503};
  warn_of_surprises(Json::object(), reading);
  REQUIRE(reading.findings.size() == 2);
  CHECK(reading.findings[0].pointer == "/endpoints/a:1/faults/0/bursts/error_ratio");
  CHECK(reading.findings[1].pointer == "/expect/0/sequence/2/at_ms");
  CHECK(reading.findings[1].warning);
}

TEST_CASE("warnings: a hang that every client's timeout ends") {
  const auto told = [](Nanos timeout) {
    Reading reading;
    reading.scenario.duration = 1000 * NANOS_PER_MS;
    halfopen::UpstreamConfig upstream;
    upstream.name = "api";
    upstream.endpoints.push_back({"a", 1});
    reading.scenario.upstreams.push_back(upstream);
    Traffic traffic;
    traffic.upstream = "api";
    traffic.client = Client{timeout};
    reading.scenario.traffic.push_back(traffic);
    reading.scenario.servers.resize(1);
    reading.scenario.servers[0].name = "a:1";
    reading.scenario.servers[0].faults.resize(1);
    reading.scenario.servers[0].faults[0].kind = HangFault{1};
    warn_of_surprises(Json::object(), reading);
    return reading.findings.size();
  };
  CHECK(told(50 * NANOS_PER_MS) == 0);
  CHECK(told(NEVER) == 1);
}

TEST_CASE("warnings: a scenario with mistakes is told of those alone") {
  const Loaded loaded = load_scenario_text(
      "duration_ms: 1000\nseed: x\nupstreams: [ { name: api, endpoints: [ { address: a, port: 1 } ] } ]\n"
      "clock: { steps: [ { at_ms: 5000, by_ms: 1 } ] }\n",
      "t.yaml");
  REQUIRE(loaded.mistakes.size() == 1);
  CHECK(loaded.mistakes[0].pointer == "/seed");
}

TEST_CASE("warnings: no scenario of ours surprises") {
  for (const auto& entry : std::filesystem::directory_iterator("scenarios")) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".json") || path.ends_with(".timeline.json")) continue;
    for (const Mistake& mistake : load_scenario_file(path).mistakes) FAIL_CHECK(mistake.text());
  }
}
