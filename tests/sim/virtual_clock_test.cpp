#include "sim/virtual_clock.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

using namespace halfopen;
using namespace halfopen::sim;

namespace {

constexpr Nanos MS = NANOS_PER_MS;

Clock clock_with(std::vector<ClockStep> steps, std::uint64_t start = 1000) {
  Clock clock;
  clock.start_unix_ms = start;
  clock.steps = std::move(steps);
  return clock;
}

// The truth by trying every millisecond, steps taken as they come: at one instant before anybody reads.
Nanos first_by_trying(const Clock& clock, std::uint64_t instant, Nanos from, Nanos until) {
  VirtualClock reading(clock);
  std::size_t taken = 0;
  for (Nanos t = 0; t < until; t += MS) {
    for (; taken < reading.steps().size() && reading.steps()[taken].at <= t; ++taken) reading.take_step();
    if (t >= from && reading.at(t).ms >= instant) return t;
  }
  return NEVER;
}

// What the clock foresees at `from`, after the steps up to it.
Nanos foreseen(const Clock& clock, std::uint64_t instant, Nanos from) {
  VirtualClock reading(clock);
  for (const ClockStep& step : clock.steps) {
    if (step.at <= from) reading.take_step();
  }
  return reading.first_time_at(Instant{instant}, from);
}

}  // namespace

TEST_CASE("virtual clock: machines see milliseconds since the start, rounded down") {
  const Clock plain = clock_with({}, 1'700'000'000'000);
  const VirtualClock clock(plain);
  CHECK(clock.at(0).ms == 1'700'000'000'000);
  CHECK(clock.at(MS - 1).ms == 1'700'000'000'000);
  CHECK(clock.at(MS).ms == 1'700'000'000'001);
  CHECK(clock.at(2 * MS + 1).ms == 1'700'000'000'002);
}

TEST_CASE("virtual clock: a wall clock obeys steps, forth and back, and they add up") {
  const Clock wall = clock_with({{10 * MS, 500}, {20 * MS, -700}});
  VirtualClock clock(wall);
  CHECK(clock.at(10 * MS).ms == 1010);
  clock.take_step();
  CHECK(clock.at(10 * MS).ms == 1510);
  clock.take_step();
  CHECK(clock.at(20 * MS).ms == 820);
}

TEST_CASE("virtual clock: a monotonic clock does not obey steps") {
  Clock monotonic = clock_with({{10 * MS, 500}, {20 * MS, -700}});
  monotonic.monotonic = true;
  VirtualClock clock(monotonic);
  CHECK(clock.first_time_at(Instant{1030}, 0) == 30 * MS);
  clock.take_step();
  clock.take_step();
  CHECK(clock.at(25 * MS).ms == 1025);
  CHECK(clock.first_time_at(Instant{1030}, 25 * MS) == 30 * MS);
}

TEST_CASE("virtual clock: a clock stepped to before the epoch reads 0") {
  const Clock early = clock_with({{10 * MS, -5000}}, 100);
  VirtualClock clock(early);
  clock.take_step();
  CHECK(clock.at(10 * MS).ms == 0);
  CHECK(clock.at(4899 * MS).ms == 0);
  CHECK(clock.at(4901 * MS).ms == 1);
}

TEST_CASE(
    "virtual clock: the first time at an instant is now if it has passed, else its millisecond's begin") {
  const Clock plain = clock_with({});
  const VirtualClock clock(plain);
  CHECK(clock.first_time_at(Instant{900}, 7 * MS + 3) == 7 * MS + 3);
  CHECK(clock.first_time_at(Instant{1007}, 7 * MS + 3) == 7 * MS + 3);
  CHECK(clock.first_time_at(Instant{1008}, 7 * MS + 3) == 8 * MS);
  CHECK(clock.first_time_at(Instant{1100}, 0) == 100 * MS);
}

TEST_CASE("virtual clock: an instant beyond the end of virtual time never comes") {
  const Clock plain = clock_with({});
  CHECK(VirtualClock(plain).first_time_at(Instant{~std::uint64_t{0}}, 0) == NEVER);
}

TEST_CASE("virtual clock: steps to come move the first time at an instant") {
  CHECK(foreseen(clock_with({{60 * MS, -50}}), 1110, 10 * MS) == 160 * MS);
  CHECK(foreseen(clock_with({{60 * MS, 500}}), 1110, 10 * MS) == 60 * MS);
  CHECK(foreseen(clock_with({{60 * MS, 20}}), 1110, 10 * MS) == 90 * MS);
  CHECK(foreseen(clock_with({{110 * MS, -50}}), 1110, 10 * MS) ==
        160 * MS);  // the step comes first at its instant
  CHECK(foreseen(clock_with({{111 * MS, -50}}), 1110, 10 * MS) == 110 * MS);
  CHECK(foreseen(clock_with({{60 * MS, -50}, {60 * MS, 500}}), 1110, 10 * MS) == 60 * MS);
  CHECK(foreseen(clock_with({{5 * MS, 40}}), 1110, 10 * MS) == 70 * MS);  // taken already
}

TEST_CASE("virtual clock: a step forth that a step back takes away in the same instant is never read") {
  CHECK(foreseen(clock_with({{60 * MS, 500}, {60 * MS, -500}}), 1110, 10 * MS) == 110 * MS);
}

TEST_CASE("virtual clock: steps that the file has in no order are foreseen in the order of their times") {
  const Clock disordered = clock_with({{200 * MS, 400}, {60 * MS, -50}});
  CHECK(foreseen(disordered, 1110, 10 * MS) == 160 * MS);
  CHECK(foreseen(disordered, 1110, 100 * MS) == 160 * MS);
}

TEST_CASE("virtual clock: what is foreseen while the clock stands before the epoch is when it reads so") {
  const Clock early = clock_with({{10 * MS, -5000}}, 0);
  CHECK(foreseen(early, 100, 10 * MS) == 5100 * MS);
}

TEST_CASE("virtual clock: what is foreseen is what trying every millisecond finds") {
  for (std::int64_t first = -90; first <= 90; first += 15) {
    for (std::int64_t second = -90; second <= 90; second += 30) {
      const Clock clock = clock_with({{30 * MS, first}, {55 * MS, second}});
      for (const std::uint64_t instant : {1010U, 1030U, 1054U, 1055U, 1056U, 1120U}) {
        CHECK(foreseen(clock, instant, 12 * MS) == first_by_trying(clock, instant, 12 * MS, 500 * MS));
        CHECK(foreseen(clock, instant, 30 * MS) == first_by_trying(clock, instant, 30 * MS, 500 * MS));
      }
    }
  }
}
