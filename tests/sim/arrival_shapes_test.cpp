// Steps, bursts and waves to the nanosecond, and where users begin.
#include "sim/arrival_shapes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sim/arrivals.hpp"
#include "sim/latency.hpp"
#include "sim/real_math.hpp"

using namespace halfopen::sim;

namespace {

constexpr Nanos MS = NANOS_PER_MS;
constexpr Nanos SECOND = 1000 * MS;
constexpr Nanos LONGEST_RUN = 10'000'000'000 * MS;

using Arrivals = std::vector<std::pair<Nanos, std::uint64_t>>;

Arrivals all(const Traffic& traffic, Nanos duration, std::uint64_t entry = 0) {
  ArrivalSource source(traffic, entry, 1, duration);
  Arrivals out;
  Arrival arrival;
  while (source.next(arrival)) out.emplace_back(arrival.at, arrival.index);
  CHECK_FALSE(source.next(arrival));
  return out;
}

Traffic burst(double rps, Nanos length, Nanos every, Nanos from = 0, bool poisson = false) {
  ArrivalProcess process;
  process.poisson = poisson;
  process.burst = BurstShape{rps, length, every};
  Traffic out;
  out.source = process;
  out.from = from;
  return out;
}

Traffic wave(double mean, double amplitude, Nanos period, Nanos from = 0, bool poisson = false) {
  ArrivalProcess process;
  process.poisson = poisson;
  process.wave = WaveShape{mean, amplitude, period};
  Traffic out;
  out.source = process;
  out.from = from;
  return out;
}

Traffic closed_loop(std::uint64_t count, Nanos think, Nanos from = 0) {
  Traffic out;
  out.source = Users{count, think};
  out.from = from;
  return out;
}

std::size_t before(const Arrivals& arrivals, Nanos t) {
  return static_cast<std::size_t>(std::count_if(arrivals.begin(), arrivals.end(),
                                                [t](const auto& arrival) { return arrival.first < t; }));
}

// In order, and every index from 0 on once.
void check_complete(const Arrivals& arrivals) {
  CHECK(std::is_sorted(arrivals.begin(), arrivals.end()));
  std::vector<bool> seen(arrivals.size());
  for (const auto& [at, index] : arrivals) seen.at(index) = true;
  CHECK(std::count(seen.begin(), seen.end(), false) == 0);
}

// L(t) as the reference has it, on x87's long double.
long double expected_before(const WaveShape& shape, Nanos t) {
  const long double turn = 2 * std::acos(-1.0L);
  const long double seconds = static_cast<long double>(t) / 1e9L;
  const long double period = static_cast<long double>(shape.period) / 1e9L;
  return shape.mean_rps * seconds +
         shape.amplitude_rps * period / turn * (1 - std::cos(turn * seconds / period));
}

}  // namespace

TEST_CASE("arrivals: a step at the border belongs to the next piece, and after the last nothing comes") {
  ArrivalProcess process;
  process.stages = {{10, 10, 500 * MS}, {0, 0, SECOND}, {4, 4, 500 * MS}};
  Traffic entry;
  entry.source = process;
  CHECK(all(entry, 100 * SECOND) == Arrivals{{0, 0},
                                             {100 * MS, 1},
                                             {200 * MS, 2},
                                             {300 * MS, 3},
                                             {400 * MS, 4},
                                             {1500 * MS, 5},
                                             {1750 * MS, 6}});
}

TEST_CASE("arrivals: a burst begins with the entry, and what falls on its end comes with the next one") {
  const Arrivals arrivals = all(burst(100, 30 * MS, SECOND, 7 * MS), 3 * SECOND);
  CHECK(arrivals == Arrivals{{7 * MS, 0},
                             {17 * MS, 1},
                             {27 * MS, 2},
                             {1007 * MS, 3},
                             {1017 * MS, 4},
                             {1027 * MS, 5},
                             {2007 * MS, 6},
                             {2017 * MS, 7},
                             {2027 * MS, 8}});
  Traffic cut = burst(100, 30 * MS, SECOND, 7 * MS);
  cut.to = 1017 * MS;
  CHECK(all(cut, 3 * SECOND).size() == 4);
  cut.to += 1;
  CHECK(all(cut, 3 * SECOND).size() == 5);
}

// 1.5 arrivals a burst: S = 2 falls in the middle of the second, S = 3 on the begin of the third.
TEST_CASE("arrivals: bursts of a share of an arrival carry the rest over") {
  CHECK(all(burst(30, 50 * MS, SECOND), 4 * SECOND) == Arrivals{{0, 0},
                                                                {33'333'333, 1},
                                                                {SECOND + 16'666'666, 2},
                                                                {2 * SECOND, 3},
                                                                {2 * SECOND + 33'333'333, 4},
                                                                {3 * SECOND + 16'666'666, 5}});
}

