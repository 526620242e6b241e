// A run that its caller may end, and files that are read from memory.
#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "sim/observer.hpp"
#include "sim/simulation.hpp"
#include "sim/writer_json.hpp"
#include "tests/sim/scenario_texts.hpp"

using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

const std::string BUSY =
    scenario(R"("traffic": [ { "upstream": "api", "arrivals": "poisson", "rate_rps": 20000 } ])");

}  // namespace

TEST_CASE("run stopped: who is never told to stop gets the same bytes as who was not asked") {
  const Scenario busy = good(BUSY);
  unsigned asked = 0;
  RunHooks hooks;
  hooks.pause = [&asked] { return ++asked > 0; };
  CHECK(timeline_json(simulate(busy, hooks), {}) == timeline_json(simulate(busy), {}));
  CHECK(asked > 1);
}

TEST_CASE("run stopped: false ends the run with no timeline of half of it") {
  RunHooks hooks;
  unsigned asked = 0;
  hooks.pause = [&asked] { return ++asked < 2; };
  CHECK_THROWS_AS(simulate(good(BUSY), hooks), RunStopped);
  CHECK(asked == 2);
}

TEST_CASE("run stopped: what a pause throws reaches the caller") {
  RunHooks hooks;
  hooks.pause = []() -> bool { throw std::runtime_error("a signal came"); };
  CHECK_THROWS_WITH(simulate(good(BUSY), hooks), "a signal came");
}

TEST_CASE("named files: a text given for a path is read in place of the disk, and given back") {
  const std::string text =
      scenario(R"("endpoints": { "*": { "latency": { "empirical": { "file": "no-such-file.txt" } } } })");
  const Loaded without = load_scenario_text(text, "there/t.json");
  CHECK_FALSE(without.scenario);
  LoadOptions options;
  options.files["there/no-such-file.txt"] = std::make_shared<const std::string>("5\n6\n7\n");
  const Loaded loaded = load_scenario_text(text, "there/t.json", options);
  REQUIRE(loaded.scenario);
  CHECK(loaded.effective_json.find("[5,6,7]") != std::string::npos);
  CHECK(loaded.named_json.find("no-such-file.txt") != std::string::npos);
  REQUIRE(loaded.files.size() == 1);

  LoadOptions again;  // what was given back is enough, and makes the same scenario
  again.files = loaded.files;
  const Loaded second = load_scenario_text(loaded.named_json, "there/t.json", again);
  REQUIRE(second.scenario);
  CHECK(second.scenario->digest == loaded.scenario->digest);
}

TEST_CASE("named files: without a name in it a scenario has nothing to be read again by") {
  const Loaded loaded = load_scenario_text(BUSY, "t.json");
  CHECK(loaded.named_json.empty());
  CHECK(loaded.files.empty());
}
