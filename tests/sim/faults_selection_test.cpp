// Faults of "*" that are for some endpoints only: who is drawn, and that nobody else's luck moves.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/draws.hpp"
#include "sim/simulation.hpp"
#include "tests/sim/scenario_texts.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using testing::good;
using testing::mistakes;

namespace {

// e0:1, e1:1, ... with these faults of "*" and, where given, more after it.
std::string farm(std::size_t endpoints, const std::string& faults, const std::string& more = "") {
  std::string list;
  for (std::size_t n = 0; n < endpoints; ++n) {
    list += (n == 0 ? "" : ", ") + ("{ \"address\": \"e" + std::to_string(n)) + "\", \"port\": 1 }";
  }
  return R"({ "duration_ms": 1000, "upstreams": [ { "name": "api", "endpoints": [ )" + list +
         R"( ] } ], "endpoints": { "*": { "faults": [ )" + faults + " ] }" + more +
         R"( }, "traffic": [ { "upstream": "api", "every_ms": 1 } ] })";
}

std::string down(const std::string& selection) { return R"({ "down": {}, "selection": )" + selection + " }"; }

// The places of the servers that have the fault with this number.
std::vector<std::size_t> with_fault(const Scenario& scenario, std::uint32_t number) {
  std::vector<std::size_t> places;
  for (std::size_t n = 0; n < scenario.servers.size(); ++n) {
    for (const Fault& fault : scenario.servers[n].faults) {
      if (fault.number == number) places.push_back(n);
    }
  }
  return places;
}

std::size_t drawn(std::size_t endpoints, const std::string& selection) {
  return with_fault(good(farm(endpoints, down(selection))), 0).size();
}

// By the rule itself: the least draws of the stream.
std::vector<std::size_t> least(std::size_t endpoints, std::size_t taken, const std::string& stream,
                               std::uint64_t seed = 1) {
  std::vector<std::size_t> places(endpoints);
  for (std::size_t n = 0; n < endpoints; ++n) places[n] = n;
  const Stream draws(seed, stream);
  std::sort(places.begin(), places.end(),
            [&](std::size_t a, std::size_t b) { return draws.unit(a) < draws.unit(b); });
  places.resize(taken);
  std::sort(places.begin(), places.end());
  return places;
}

}  // namespace

TEST_CASE("selection: a list names who has the fault, in any order") {
  const Scenario scenario = good(farm(4, down(R"(["e2:1", "e0:1"])") + R"(, { "hang": { "ratio": 1 } })"));
  CHECK(with_fault(scenario, 0) == std::vector<std::size_t>{0, 2});
  CHECK(with_fault(scenario, 1) == std::vector<std::size_t>{0, 1, 2, 3});
}

TEST_CASE("selection: a count takes the endpoints with the least draws of the fault's own stream") {
  const Scenario scenario =
      good(farm(9, down(R"({ "count": 3 })") + ", " + down(R"({ "count": 5 })") + ", " + down("[\"e8:1\"]")));
  CHECK(with_fault(scenario, 0) == least(9, 3, "selection:0"));
  CHECK(with_fault(scenario, 1) == least(9, 5, "selection:1"));
  CHECK(with_fault(scenario, 2) == std::vector<std::size_t>{8});
  CHECK(with_fault(good(farm(9, down(R"({ "count": 9 })"))), 0).size() == 9);
}

TEST_CASE("selection: a percentage is to the nearest endpoint, halves up, and never none") {
  CHECK(drawn(5, R"({ "percent": 20 })") == 1);
  CHECK(drawn(5, R"({ "percent": 29.9 })") == 1);
  CHECK(drawn(5, R"({ "percent": 30 })") == 2);
  CHECK(drawn(5, R"({ "percent": 50 })") == 3);
  CHECK(drawn(5, R"({ "percent": 100 })") == 5);
  CHECK(drawn(50, R"({ "percent": 29 })") == 15);  // 14.5, though 0.29 * 50 is less in binary
  CHECK(drawn(10, R"({ "percent": 0.001 })") == 1);
  CHECK(drawn(1, R"({ "percent": 1 })") == 1);
}

TEST_CASE("selection: another seed draws others, from the file and from the command line") {
  const std::string text = farm(40, down(R"({ "percent": 25 })"));
  LoadOptions options;
  options.seed = 2;
  CHECK(with_fault(good(text), 0) == least(40, 10, "selection:0", 1));
  CHECK(with_fault(good(text, options), 0) == least(40, 10, "selection:0", 2));
  CHECK(least(40, 10, "selection:0", 1) != least(40, 10, "selection:0", 2));
  const std::string seeded = "{ \"seed\": 7, " + text.substr(1);
  CHECK(with_fault(good(seeded), 0) == least(40, 10, "selection:0", 7));
}

