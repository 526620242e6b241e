#include "sim/arrivals.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sim/latency.hpp"
#include "sim/real_math.hpp"

using namespace halfopen::sim;

namespace {

constexpr Nanos MS = NANOS_PER_MS;
constexpr Nanos SECOND = 1000 * MS;

using Arrivals = std::vector<std::pair<Nanos, std::uint64_t>>;

Arrivals all(const Traffic& traffic, Nanos duration, std::uint64_t entry = 0, std::uint64_t seed = 1) {
  ArrivalSource source(traffic, entry, seed, duration);
  Arrivals out;
  Arrival arrival;
  while (source.next(arrival)) out.emplace_back(arrival.at, arrival.index);
  CHECK_FALSE(source.next(arrival));  // and then never again
  return out;
}

template <typename Source>
Traffic traffic(Source source, Nanos from = 0, Nanos to = NEVER) {
  Traffic out;
  out.source = std::move(source);
  out.from = from;
  out.to = to;
  return out;
}

ArrivalProcess uniform(double rate, std::vector<RateStage> stages = {}) {
  return {false, rate, std::move(stages)};
}
ArrivalProcess poisson(double rate, std::vector<RateStage> stages = {}) {
  return {true, rate, std::move(stages)};
}

void check_in_order(const Arrivals& arrivals) {
  bool in_order = true;
  for (std::size_t i = 1; i < arrivals.size(); ++i) in_order = in_order && arrivals[i - 1] <= arrivals[i];
  CHECK(in_order);
}

}  // namespace

TEST_CASE("arrivals: every_ms begins at from, and `to` is excluded") {
  CHECK(all(traffic(ArrivalEvery{100 * MS}, 30 * MS), 330 * MS) ==
        Arrivals{{30 * MS, 0}, {130 * MS, 1}, {230 * MS, 2}});
  CHECK(all(traffic(ArrivalEvery{100 * MS}, 30 * MS, 131 * MS), SECOND).size() == 2);
  CHECK(all(traffic(ArrivalEvery{100 * MS}, 30 * MS, 130 * MS), SECOND).size() == 1);
  CHECK(all(traffic(ArrivalEvery{SECOND}), SECOND) == Arrivals{{0, 0}});
}

TEST_CASE("arrivals: every_ms over many blocks misses none") {
  const Arrivals arrivals = all(traffic(ArrivalEvery{MS}), 1000 * MS);
  REQUIRE(arrivals.size() == 1000);
  for (std::uint64_t k = 0; k < 1000; ++k) CHECK(arrivals[k] == std::pair{k * MS, k});
}

TEST_CASE("arrivals: at_ms goes by time, of equal times by place, and the place is the index") {
  const ArrivalTimes times{{150 * MS, 50 * MS, 150 * MS, 20 * MS, 700 * MS, 49 * MS}};
  const Traffic entry = traffic(times, 50 * MS, 700 * MS);
  CHECK(all(entry, SECOND) == Arrivals{{50 * MS, 1}, {150 * MS, 0}, {150 * MS, 2}});
  CHECK(all(entry, 150 * MS) == Arrivals{{50 * MS, 1}});  // the run's end is excluded too
}

TEST_CASE("arrivals: at_ms that is in order already is cut the same way") {
  const ArrivalTimes times{{20 * MS, 50 * MS, 150 * MS, 150 * MS, 700 * MS}};
  CHECK(all(traffic(times, 50 * MS, 700 * MS), SECOND) ==
        Arrivals{{50 * MS, 1}, {150 * MS, 2}, {150 * MS, 3}});
  CHECK(all(traffic(times, 51 * MS, 150 * MS), SECOND).empty());
  CHECK(all(traffic(ArrivalTimes{}), SECOND).empty());
}

TEST_CASE("arrivals: uniform is evenly spaced, first at from, rounded down") {
  CHECK(all(traffic(uniform(10), 50 * MS, 250 * MS), SECOND) == Arrivals{{50 * MS, 0}, {150 * MS, 1}});
  CHECK(all(traffic(uniform(3)), SECOND) == Arrivals{{0, 0}, {333'333'333, 1}, {666'666'666, 2}});
  CHECK(all(traffic(uniform(3)), SECOND + 1).size() == 4);
  CHECK(all(traffic(uniform(1e-300)), SECOND).size() == 1);
}

