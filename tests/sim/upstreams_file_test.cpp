// The upstreams of a file and nothing else.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sim/scenario_json.hpp"
#include "sim/upstreams_json.hpp"

using namespace halfopen;
using namespace halfopen::sim;

namespace {

const std::string FOLDER = "tests/corpus/gateway/";
const std::string DEMO = "scenarios/gateway-demo.json";

std::vector<std::string> texts(const LoadedUpstreams& loaded) {
  std::vector<std::string> out;
  for (const Mistake& mistake : loaded.mistakes) out.push_back(mistake.text());
  return out;
}

// A file of its own, gone with it.
class File {
 public:
  File(const std::string& name, const std::string& text)
      : path_((std::filesystem::temp_directory_path() / name).string()) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

TEST_CASE("upstreams file: a gateway's file and a scenario give the upstreams that a scenario would have") {
  const Loaded scenario = load_scenario_file(DEMO);
  REQUIRE(scenario.scenario);
  for (const std::string& file : {FOLDER + "guide.yaml", DEMO}) {
    CAPTURE(file);
    const LoadedUpstreams loaded = load_upstreams_file(file);
    CHECK(texts(loaded).empty());
    REQUIRE(loaded.upstreams);
    CHECK(*loaded.upstreams == scenario.scenario->upstreams);
  }
}

TEST_CASE("upstreams file: what else the file holds is not looked at, however wrong it is") {
  const File file(
      "halfopen-upstreams-else.json",
      R"({ "duration_ms": "no", "traffic": [ { "upstream": "nobody" } ], "reloads": 7, "$schema": 1,
  "upstreams": [ { "name": "api", "endpoints": [ { "address": "[::1]", "port": 1 } ],
                   "health": { "eject_ms": 77 }, "active_health": { "kind": "tcp" } } ] })");
  const LoadedUpstreams loaded = load_upstreams_file(file.path());
  CHECK(texts(loaded).empty());
  REQUIRE(loaded.upstreams);
  REQUIRE(loaded.upstreams->size() == 1);
  const UpstreamConfig& api = loaded.upstreams->front();
  CHECK(api.endpoints.at(0).name() == "[::1]:1");
  CHECK(api.health->eject_ms == 77);
  CHECK(api.active_health->kind == ProbeKind::tcp);
}

TEST_CASE("upstreams file: keys that are none of ours are warnings, and the rest is used") {
  const std::string file = FOLDER + "more_to_say.yaml";
  const LoadedUpstreams loaded = load_upstreams_file(file);
  REQUIRE(loaded.upstreams);
  REQUIRE(loaded.mistakes.size() == 3);
  CHECK(std::all_of(loaded.mistakes.begin(), loaded.mistakes.end(),
                    [](const Mistake& m) { return m.warning; }));
  CHECK(loaded.mistakes[0].text().rfind(file + ":3:5: warning: /upstreams/0/zone: ", 0) == 0);
  CHECK(loaded.upstreams->at(0).health->consecutive_failures == 5);
}

TEST_CASE("upstreams file: every mistake is told at its place, and then there are no upstreams") {
  const std::string file = FOLDER + "bad.yaml";
  const LoadedUpstreams loaded = load_upstreams_file(file);
  CHECK_FALSE(loaded.upstreams);
  const std::vector<std::string> told = texts(loaded);
  REQUIRE(told.size() == 3);
  CHECK(told[0].rfind(file + ":4:5: warning: /upstreams/0/colour: ", 0) == 0);
  CHECK(told[1].rfind(file + ":6:36: /upstreams/0/endpoints/0/port: port is 80800: ", 0) == 0);
  CHECK(told[2].rfind(file + ":8:25: /upstreams/0/health/eject_ms: eject_ms is \"30s\": ", 0) == 0);

  // A rule about two blocks, which the reader of one block can't see.
  const File lone("halfopen-upstreams-lone.json",
                  R"({ "upstreams": [ { "name": "api", "endpoints": [ { "address": "a", "port": 1 } ],
  "active_health": {} } ] })");
  const LoadedUpstreams without_health = load_upstreams_file(lone.path());
  CHECK_FALSE(without_health.upstreams);
  REQUIRE(without_health.mistakes.size() == 1);
  CHECK(without_health.mistakes[0].pointer == "/upstreams/0/active_health");
  CHECK(without_health.mistakes[0].line == 2);
}

TEST_CASE("upstreams file: one that can't be read at all is told in a sentence") {
  const auto told = [](const std::string& file) {
    const LoadedUpstreams loaded = load_upstreams_file(file);
    CHECK_FALSE(loaded.upstreams);
    return texts(loaded);
  };
  CHECK(told("no/such.yaml") ==
        std::vector<std::string>{"no/such.yaml: it can't be opened: No such file or directory"});
  CHECK(told("tests/corpus") == std::vector<std::string>{"tests/corpus: it is a folder, not a file"});
  const std::string list = "tests/corpus/bad_yaml/root_is_list.yaml";
  CHECK(told(list) == std::vector<std::string>{list + ":2:1: the file must hold an object, not a list"});
  const std::string none = "scenarios/gateway-demo.timeline.json";
  CHECK(told(none) ==
        std::vector<std::string>{none + ":1:1: the file needs the key \"upstreams\", which is missing"});
  CHECK(told("tests/corpus/bad/upstreams_no_list.json").size() == 1);
  // Half a file may be another file: nothing of it is used.
  const File torn("halfopen-upstreams-torn.json", R"({ "upstreams": [], "traffic": [ )");
  CHECK(told(torn.path()).size() == 1);
}