TEST_CASE("selection: an endpoint more takes a place or none, and everybody else keeps the order") {
  std::size_t replaced = 0;
  for (std::size_t endpoints = 6; endpoints < 30; ++endpoints) {
    const auto before = with_fault(good(farm(endpoints, down(R"({ "count": 5 })"))), 0);
    auto after = with_fault(good(farm(endpoints + 1, down(R"({ "count": 5 })"))), 0);
    if (after == before) continue;
    ++replaced;
    CHECK(after.back() == endpoints);
    after.pop_back();
    CHECK(std::includes(before.begin(), before.end(), after.begin(), after.end()));
  }
  CHECK(replaced > 0);
  CHECK(replaced < 24);
}

TEST_CASE("selection: a larger share takes the same endpoints and some more") {
  std::vector<std::size_t> before;
  for (const char* percent : {"10", "20", "50", "90", "100"}) {
    const auto now = with_fault(good(farm(10, down(std::string("{ \"percent\": ") + percent + " }"))), 0);
    CHECK(now.size() > before.size());
    CHECK(std::includes(now.begin(), now.end(), before.begin(), before.end()));
    before = now;
  }
}

TEST_CASE("selection: endpoints of later generations are drawn from too") {
  std::string text = farm(2, down(R"({ "count": 3 })"));
  text.pop_back();
  const std::string reload =
      R"(, "reloads": [ { "at_ms": 5, "patch": [ { "op": "add", "path": "/upstreams/0/endpoints/-", )"
      R"("value": { "address": "late", "port": 1 } } ] } ] })";
  CHECK(with_fault(good(text + reload), 0) == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("selection: places count whether or not a fault is selected, so own faults keep their luck") {
  const std::string own = R"(, "e0:1": { "faults": [ { "error": { "ratio": 0.3 } } ] })";
  const auto run = [&](const std::string& selection) {
    const std::string harmless = R"({ "latency": { "add_ms": 0 }, "selection": )" + selection + " }";
    return simulate(good(farm(2, harmless + R"(, { "hang": { "ratio": 0 } })", own)));
  };
  const Scenario scenario = good(farm(2, down("[\"e1:1\"]") + R"(, { "hang": { "ratio": 0 } })", own));
  REQUIRE(scenario.servers[0].faults.size() == 2);
  CHECK(scenario.servers[0].faults[0].number == 1);
  CHECK(scenario.servers[0].faults[1].number == 2);
  REQUIRE(scenario.servers[1].faults.size() == 2);
  CHECK(scenario.servers[1].faults[0].number == 0);
  CHECK(scenario.servers[1].faults[1].number == 1);

  const Timeline nobody = run("[\"e1:1\"]"), everybody = run(R"({ "percent": 100 })");
  CHECK(nobody.faults.size() + 1 == everybody.faults.size());
  CHECK(nobody.summary.failed > 100);
  CHECK(nobody.summary.failed < 200);
  CHECK(nobody.lanes[0].failures == everybody.lanes[0].failures);
}

TEST_CASE("selection: mistakes are told with what would be right") {
  CHECK(mistakes(farm(3, down(R"(["e3:1"])"))).at(0).find("did you mean \"e0:1\"?") != std::string::npos);
  CHECK(mistakes(farm(3, down(R"({ "count": 4 })"))).at(0).find("at most 3") != std::string::npos);
  CHECK(mistakes(farm(3, R"({ "down": {} })", R"(, "e1:1": { "faults": [ )" + down("[\"e1:1\"]") + " ] }"))
            .at(0)
            .find("selection is for the faults of \"*\"") != std::string::npos);
  CHECK(mistakes(farm(3, R"({ "from_ms": 1, "selection": ["e1:1"] })")).at(0).find("bursts") !=
        std::string::npos);
}

TEST_CASE("selection: what is too much for all is not too much for the few that it is for") {
  std::string script = "S";
  for (int n = 1; n < 100'000; ++n) script += " S";
  const auto faults = [&](const std::string& selection) {
    return farm(201, "{ \"outcomes\": \"" + script + "\", \"selection\": " + selection + " }");
  };
  CHECK(mistakes(faults(R"({ "count": 200 })")).size() == 1);
  CHECK(mistakes(faults(R"({ "count": 2 })")).empty());
  CHECK(mistakes(faults(R"(["e5:1"])")).empty());
}
