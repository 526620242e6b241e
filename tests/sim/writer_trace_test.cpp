// The trace of small runs, by the lines that a viewer reads. tests/python/test_trace.py reads whole files and
// checks the rules of the format.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/scenario_json.hpp"
#include "sim/writer_json.hpp"
#include "sim/writer_trace.hpp"
#include "sim/writer_trace_parts.hpp"
#include "tests/sim/handmade.hpp"
#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;
using handmade::contains;
using handmade::count_of;
using handmade::line_with;

namespace {

std::string trace_of(const Scenario& scenario, std::uint64_t most = DEFAULT_TRACE_REQUESTS) {
  TraceRecorder recorder(most);
  RunHooks hooks;
  hooks.observer = &recorder;
  const Timeline timeline = simulate(scenario, hooks);
  return timeline_trace(timeline, recorder);
}

// The lines of a request's slices, as "b request 0, b attempt 0, …" in ms.
std::string story_of(const std::string& trace, const std::string& id) {
  std::string out;
  for (const std::string& line : handmade::lines(trace)) {
    if (!contains(line, "\"id\":\"" + id + "\"")) continue;
    const auto value = [&line](const std::string& key) {
      const std::size_t at = line.find(key) + key.size();
      return line.substr(at, line.find_first_of(",\"", at) - at);
    };
    out +=
        (out.empty() ? "" : ", ") + value("\"ph\":\"") + ' ' + value("\"name\":\"") + ' ' + value("\"ts\":");
  }
  return out;
}

}  // namespace

