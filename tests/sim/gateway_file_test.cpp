// --gateway FILE: a gateway's own upstreams in the place of the scenario's.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "sim/expectations.hpp"
#include "sim/scenario_json.hpp"
#include "sim/simulation.hpp"
#include "sim/writer_json.hpp"

using namespace halfopen::sim;

namespace {

const std::string FOLDER = "tests/corpus/gateway/";
const std::string DEMO = "scenarios/gateway-demo.json";

LoadOptions with(const std::string& gateway) {
  LoadOptions options;
  options.gateway = gateway;
  return options;
}

std::vector<std::string> texts(const Loaded& loaded) {
  std::vector<std::string> out;
  for (const Mistake& mistake : loaded.mistakes) out.push_back(mistake.text());
  return out;
}

std::string run(const Scenario& scenario) {
  const Timeline timeline = simulate(scenario);
  return timeline_json(timeline, judge(scenario, timeline));
}

}  // namespace

TEST_CASE("gateway file: the guide's block runs as it is printed, and as if the scenario had said it") {
  const Loaded own = load_scenario_file(DEMO);
  const Loaded gateway = load_scenario_file(DEMO, with(FOLDER + "guide.yaml"));
  CHECK(texts(gateway).empty());  // listeners and routes are nobody's business here
  REQUIRE(gateway.scenario);
  REQUIRE(own.scenario);
  CHECK(gateway.effective_json == own.effective_json);
  CHECK(run(*gateway.scenario) == run(*own.scenario));
}

TEST_CASE("gateway file: keys that are none of ours are warned of in their own file, and left out") {
  const std::string file = FOLDER + "more_to_say.yaml";
  const Loaded loaded = load_scenario_file(DEMO, with(file));
  REQUIRE(loaded.scenario);
  REQUIRE(loaded.mistakes.size() == 3);
  CHECK(loaded.mistakes[0].text().rfind(
            file + ":3:5: warning: /upstreams/0/zone: an upstream has no key \"zone\" (known: ", 0) == 0);
  CHECK(loaded.mistakes[0].what.ends_with("): it is left out"));
  CHECK(loaded.mistakes[1].text().rfind(file + ":7:9: warning: /upstreams/0/endpoints/0/labels: ", 0) == 0);
  CHECK(loaded.mistakes[2].text() ==
        file +
            ":10:7: warning: /upstreams/0/health/consecutive_failure: health has no key "
            "\"consecutive_failure\"; did you mean \"consecutive_failures\"? It is left out");
  CHECK(loaded.effective_json.find("zone") == std::string::npos);
  CHECK(loaded.effective_json.find("rack") == std::string::npos);
  CHECK(loaded.effective_json.find("\"consecutive_failure\"") == std::string::npos);
  CHECK(loaded.scenario->upstreams[0].health->consecutive_failures == 5);
  CHECK_FALSE(loaded.scenario->upstreams[0].active_health);
}

TEST_CASE("gateway file: its mistakes are told once, at their places, before the scenario's") {
  const std::string file = FOLDER + "bad.yaml";
  const std::string scenario =
      "duration_ms: 1000\n"
      "upstreams: 5\n"
      "traffic:\n"
      "  - { upstream: apii, every_ms: 5 }\n";
  const Loaded loaded = load_scenario_text(scenario, "t.yaml", with(file));
  CHECK_FALSE(loaded.scenario);
  const std::vector<std::string> told = texts(loaded);
  REQUIRE(told.size() == 4);
  CHECK(told[0].rfind(file + ":4:5: warning: /upstreams/0/colour: ", 0) == 0);
  CHECK(told[1].rfind(file + ":6:36: /upstreams/0/endpoints/0/port: port is 80800: ", 0) == 0);
  CHECK(told[2].rfind(file + ":8:25: /upstreams/0/health/eject_ms: eject_ms is \"30s\": ", 0) == 0);
  CHECK(told[3].rfind("t.yaml:4:17: /traffic/0/upstream: upstream is \"apii\": ", 0) == 0);
}

TEST_CASE("gateway file: what --set changes and what only the scenario gets wrong stands at the scenario") {
  const std::string scenario =
      "{ \"duration_ms\": 1000,\n  \"upstreams\": [],\n  \"endpoints\": { \"10.0.0.3:8080\": {} } }";
  LoadOptions options = with(FOLDER + "guide.yaml");
  options.sets.emplace_back("/upstreams/0/health/eject_ms", "0");
  const std::vector<std::string> told = texts(load_scenario_text(scenario, "t.json", options));
  REQUIRE(told.size() == 2);
  CHECK(told[0].rfind("t.json:2:16: /upstreams/0/health/eject_ms: eject_ms is 0: ", 0) == 0);
  CHECK(told[1].rfind("t.json:3:18: /endpoints/10.0.0.3:8080: ", 0) == 0);

  options.sets.back().second = "7";
  const Loaded loaded = load_scenario_text("{ \"duration_ms\": 1000 }", "t.json", options);
  CHECK(texts(loaded).empty());  // the scenario needs no upstreams of its own
  CHECK(loaded.scenario->upstreams[0].health->eject_ms == 7);
}

TEST_CASE(
    "gateway file: one that can't be used is told, and the scenario's own mistakes only where they are "
    "sure") {
  const std::string good =
      "{ \"duration_ms\": 1000, \"traffic\": [ { \"upstream\": \"x\", \"every_ms\": 5 } ] }";
  const auto told = [&](const std::string& gateway, const std::string& scenario) {
    return texts(load_scenario_text(scenario, "t.json", with(gateway)));
  };
  CHECK(told("no/such.yaml", good) ==
        std::vector<std::string>{"no/such.yaml: it can't be opened: No such file or directory"});
  CHECK(told("tests/corpus", good) == std::vector<std::string>{"tests/corpus: it is a folder, not a file"});
  const std::string scenario = "tests/corpus/bad_yaml/root_is_list.yaml";
  CHECK(told(scenario, good) ==
        std::vector<std::string>{scenario + ":2:1: a gateway's file must hold an object, not a list"});
  const std::string without = "tests/corpus/bad_yaml/list_in_map.yaml";
  CHECK(told(without, "{").size() == 2);  // both texts are read whatever the other one is
  const std::string none = "scenarios/gateway-demo.timeline.json";
  CHECK(told(none, good) ==
        std::vector<std::string>{none +
                                 ":1:1: a gateway's file needs the key \"upstreams\", which is missing"});
  CHECK(load_scenario_file(DEMO, with("tests/corpus/bad/upstreams_no_list.json")).mistakes.size() == 1);
}

TEST_CASE("gateway file: a JSON scenario's file serves as well") {
  const Loaded loaded =
      load_scenario_file("scenarios/gateway-demo.json", with("scenarios/gateway-demo.json"));
  REQUIRE(loaded.scenario);
  CHECK(loaded.mistakes.empty());
  CHECK(loaded.effective_json == load_scenario_file("scenarios/gateway-demo.json").effective_json);
}
