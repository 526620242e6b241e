#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/sim/sweeps.hpp"

using namespace halfopen::sim;
using namespace halfopen::sim::testing;

TEST_CASE("sweep: points may be listed in place of a grid") {
  SweepPlan listed = plan({{"/traffic/0/rate_rps", {}}, {"/seed", {}}}, 2);
  listed.points = {{"40", "8"}, {"10", "5"}, {"40", "8"}};
  REQUIRE_FALSE(sweep_problem(listed).has_value());
  CHECK(sweep_size(listed) == 6);
  Sweep sweep(listed);
  REQUIRE(sweep.size() == 6);
  CHECK(sweep.value(sweep.run(3), 0) == "10");
  const std::vector<SweepRecord> out = records(sweep, sweep.all(), 2);
  REQUIRE(out.size() == 6);
  CHECK(out[1].seed == 9);
  CHECK(out[3].seed == 6);
  CHECK(out[0].fingerprint == out[4].fingerprint);
  CHECK(out[0].digest == out[4].digest);
  Sweep grid(plan({{"/traffic/0/rate_rps", {"10"}}}, 2));
  CHECK(records(grid, grid.all(), 1)[1].digest == out[3].digest);

  listed.points[1].pop_back();
  CHECK(*sweep_problem(listed) == "point 1 has 1 values for 2 parameters");
  listed.points.assign(1002, std::vector<std::string>{"1", "2"});
  listed.replicates = 9990;
  CHECK(*sweep_problem(listed) == "the sweep has more than 10000000 runs: sweep parts of it");
}

TEST_CASE("sweep: any runs may be chosen by a list of numbers") {
  Sweep sweep(plan({RATES, EJECTS}, 2));
  const SweepRuns some = Sweep::listed({1, 2, 7, 12});
  CHECK(numbers(some) == std::vector<std::uint64_t>{1, 2, 7, 12});
  CHECK(numbers(some.without_first(1)) == std::vector<std::uint64_t>{2, 7, 12});
  CHECK(numbers(some.without_first(1).without_first(2)) == std::vector<std::uint64_t>{12});
  const std::vector<SweepRecord> whole = records(sweep, sweep.all(), 2);
  const std::vector<SweepRecord> out = records(sweep, some, 2);
  REQUIRE(out.size() == 4);
  for (const SweepRecord& record : out) {
    CHECK(record.fingerprint == whole[record.run.number - 1].fingerprint);
  }
  CHECK(records(sweep, Sweep::listed({}), 2).empty());
  // Only the points of the chosen runs are read.
  Sweep bad(plan({{"/traffic/0/rate_rps", {"10", "-1", "20"}}}, 2));
  CHECK(bad.prepare(Sweep::listed({1, 2, 6}), {1, {}}).empty());
  CHECK(bad.prepare(Sweep::listed({1, 4}), {1, {}})[0].first.number == 3);
}

TEST_CASE("sweep: runs are handed over as they are done if that is wanted") {
  // The first point takes much longer than all others together.
  Sweep sweep(plan({{"/traffic/0/rate_rps", {"200000", "10", "20", "30"}}}, 1));
  REQUIRE(sweep.prepare(sweep.all(), {}).empty());
  std::vector<std::uint64_t> seen;
  sweep.execute(sweep.all(), {2, {}, true},
                [&seen](SweepRecord&& record) { seen.push_back(record.run.number); });
  std::vector<std::uint64_t> sorted = seen;
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted == std::vector<std::uint64_t>{1, 2, 3, 4});

  bool stop = false;
  seen.clear();
  sweep.execute(sweep.all(), {1, [&stop] { return !stop; }, true}, [&](SweepRecord&& record) {
    seen.push_back(record.run.number);
    stop = true;
  });
  CHECK(seen.size() >= 1);
}

TEST_CASE("sweep: what ends the work early ends the runs under way too") {
  // A run of minutes.
  Sweep sweep(plan({{"/duration_ms", {"3000000"}}, {"/traffic/0/rate_rps", {"50000"}}}, 2));
  REQUIRE(sweep.prepare(sweep.all(), {}).empty());
  const auto none = [](SweepRecord&&) { FAIL("a run was done"); };
  for (const bool as_done : {false, true}) {
    sweep.execute(sweep.all(), {2, [] { return false; }, as_done}, none);
    const auto thrown = [&] {
      sweep.execute(sweep.all(), {2, []() -> bool { throw std::runtime_error("enough"); }, as_done}, none);
    };
    CHECK_THROWS_WITH(thrown(), "enough");
  }
}
