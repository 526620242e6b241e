#include "sim/sweep.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "sim/metrics.hpp"
#include "sim/simulation.hpp"
#include "sim/writer_parts.hpp"
#include "tests/sim/sweeps.hpp"

using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

constexpr std::uint64_t LAST_SEED = std::numeric_limits<std::uint64_t>::max();

}  // namespace

TEST_CASE("sweep: the last parameter varies fastest, but for the replicates") {
  const Sweep sweep(plan({RATES, EJECTS}, 2));
  REQUIRE(sweep.size() == 12);
  std::vector<std::string> seen;
  for (std::uint64_t number = 1; number <= 12; ++number) {
    const SweepRun run = sweep.run(number);
    CHECK(run.number == number);
    CHECK(run.point == (number - 1) / 2);
    seen.push_back(sweep.value(run, 0) + sweep.value(run, 1).substr(12, 1) + ':' +
                   std::to_string(run.replicate));
  }
  CHECK(seen == std::vector<std::string>{"105:1", "105:2", "107:1", "107:2", "205:1", "205:2", "207:1",
                                         "207:2", "405:1", "405:2", "407:1", "407:2"});
}

TEST_CASE("sweep: without parameters there is one point") {
  const Sweep sweep(plan({}, 3));
  CHECK(sweep.size() == 3);
  CHECK(sweep.run(3).point == 0);
  CHECK(sweep.run(3).replicate == 3);
}

TEST_CASE("sweep: every run is in exactly one shard, and shards differ by one run at most") {
  const Sweep sweep(plan({RATES, EJECTS}, 2));
  for (const std::uint64_t of : {1U, 2U, 5U, 11U, 12U, 13U, 40U}) {
    CAPTURE(of);
    std::vector<std::uint64_t> all;
    for (std::uint64_t index = 1; index <= of; ++index) {
      const std::vector<std::uint64_t> shard = numbers(sweep.shard(index, of));
      CHECK(shard.size() >= 12 / of);
      CHECK(shard.size() <= (12 + of - 1) / of);
      for (const std::uint64_t number : shard) CHECK(number % of == index % of);
      all.insert(all.end(), shard.begin(), shard.end());
    }
    std::sort(all.begin(), all.end());
    CHECK(all == numbers(sweep.all()));
  }
  CHECK(numbers(sweep.only(7)) == std::vector<std::uint64_t>{7});
  CHECK(numbers(sweep.shard(2, 5).without_first(1)) == std::vector<std::uint64_t>{7, 12});
}

TEST_CASE("sweep: replicates count up from the point's own seed, the same for every point") {
  Sweep sweep(plan({RATES}, 2));
  REQUIRE(sweep.prepare(sweep.all(), {}).empty());
  CHECK(sweep.seed(sweep.run(1)) == 5);
  CHECK(sweep.seed(sweep.run(2)) == 6);
  CHECK(sweep.seed(sweep.run(5)) == 5);
  CHECK(sweep.seed(sweep.run(6)) == 6);

  SweepPlan given = plan({RATES}, 3);
  given.load.seed = LAST_SEED - 1;
  Sweep wrapping(given);
  CHECK(wrapping.seed(wrapping.run(1)) == LAST_SEED - 1);
  CHECK(wrapping.seed(wrapping.run(2)) == LAST_SEED);
  CHECK(wrapping.seed(wrapping.run(3)) == 0);

  Sweep of_seeds(plan({{"/seed", {"100", "7"}}}, 2));
  CHECK(of_seeds.seed(of_seeds.run(2)) == 101);
  CHECK(of_seeds.seed(of_seeds.run(3)) == 7);
}

TEST_CASE("sweep: a run is the one that the scenario makes with its values and its seed") {
  Sweep sweep(plan({RATES, EJECTS}, 2));
  for (const SweepRecord& record : records(sweep, sweep.all(), 2)) {
    CAPTURE(record.run.number);
    LoadOptions options;
    options.sets = {{RATES.pointer, sweep.value(record.run, 0)},
                    {EJECTS.pointer, sweep.value(record.run, 1)}};
    options.seed = 5 + (record.run.replicate - 1);
    const Scenario scenario = good(SMALL, options);
    const Timeline timeline = simulate(scenario);
    CHECK(record.seed == scenario.seed);
    CHECK(record.digest == scenario.digest);
    CHECK(sweep.digest(record.run) == scenario.digest);
    CHECK(record.fingerprint == halfopen::sim::fingerprint(timeline));
    CHECK(record.expectations == 2);
    CHECK(record.held == 1);
    REQUIRE(record.metrics.size() == metrics().size());
    CHECK(record.metrics[0] == MetricValue{timeline.summary.requests});
  }
}

TEST_CASE("sweep: each replicate draws its own endpoints, as its run alone does") {
  // One of two endpoints fails; which one it is comes of the seed.
  const std::string text = scenario(
      R"("endpoints": { "*": { "faults": [ { "error": { "ratio": 1 }, "selection": { "count": 1 } } ] } },
         "traffic": [ { "upstream": "api", "arrivals": "uniform", "rate_rps": 20 } ])");
  const SweepParam health{"/upstreams/0/health", {R"({"consecutive_failures":2})"}};
  Sweep sweep(plan({health}, 8, text));
  std::set<std::uint64_t> seen;
  for (const SweepRecord& record : records(sweep, sweep.all(), 2)) {
    LoadOptions options;
    options.seed = record.seed;
    options.sets = {{health.pointer, health.values[0]}};
    const Loaded alone = load_scenario_text(text, "t.json", options);
    REQUIRE(alone.scenario);
    CHECK(record.digest == alone.scenario->digest);
    CHECK(record.fingerprint == fingerprint(simulate(*alone.scenario)));
    seen.insert(record.fingerprint);
  }
  CHECK(seen.size() == 2);
}