TEST_CASE("trace: microseconds keep the nanoseconds as decimals, and no more of them than needed") {
  const auto us = [](Nanos t) {
    std::string out;
    append_us(out, t);
    return out;
  };
  CHECK(us(0) == "0");
  CHECK(us(1) == "0.001");
  CHECK(us(10) == "0.01");
  CHECK(us(999) == "0.999");
  CHECK(us(1000) == "1");
  CHECK(us(31'250'750'000) == "31250750");
  CHECK(us(1'234'560) == "1234.56");
}

TEST_CASE("trace: the attempts of a request, its retries too, lie within it under its id") {
  Scenario scenario = scenario_over("ab", 100);
  add_fault(server(scenario, 'a'), ErrorFault{1, 503});
  api(scenario).retries = retry_at_once(1);
  requests_at(scenario, {5});
  const std::string trace = trace_of(scenario);
  CHECK(story_of(trace, "0.0.0") ==
        "b request 5000, b attempt 5000, e attempt 15000, b attempt 15000, e attempt 25000, e request 25000");
  CHECK(contains(line_with(trace, "\"name\":\"attempt\"", 0), R"("args":{"endpoint":"a:1","retry":0,)"));
  CHECK(contains(line_with(trace, "\"name\":\"attempt\"", 1), R"("args":{"outcome":"503"})"));
  CHECK(contains(line_with(trace, "\"name\":\"attempt\"", 2), R"("args":{"endpoint":"b:1","retry":1,)"));
  CHECK(contains(line_with(trace, "\"name\":\"request\"", 1), R"("args":{"end":"ok","attempts":2})"));
}

TEST_CASE("trace: an attempt that nobody waited for ends with its request, one under way with the run") {
  Scenario scenario = scenario_over("a", 100);
  server(scenario, 'a').latency = FixedLatency{30};
  requests_at(scenario, {0}).abandon = Abandon{1, ms(20)};
  requests_at(scenario, {80});
  const std::string trace = trace_of(scenario);
  CHECK(story_of(trace, "0.0.0") == "b request 0, b attempt 0, e attempt 20000, e request 20000");
  CHECK(contains(line_with(trace, "\"name\":\"attempt\"", 1), R"({"outcome":"abandoned"})"));
  CHECK(contains(line_with(trace, "\"name\":\"request\"", 1), R"({"end":"abandoned","attempts":1})"));
  CHECK(story_of(trace, "1.0.0") == "b request 80000, b attempt 80000, e attempt 100000, e request 100000");
  CHECK(contains(line_with(trace, "\"name\":\"attempt\"", 3), R"({"outcome":"unfinished"})"));
}

TEST_CASE("trace: a request that is refused has no attempt and lasts no time") {
  Scenario scenario = scenario_over("a", 100);
  add_fault(server(scenario, 'a'), ErrorFault{1, 503});
  api(scenario).breaker = open_after(1);
  requests_at(scenario, {0, 50});
  const std::string trace = trace_of(scenario);
  CHECK(story_of(trace, "0.1.0") == "b request 50000, e request 50000");
  CHECK(contains(line_with(trace, "\"name\":\"request\"", 3), R"({"end":"fast-failed","attempts":0})"));
}

TEST_CASE("trace: arrows come from the failures of the streak, not from those before the success") {
  Scenario scenario = scenario_over("a", 200);
  api(scenario).health = eject_after(2);
  add_fault(server(scenario, 'a'), script({503, 200, 503, 503}));
  requests_at(scenario, {0, 20, 40, 60});
  const std::string trace = trace_of(scenario);
  CHECK(count_of(trace, "\"ph\":\"s\"") == 2);
  CHECK(contains(line_with(trace, "\"ph\":\"s\"", 0), "\"ts\":50000,"));
  CHECK(contains(line_with(trace, "\"ph\":\"s\"", 1), "\"ts\":70000,"));
  CHECK(contains(line_with(trace, "\"ph\":\"f\"", 1), "\"ts\":70000,"));
  CHECK(count_of(trace, "\"cat\":\"failure\"") == 2);
}

TEST_CASE("trace: of a long streak the last twenty failures have arrows") {
  Scenario scenario = scenario_over("a", 200);
  api(scenario).health = eject_after(30);
  api(scenario).health->failure_min_volume = 1000;
  add_fault(server(scenario, 'a'), ErrorFault{1, 503});
  requests_every(scenario, 2, 0, 60);
  const std::string trace = trace_of(scenario);
  CHECK(count_of(trace, "\"ph\":\"s\"") == TraceRecorder::MAX_FAILURES);
  CHECK(contains(line_with(trace, "\"ph\":\"s\"", 0), "\"ts\":30000,"));  // the eleventh, sent at 20
}

TEST_CASE("trace: failures of one instant share a slice, because those of a thread must not overlap") {
  Scenario scenario = scenario_over("a", 200);
  api(scenario).health = eject_after(3);
  add_fault(server(scenario, 'a'), ErrorFault{1, 503});
  requests_at(scenario, {0, 0, 20});
  const std::string trace = trace_of(scenario);
  CHECK(count_of(trace, "\"cat\":\"failure\"") == 2);
  CHECK(contains(line_with(trace, "\"cat\":\"failure\"", 0), R"("args":{"request":"0.1.0","retry":0})"));
  CHECK(count_of(trace, "\"ph\":\"s\"") == 2);
}

TEST_CASE("trace: failures nearer than a slice is long share one too, and one just far enough does not") {
  for (const Nanos apart : {Nanos{999}, Nanos{1000}}) {
    Scenario scenario = scenario_over("a", 200);
    api(scenario).health = eject_after(2);
    add_fault(server(scenario, 'a'), ErrorFault{1, 503});
    requests_at(scenario, {0, 0});
    std::get<ArrivalTimes>(scenario.traffic[0].source).at[1] = apart;
    const std::string trace = trace_of(scenario);
    CHECK(count_of(trace, "\"cat\":\"failure\"") == (apart == 1000 ? 2 : 1));
    CHECK(count_of(trace, "\"ph\":\"s\"") == (apart == 1000 ? 2 : 1));
  }
}

TEST_CASE("trace: a late failure has an arrow if it counted, and none if it was ignored") {
  for (const LateReports policy : {LateReports::count, LateReports::ignore}) {
    Scenario scenario = scenario_over("a", 200);
    api(scenario).health = eject_after(2, 20);
    api(scenario).late_reports = policy;
    add_fault(server(scenario, 'a'), script({503, 503, 503, 200, 503, 503}));
    add_fault(server(scenario, 'a'), LatencyFault{90, 1, 0}, 2, 3);
    // Out at 11, in again at 50. The third, sent before all that, fails at 102, between the failures at 95
    // and 105 of those that were sent since.
    requests_at(scenario, {0, 1, 2, 40, 85, 95});
    const std::string trace = trace_of(scenario);
    const bool counts = policy == LateReports::count;
    CHECK(contains(trace, counts ? R"("ts":102000,"name":"endpoint_ejected")"
                                 : R"("ts":105000,"name":"endpoint_ejected")"));
    const auto shown = [&](const std::string& id) {
      return contains(trace, R"("cat":"failure","args":{"request":")" + id + '"');
    };
    CHECK(shown("0.4.0"));
    CHECK(shown("0.2.0") == counts);
    CHECK(shown("0.5.0") == !counts);
    CHECK(count_of(trace, "\"ph\":\"s\"") == 4);
  }
}

TEST_CASE("trace: a failed probe that ejects is a failure like others") {
  Scenario scenario = scenario_over("a", 200);
  api(scenario).health = eject_after(5);
  api(scenario).active_health = probe_every(50);
  add_fault(server(scenario, 'a'), DownFault{});
  const std::string trace = trace_of(scenario);
  CHECK(contains(line_with(trace, "\"cat\":\"failure\""), R"("name":"probe failed")"));
  CHECK(count_of(trace, "\"ph\":\"s\"") == 1);
}

TEST_CASE("trace: no arrow comes from a failed probe to an ejection by the ratio, which knows no probes") {
  Scenario scenario = scenario_over("a", 100);
  api(scenario).health = eject_after(99);
  api(scenario).health->failure_ratio = 1;
  api(scenario).health->failure_min_volume = 2;
  api(scenario).active_health = probe_every(15, 15);
  api(scenario).active_health->failure_threshold = 99;
  add_fault(server(scenario, 'a'), ErrorFault{1, 503});
  requests_at(scenario, {0, 30});  // a probe fails at 25
  const std::string trace = trace_of(scenario);
  CHECK(count_of(trace, "\"name\":\"endpoint_ejected\"") == 1);
  CHECK(count_of(trace, "\"ph\":\"s\"") == 2);
  CHECK(contains(line_with(trace, "\"ph\":\"s\"", 0), "\"ts\":10000,"));
  CHECK(contains(line_with(trace, "\"ph\":\"s\"", 1), "\"ts\":40000,"));
  CHECK_FALSE(contains(trace, "probe failed"));
}

TEST_CASE("trace: an ejection that lasted no time is an instant without a slice for an arrow to end in") {
  Scenario scenario = scenario_over("a", 100);
  api(scenario).health = eject_after(1);
  add_fault(server(scenario, 'a'), script({503, 200, 503}));
  requests_at(scenario, {0, 0, 0});  // out, let in by a late answer, and out again: all at 10
  const std::string trace = trace_of(scenario);
  CHECK(count_of(trace, "\"name\":\"endpoint_ejected\"") == 2);
  CHECK(count_of(trace, "\"name\":\"ejected\"") == 1);
  CHECK(count_of(trace, "\"ph\":\"f\"") >= 1);
  CHECK(count_of(trace, "\"dur\":0,") == 0);

  server(scenario, 'a').faults.clear();
  add_fault(server(scenario, 'a'), script({503, 200}));
  std::get<ArrivalTimes>(scenario.traffic[0].source).at.pop_back();
  const std::string undone = trace_of(scenario);
  CHECK(count_of(undone, "\"name\":\"endpoint_ejected\"") == 1);
  CHECK(count_of(undone, "\"name\":\"ejected\"") == 0);
  CHECK(count_of(undone, "\"ph\":\"f\"") == 0);
}

TEST_CASE("trace: reloads and clock steps are instants of the run") {
  Scenario scenario = scenario_over("a", 100);
  reload_at(scenario, 20);
  scenario.clock.steps.push_back({ms(30), -5000});
  const std::string trace = trace_of(scenario);
  CHECK(contains(trace, R"("pid":1,"tid":4,"ts":20000,"name":"reload","s":"t","cat":"change"})"));
  CHECK(contains(trace, R"("tid":4,"ts":30000,"name":"clock stepped back 5 s","s":"t","cat":"change"})"));
}

TEST_CASE("trace: a cap keeps every second, fourth, … request, and says so") {
  Scenario scenario = scenario_over("a", 100);
  requests_every(scenario, 10);
  const auto begun = [&](std::uint64_t most) {
    std::vector<std::string> out;
    const std::string trace = trace_of(scenario, most);
    for (int i = 0; i < 10; ++i) {
      const std::string id = "0." + std::to_string(i) + ".0";
      if (!story_of(trace, id).empty()) out.push_back(id);
    }
    return out;
  };
  CHECK(begun(10).size() == 10);
  CHECK(begun(9) == std::vector<std::string>{"0.0.0", "0.2.0", "0.4.0", "0.6.0", "0.8.0"});
  CHECK(begun(5).size() == 5);
  CHECK(begun(4) == std::vector<std::string>{"0.0.0", "0.4.0", "0.8.0"});
  CHECK(begun(1) == std::vector<std::string>{"0.0.0"});
  CHECK(begun(0).empty());
  CHECK(contains(trace_of(scenario, 10), "all 10 requests are written"));
  CHECK(contains(trace_of(scenario, 9), "5 of 10 requests are written, the first of every 2;"));
  CHECK(contains(trace_of(scenario, 0), "none of 10 requests is written"));
}

TEST_CASE("trace: whatever names contain, it stays JSON") {
  Scenario scenario = scenario_over("a", 10);
  scenario.upstreams[0].name = "a\"b\\\n";
  const std::string trace = trace_of(scenario);
  CHECK(contains(trace, R"("name":"02 upstream a\"b\\\n"})"));
}

TEST_CASE("trace: a run that is listened to leaves the same timeline as one that is not") {
  std::size_t compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator("scenarios")) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".json") || path.ends_with(".timeline.json")) continue;
    if (contains(path, "brownout-one-of-four")) continue;  // long, and nothing in it that others lack
    const Loaded loaded = load_scenario_file(path);
    REQUIRE(loaded.scenario);
    TraceRecorder recorder(1000);
    RunHooks hooks;
    hooks.observer = &recorder;
    const Timeline heard = simulate(*loaded.scenario, hooks);
    CAPTURE(path);
    CHECK(timeline_json(heard, {}) == timeline_json(simulate(*loaded.scenario), {}));
    CHECK(recorder.arrivals() == heard.summary.requests);
    ++compared;
  }
  CHECK(compared >= 15);
}
