// What comes from outside the text: --set, --seed, files beside it; and what is refused for its size.
#include "sim/scenario_json.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/sim/scenario_texts.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using testing::good;
using testing::mistakes;
using testing::scenario;
using testing::UPSTREAMS;

namespace {

LoadOptions with(std::vector<std::pair<std::string, std::string>> sets) {
  LoadOptions options;
  options.sets = std::move(sets);
  return options;
}

}  // namespace

TEST_CASE("scenario_json_options: a set of what is there already changes nothing, not even the digest") {
  const std::string text = scenario(R"("traffic": [ { "upstream": "api", "every_ms": 100.0 } ])");
  const Loaded plain = load_scenario_text(text, "t.json");
  const std::vector<LoadOptions> no_ops{with({{"/duration_ms", "1000"}}),
                                        with({{"/duration_ms", "1000.0"}}),
                                        with({{"/duration_ms", "1e3"}}),
                                        with({{"/upstreams/0/name", "api"}}),
                                        with({{"/upstreams/0/name", "\"api\""}}),
                                        with({{"/traffic/0", R"({"every_ms": 1e2, "upstream": "api"})"}}),
                                        with({{"/seed", "1"}}),
                                        LoadOptions{1, {}}};
  for (const LoadOptions& options : no_ops) {
    const Loaded loaded = load_scenario_text(text, "t.json", options);
    REQUIRE(loaded.scenario);
    CHECK(loaded.effective_json == plain.effective_json);
    CHECK(loaded.scenario->digest == plain.scenario->digest);
  }
  CHECK(load_scenario_text(text, "t.json", with({{"/duration_ms", "1001"}})).scenario->digest !=
        plain.scenario->digest);
  CHECK(load_scenario_text(text, "t.json", LoadOptions{2, {}}).scenario->digest != plain.scenario->digest);
}

TEST_CASE("scenario_json_options: set, append and add a key, and the seed option wins") {
  LoadOptions options = with({{"/upstreams/0/endpoints/-", R"({"address":"c","port":3})"},
                              {"/upstreams/0/endpoints/2/weight", "5"},
                              {"/seed", "7"}});
  CHECK(good(scenario(""), options).seed == 7);
  options.seed = 18446744073709551615ULL;
  const Scenario s = good(scenario(""), options);
  CHECK(s.seed == 18446744073709551615ULL);
  CHECK(s.upstreams[0].endpoints[2].weight == 5);
}

TEST_CASE("scenario_json_options: a set that can't be done is a mistake, and so is what it makes wrong") {
  CHECK(mistakes(scenario(""), with({{"/nowhere/x", "1"}})).at(0) ==
        "t.json:1:1: /nowhere/x: --set /nowhere/x=1: the scenario has nothing there: only the last step of a "
        "pointer "
        "may be new");
  CHECK(mistakes(scenario(""), with({{"seed", "1"}})).size() == 1);
  CHECK(mistakes(scenario(""), with({{"/seed", "\xFF"}})).size() == 1);
  CHECK(mistakes(scenario(""), with({{"/seed", "NaN"}})).at(0) ==
        "t.json:1:1: /seed: seed is \"NaN\": it must be a whole number from 0 to 18446744073709551615");
  CHECK(mistakes(scenario(""), with({{"/seed", std::string(100000, '[')}})).size() == 1);
  CHECK(mistakes(scenario(""), with({{"", "[]"}})).size() == 1);
}

TEST_CASE("scenario_json_options: an empirical file is read beside the scenario and stands in the digest") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "halfopen_scenario_json_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "ms.txt") << "1.5\n\n 20 \r\n0";
  std::ofstream(folder / "bad.txt") << "1\n2,5\n";
  const auto text = [](const std::string& what) {
    return scenario(R"("endpoints": { "*": { "latency": { "empirical": )" + what + " } } }");
  };
  const std::string file = (folder / "s.json").string();
  const Loaded loaded = load_scenario_text(text(R"({ "file": "ms.txt" })"), file);
  REQUIRE(loaded.scenario);
  CHECK(*std::get<EmpiricalLatency>(loaded.scenario->servers[0].latency).ms ==
        std::vector<double>{1.5, 20, 0});
  CHECK(loaded.effective_json == load_scenario_text(text(R"({ "ms": [1.5, 20, 0] })"), file).effective_json);

  const Loaded bad = load_scenario_text(text(R"({ "file": "bad.txt" })"), file);
  REQUIRE(bad.mistakes.size() == 1);
  CHECK(bad.mistakes[0].what.find("line 2") != std::string::npos);
  CHECK(load_scenario_text(text(R"({ "file": "." })"), file).mistakes.size() == 1);
  CHECK(load_scenario_file((folder / "none.json").string()).mistakes.at(0).line == 0);
  std::filesystem::remove_all(folder);
}

TEST_CASE("scenario_json_options: limits one below, at and above") {
  const auto arrivals = [](const std::string& rps) {
    return mistakes(R"({ "duration_ms": 200000, )" + UPSTREAMS +
                    R"(, "traffic": [ { "upstream": "api", "arrivals": "uniform", "rate_rps": )" + rps +
                    " } ] }")
        .size();
  };
  CHECK(arrivals("999000") == 0);
  CHECK(arrivals("1001000") == 1);
  CHECK(arrivals("1e12") == 1);
  const auto duration = [](const std::string& ms) {
    return mistakes("{ \"duration_ms\": " + ms + ", " + UPSTREAMS + R"(, "sample_ms": 1000000 })").size();
  };
  CHECK(duration("10000000000") == 0);
  CHECK(duration("10000000001") == 1);
  CHECK(duration("10000000000.5") == 1);
  CHECK(duration("0") == 1);
  CHECK(duration("0.000001") == 0);
  CHECK(duration("0.0000004") == 1);
}

TEST_CASE("scenario_json_options: hostile texts are answered, each at once") {
  for (const std::string& text :
       {std::string(100000, '['), std::string(100000, '{'), std::string("\0", 1), std::string(),
        std::string("null"), std::string("[]"), std::string(100000, '"')}) {
    CHECK_FALSE(mistakes(text).empty());
  }
  std::string keys = "{\"x0\":0";
  for (int n = 1; n < 20000; ++n) keys += ",\"x" + std::to_string(n) + "\":0";
  CHECK(mistakes(keys + "}").size() == 20002);
}

TEST_CASE("scenario: a key without its unit is the one that has it, however many letters that are") {
  const std::vector<std::string> found = mistakes(
      R"({ "duration": 1000, "upstreams": [ { "name": "a", "endpoints": [ { "address": "a", "port": 1 } ] } ] })");
  const auto told = [](const std::string& text) {
    return text.find("no key \"duration\"; did you mean \"duration_ms\"?") != std::string::npos;
  };
  CHECK(std::any_of(found.begin(), found.end(), told));
}