TEST_CASE("arrivals: bursts without a pause are a constant rate") {
  const Arrivals arrivals = all(burst(250, 40 * MS, 40 * MS), 2 * SECOND);
  REQUIRE(arrivals.size() == 500);
  for (std::uint64_t k = 0; k < 500; ++k) CHECK(arrivals[k] == std::pair{k * 4 * MS, k});
}

// 10^-9 arrivals in each of 10^13 bursts: stepping through them would never end.
TEST_CASE("arrivals: bursts that are almost all empty cost nothing") {
  CHECK(all(burst(1, 1, 1000), LONGEST_RUN).size() == 10'000);
  const Arrivals arrivals = all(burst(1, 1, 1000), 2001 * SECOND);
  CHECK(arrivals == Arrivals{{0, 0}, {1000 * SECOND, 1}, {2000 * SECOND, 2}});
  CHECK(all(burst(1e-300, 1, LONGEST_RUN), LONGEST_RUN) == Arrivals{{0, 0}});
  CHECK(all(burst(0, SECOND, SECOND), LONGEST_RUN).empty());
}

TEST_CASE("arrivals: every border of bursts is met exactly, to the last of a long run") {
  const Arrivals arrivals = all(burst(7, SECOND, 3 * SECOND), 30'000 * SECOND);
  REQUIRE(arrivals.size() == 70'000);
  bool exact = true;
  for (std::uint64_t k = 0; k < arrivals.size(); k += 7) {
    exact = exact && arrivals[k].first == k / 7 * 3 * SECOND;
    exact = exact && arrivals[k + 6].first == k / 7 * 3 * SECOND + 857'142'857;
  }
  CHECK(exact);
}

TEST_CASE(
    "arrivals: a border belongs to the later period whatever it rounds to, a hair less to the earlier") {
  for (const double nano_arrivals : {0.1 * 3e8, 7.7 * 1e7, 1.0 / 3.0, 123'456'789.125, 1e-3 * 1e9 / 7}) {
    const Periods periods(nano_arrivals, SECOND);
    int wrong = 0;
    for (std::uint64_t n = 1; n < 20'000; ++n) {
      const double border = static_cast<double>(n) * nano_arrivals / 1e9;
      Periods::Place at, before;
      REQUIRE(periods.find(border, at));
      REQUIRE(periods.find(std::nextafter(border, 0.0), before));
      wrong += at.start != n * SECOND || at.within != 0.0;
      wrong += before.start != (n - 1) * SECOND || before.within <= 0.0;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("arrivals: poisson by bursts is in order, complete, within the bursts and as many as expected") {
  const Traffic entry = burst(20'000, 37 * MS, 100 * MS, 5, true);
  const Arrivals arrivals = all(entry, 30 * SECOND);
  check_complete(arrivals);
  bool within = true;
  for (const auto& [at, index] : arrivals) within = within && (at - 5) % (100 * MS) < 37 * MS;
  CHECK(within);
  CHECK(static_cast<double>(arrivals.size()) ==
        doctest::Approx(expected_arrivals(entry, 30 * SECOND)).epsilon(0.02));
}

// 100 a second on average; the half period above it expects 2 * 50 * 4 / (2 pi) = 63.66 more than 200.
TEST_CASE("arrivals: a wave, counted at its quarter periods") {
  const Arrivals arrivals = all(wave(100, 50, 4 * SECOND, 9), 9 + 8 * SECOND);
  REQUIRE(arrivals.size() == 800);
  CHECK(arrivals[0].first == 9);
  CHECK(before(arrivals, 9 + SECOND) == 132);      // L = 131.83
  CHECK(before(arrivals, 9 + 2 * SECOND) == 264);  // 263.66
  CHECK(before(arrivals, 9 + 3 * SECOND) == 332);  // 331.83
  CHECK(arrivals[400].first == 9 + 4 * SECOND);    // at the border of two periods, exactly
  CHECK(before(arrivals, 9 + 5 * SECOND) == 532);
  for (std::uint64_t k = 0; k < 400; ++k) CHECK(arrivals[k + 400].first == arrivals[k].first + 4 * SECOND);
}

TEST_CASE("arrivals: each arrival of a wave is the greatest nanosecond that its number allows") {
  for (const WaveShape& shape : {WaveShape{100, 50, 4 * SECOND}, WaveShape{40, 40, 7 * SECOND + 1},
                                 WaveShape{3000, 2999, 100 * MS}, WaveShape{0.5, 0.2, 3'600 * SECOND}}) {
    const Arrivals arrivals = all(wave(shape.mean_rps, shape.amplitude_rps, shape.period), 20 * SECOND);
    int wrong = 0;
    for (const auto& [at, k] : arrivals) {
      // A double that is nearer to a level than its own rounding may be on the other side of it.
      const auto level = static_cast<long double>(k);
      const long double slack = 1e-13L * (1 + level);
      wrong += expected_before(shape, at) > level + slack || expected_before(shape, at + 1) <= level - slack;
    }
    CHECK(wrong == 0);
    CHECK(arrivals.size() == std::ceil(expected_before(shape, 20 * SECOND)));
  }
}

TEST_CASE("arrivals: a wave of no amplitude is a constant rate") {
  CHECK(all(wave(10, 0, 300 * MS), 250 * MS) == Arrivals{{0, 0}, {100 * MS, 1}, {200 * MS, 2}});
  CHECK(all(wave(3, 0, LONGEST_RUN), SECOND) == Arrivals{{0, 0}, {333'333'333, 1}, {666'666'666, 2}});
  CHECK(all(wave(0, 0, SECOND), LONGEST_RUN).empty());
  CHECK(all(wave(1e-300, 1e-300, 1), LONGEST_RUN) == Arrivals{{0, 0}});
}

TEST_CASE("arrivals: a wave that falls to nothing has its long gap there, in any of its periods") {
  const Traffic entry = wave(2, 2, 1'000'000 * SECOND);
  WaveRate rate(std::get<ArrivalProcess>(entry.source).wave.value());
  for (const std::uint64_t period : {0ULL, 1ULL, 9ULL}) {
    const double first = 2e6 * static_cast<double>(period);
    const Nanos start = period * 1'000'000 * SECOND;
    CHECK(rate.offset(first) == start);
    Nanos last = start;
    bool rises = true;
    for (double level = 0; level < 2e6; level += 997) {
      const Nanos at = rate.offset(first + level);
      rises = rises && at >= last;
      last = at;
    }
    CHECK(rises);
    CHECK(last < start + 1'000'000 * SECOND);
  }
}

TEST_CASE("arrivals: poisson by a wave is in order, complete and as many as expected") {
  const Traffic entry = wave(5000, 5000, 1500 * MS, 77, true);
  const Arrivals arrivals = all(entry, 20 * SECOND);
  check_complete(arrivals);
  CHECK(static_cast<double>(arrivals.size()) ==
        doctest::Approx(expected_arrivals(entry, 20 * SECOND)).epsilon(0.02));
}

TEST_CASE("arrivals: users begin one after the other over the first think time") {
  CHECK(all(closed_loop(3, 100 * MS, 10), SECOND) ==
        Arrivals{{10, 0}, {10 + 33 * MS, request_index(1, 0)}, {10 + 66 * MS, request_index(2, 0)}});
  CHECK(all(closed_loop(3, 100 * MS), 66 * MS).size() == 2);
  CHECK(all(closed_loop(3, 100 * MS), 66 * MS + 1).size() == 3);
  CHECK(all(closed_loop(300, 1), SECOND).back() == std::pair{Nanos{0}, request_index(299, 0)});
}

TEST_CASE("arrivals: a million users who think for months are told apart") {
  const Arrivals arrivals = all(closed_loop(1'000'000, LONGEST_RUN), LONGEST_RUN);
  REQUIRE(arrivals.size() == 1'000'000);
  CHECK(arrivals.back() == std::pair{LONGEST_RUN / 1'000'000 * 999'999, request_index(999'999, 0)});
}

TEST_CASE("expected arrivals: of bursts, waves and users as far as the run goes") {
  const Traffic bursts = burst(100, 30 * MS, SECOND, SECOND);
  CHECK(expected_arrivals(bursts, SECOND) == 0);
  CHECK(expected_arrivals(bursts, SECOND + 10 * MS) == 1);
  CHECK(expected_arrivals(bursts, SECOND + 30 * MS) == 3);
  CHECK(expected_arrivals(bursts, 2 * SECOND) == 3);
  CHECK(expected_arrivals(bursts, 3 * SECOND + 20 * MS) == 8);
  const Traffic waves = wave(100, 50, 4 * SECOND);
  CHECK(expected_arrivals(waves, SECOND) == doctest::Approx(100 + 31.830988618379067));
  CHECK(expected_arrivals(waves, 2 * SECOND) == doctest::Approx(200 + 63.661977236758134));
  CHECK(expected_arrivals(waves, 3 * SECOND) == doctest::Approx(300 + 31.830988618379067));
  CHECK(expected_arrivals(waves, 4 * SECOND) == 400);
  CHECK(expected_arrivals(waves, 4001 * SECOND) == doctest::Approx(400'131.830988618379067));
  CHECK(expected_arrivals(closed_loop(5, 200 * MS, SECOND), 3 * SECOND) == 50);
}