TEST_CASE("sweep: records come in the order of runs and are the same for any number of threads") {
  Sweep sweep(plan({RATES, EJECTS}, 20));
  const std::vector<SweepRecord> one = records(sweep, sweep.all(), 1);
  const std::vector<SweepRecord> five = records(sweep, sweep.all(), 5);
  REQUIRE(one.size() == 120);
  REQUIRE(five.size() == 120);
  std::set<std::uint64_t> digests;
  for (std::size_t n = 0; n < one.size(); ++n) {
    CHECK(one[n].run.number == n + 1);
    CHECK(five[n].run.number == n + 1);
    CHECK(one[n].digest == five[n].digest);
    CHECK(one[n].fingerprint == five[n].fingerprint);
    CHECK(one[n].metrics[0] == five[n].metrics[0]);
    digests.insert(one[n].digest);
  }
  CHECK(digests.size() == 120);
}

TEST_CASE("sweep: a shard whose runs skip points reads and runs those it has") {
  Sweep sweep(plan({{"/traffic/0/rate_rps", {"10", "-1", "40", "50", "-2"}}}, 2));
  // Runs 1, 6 and so points 0 and 2; the bad ones are other shards'.
  const std::vector<SweepRecord> out = records(sweep, sweep.shard(1, 5), 2);
  REQUIRE(out.size() == 2);
  CHECK(out[0].run.number == 1);
  CHECK(out[1].run.number == 6);
  CHECK(sweep.value(out[1].run, 0) == "40");
  CHECK(sweep.prepare(sweep.shard(2, 5), {}).empty());      // 2, 7: points 0 and 3
  CHECK(sweep.prepare(sweep.shard(3, 5), {}).size() == 1);  // 3, 8: points 1 and 3
  CHECK(sweep.prepare(sweep.only(4), {}).size() == 1);
  CHECK(sweep.prepare(sweep.only(5), {}).empty());
}

TEST_CASE("sweep: each distinct mistake is told once, with the first run that makes it") {
  Sweep sweep(plan({{"/traffic/0/rate_rps", {"10", "-1"}}, EJECTS}, 3));
  const std::vector<SweepMistake> found = sweep.prepare(sweep.all(), {2, {}});
  REQUIRE(found.size() == 1);
  CHECK(found[0].mistake.pointer == "/traffic/0/rate_rps");
  CHECK(found[0].first.number == 7);
  CHECK(found[0].points == 2);
}

TEST_CASE("sweep: a pause that answers false ends the work before its end") {
  Sweep sweep(plan({RATES, EJECTS}, 20000));
  REQUIRE(sweep.prepare(sweep.all(), {}).empty());
  std::uint64_t seen = 0;
  sweep.execute(sweep.all(), {2, [&seen] { return seen == 0; }}, [&seen](SweepRecord&& record) {
    ++seen;
    CHECK(record.run.number == seen);
  });
  CHECK(seen >= 1);
  CHECK(seen < sweep.size());
}

TEST_CASE("sweep: what can't be swept is a sentence") {
  const auto values = [](std::uint64_t count) { return std::vector<std::string>(count, "1"); };
  CHECK_FALSE(sweep_problem(plan({})).has_value());
  CHECK_FALSE(sweep_problem(plan({{"/a", values(1000)}, {"/b", values(1000)}}, 10)).has_value());
  CHECK(*sweep_problem(plan({{"/a", values(1000)}, {"/b", values(1000)}}, 11)) ==
        "the sweep has more than 10000000 runs: sweep parts of it");
  CHECK(sweep_problem(plan({{"/a", values(2)}}, LAST_SEED)).has_value());
  CHECK(*sweep_problem(plan({}, 0)) == "there is nothing to run with 0 replicates");
  CHECK(*sweep_problem(plan({{"/a", {}}})) == "/a has no values");
  CHECK(*sweep_problem(plan({{"/a", {"1"}}, {"/a", {"2"}}})) ==
        "/a is given twice: give all its values at once");
  CHECK(*sweep_problem(plan({{"/a/b", {"1"}}, {"/a", {"2"}}})) ==
        "/a would undo /a/b, which is inside it: give it first");
  CHECK_FALSE(sweep_problem(plan({{"/a", {"{}"}}, {"/a/b", {"2"}}})).has_value());
  CHECK_FALSE(sweep_problem(plan({{"/a1", {"1"}}, {"/a", {"2"}}})).has_value());
  CHECK(sweep_problem(plan({{"/a\nb", {"1"}}})).has_value());
  SweepPlan seeded = plan({{"/seed", {"1"}}});
  CHECK_FALSE(sweep_problem(seeded).has_value());
  seeded.load.seed = 3;
  CHECK(sweep_problem(seeded).has_value());
}