TEST_CASE("arrivals: none at rate 0, none in an empty stretch") {
  for (const bool is_poisson : {false, true}) {
    CHECK(all(traffic(ArrivalProcess{is_poisson, 0, {}}), SECOND).empty());
    CHECK(all(traffic(ArrivalProcess{is_poisson, 100, {}}, 500 * MS, 500 * MS), SECOND).empty());
    CHECK(all(traffic(ArrivalProcess{is_poisson, 100, {}}, SECOND), SECOND).empty());
    CHECK(all(traffic(ArrivalProcess{is_poisson, 100, {{0, 0, SECOND}}}), 2 * SECOND).empty());
  }
}

// 0 -> 10 over 2 s expects 10 arrivals, the k-th at sqrt(0.4 k) s; 10 -> 0 mirrors it.
TEST_CASE("arrivals: a rising and a falling stage, worked out by hand") {
  const Traffic entry = traffic(uniform(0, {{0, 10, 2 * SECOND}, {10, 0, 2 * SECOND}}), 7);
  const Arrivals arrivals = all(entry, 10 * SECOND);
  REQUIRE(arrivals.size() == 20);
  CHECK(arrivals[0] == std::pair{Nanos{7}, std::uint64_t{0}});  // A = 0 is the stage's start, not 0/0
  CHECK(arrivals[1].first == 7 + 632'455'532);
  CHECK(arrivals[9].first == 7 + 1'897'366'596);
  CHECK(arrivals[10].first == 7 + 2 * SECOND);  // at the border of two stages: the later one's start
  CHECK(arrivals[11].first == 7 + 2'102'633'403);
  CHECK(arrivals[19].first == 7 + 3'367'544'467);
}

TEST_CASE("arrivals: the end of the last stage belongs to no stage") {
  const Traffic entry = traffic(uniform(0, {{5, 5, SECOND}}));
  CHECK(all(entry, 10 * SECOND) ==
        Arrivals{{0, 0}, {200 * MS, 1}, {400 * MS, 2}, {600 * MS, 3}, {800 * MS, 4}});
}

// 25 a second for 0.28 s is 7; (36 + 14) / 2 * 0.28 in double is a little more, and would let an eighth
// arrive.
TEST_CASE("arrivals: a border at a whole number of arrivals is met exactly") {
  CHECK(all(traffic(uniform(0, {{36, 14, 280 * MS}})), SECOND).size() == 7);
  const Arrivals arrivals =
      all(traffic(uniform(0, {{36, 14, 280 * MS}, {0, 0, MS}, {1, 1, SECOND}})), 2 * SECOND);
  REQUIRE(arrivals.size() == 8);
  CHECK(arrivals[7].first == 281 * MS);
}

TEST_CASE("arrivals: stages at 0 and stages of no length pass without an arrival") {
  const std::vector<RateStage> stages = {
      {0, 0, SECOND}, {0, 10, 0}, {10, 10, SECOND}, {0, 0, SECOND}, {10, 10, SECOND}};
  const Arrivals arrivals = all(traffic(uniform(0, stages)), 10 * SECOND);
  REQUIRE(arrivals.size() == 20);
  CHECK(arrivals[0].first == SECOND);
  CHECK(arrivals[9].first == SECOND + 900 * MS);
  CHECK(arrivals[10].first == 3 * SECOND);
  CHECK(arrivals[19].first == 3 * SECOND + 900 * MS);
}

// Pinned from NumPy's Philox with mpmath's ln; tests/python/test_numpy_draws.py makes many more of them.
TEST_CASE("arrivals: poisson, the pinned nanoseconds") {
  const Arrivals first = all(traffic(poisson(1000), 5 * MS), SECOND);
  CHECK(first[0].first == 5'973'754);
  CHECK(first[1].first == 6'681'144);
  CHECK(first[4].first == 9'143'339);
  const Arrivals other = all(traffic(poisson(1000)), SECOND, 3, ~std::uint64_t{0});
  REQUIRE(other.size() == 1101);
  CHECK(other[0] == std::pair{Nanos{1'032'531}, std::uint64_t{0}});
  CHECK(other[127].first == 112'172'049);  // the last of the first block and the first of the second
  CHECK(other[128].first == 113'962'891);
  CHECK(other[1100] == std::pair{Nanos{999'546'212}, std::uint64_t{1100}});
  const std::vector<RateStage> stages = {
      {10, 60, 10 * SECOND}, {60, 0, 5 * SECOND}, {0, 0, 5 * SECOND}, {0, 80, 10'001 * MS}};
  const Arrivals staged = all(traffic(poisson(10, stages)), 60 * SECOND, 2);
  REQUIRE(staged.size() == 885);
  CHECK(staged[0].first == 15'471'058);
  CHECK(staged[350].first == 10'694'792'984);
  CHECK(staged[501].first == 22'445'937'527);
  CHECK(staged[884].first == 29'994'207'240);
}

TEST_CASE("arrivals: blocks change nothing, each arrival is the formula's") {
  const Arrivals arrivals = all(traffic(poisson(250)), 20 * SECOND, 4);
  const Stream stream(1, "arrivals:4");
  double level = 0;
  for (std::uint64_t k = 0; k < arrivals.size(); ++k) {
    level = level - real::ln(1.0 - stream.unit(k, 0, 0, 4));
    CHECK(arrivals[k] == std::pair{floor_nanos(level * 1e9 / 250), k});
  }
  CHECK(arrivals.size() == doctest::Approx(5000).epsilon(0.05));
}

TEST_CASE("arrivals: poisson by stages is in order, complete and as many as expected") {
  const std::vector<RateStage> stages = {{0, 20'000, 3 * SECOND},
                                         {20'000, 100, SECOND},
                                         {100, 9000, 1},
                                         {9000, 9000, 2 * SECOND},
                                         {9000, 0, SECOND}};
  const Traffic entry = traffic(poisson(0, stages), 123);
  const Arrivals arrivals = all(entry, 60 * SECOND);
  check_in_order(arrivals);
  std::vector<bool> seen(arrivals.size());
  for (const auto& [at, index] : arrivals) seen.at(index) = true;
  CHECK(std::count(seen.begin(), seen.end(), false) == 0);
  CHECK(static_cast<double>(arrivals.size()) ==
        doctest::Approx(expected_arrivals(entry, 60 * SECOND)).epsilon(0.02));
}

TEST_CASE("arrivals: a longer run begins with the shorter one, and entries have luck of their own") {
  const Traffic entry = traffic(poisson(100));
  Arrivals longer = all(entry, 3 * SECOND);
  const Arrivals shorter = all(entry, SECOND);
  REQUIRE(longer.size() > shorter.size());
  longer.resize(shorter.size());
  CHECK(longer == shorter);
  CHECK(all(entry, SECOND, 1) != shorter);
  CHECK(all(entry, SECOND, 0, 2) != shorter);
}

TEST_CASE("expected arrivals: of every source, within the entry and the run") {
  CHECK(expected_arrivals(traffic(uniform(10), 500 * MS), 2 * SECOND) == 15.0);
  CHECK(expected_arrivals(traffic(poisson(10), 0, SECOND), 2 * SECOND) == 10.0);
  CHECK(expected_arrivals(traffic(poisson(10), 2 * SECOND), 2 * SECOND) == 0.0);
  CHECK(expected_arrivals(traffic(poisson(10), 3 * SECOND), 2 * SECOND) == 0.0);
  CHECK(expected_arrivals(traffic(ArrivalEvery{100 * MS}), SECOND) == 10.0);
  CHECK(expected_arrivals(traffic(ArrivalEvery{100 * MS}), SECOND + 1) == 11.0);
  CHECK(std::isinf(expected_arrivals(traffic(ArrivalEvery{0}), SECOND)));
  CHECK(expected_arrivals(traffic(ArrivalTimes{{5, 1, 3, 9}}, 3, 9), SECOND) == 2.0);
}

TEST_CASE("expected arrivals: stages count as far as the run goes") {
  const Traffic entry = traffic(uniform(0, {{0, 10, 2 * SECOND}, {10, 0, 2 * SECOND}, {0, 0, 0}}));
  CHECK(expected_arrivals(entry, 10 * SECOND) == 20.0);
  CHECK(expected_arrivals(entry, 2 * SECOND) == 10.0);
  CHECK(expected_arrivals(entry, SECOND) == 2.5);
  CHECK(expected_arrivals(entry, 3 * SECOND) == 17.5);
}
