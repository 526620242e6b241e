// Rates that come again and again, bursts and waves: where the expected number of arrivals reaches a level.
// Whole periods are taken off first, so that the last of 10^10 ms costs as much as the first and is as exact.
#pragma once

#include <cstdint>

#include "sim/scenario.hpp"

namespace halfopen::sim {

// Periods of one length, each of which expects the same number of arrivals. That number is given times 10^9:
// in these units whole rates and lengths multiply without rounding, and a border at a whole number of
// arrivals is exactly that number.
class Periods {
 public:
  // `length` > 0.
  Periods(double nano_arrivals, Nanos length);

  bool empty() const { return !(nano_arrivals_ > 0.0); }
  double arrivals() const;  // of one period

  struct Place {
    Nanos start = 0;    // of the period
    double within = 0;  // expected arrivals since then
  };
  // The period in which a level falls; at the border of two it is the later one. False if that begins beyond
  // any run. Not when empty.
  bool find(double level, Place& out) const;

 private:
  double before(std::uint64_t number) const;

  double nano_arrivals_;
  Nanos length_;
  std::uint64_t most_;  // so many periods end before anything can overflow
};

// Within a burst the arrivals come as those of a constant rate do.
class BurstRate {
 public:
  explicit BurstRate(const BurstShape& shape);

  bool empty() const { return periods_.empty(); }
  // In ns since the first burst began; LONGEST_NANOS if it is beyond any run. Not when empty.
  Nanos offset(double level) const;
  // How many arrivals are expected before `t`.
  double expected(Nanos t) const;

 private:
  BurstShape shape_;
  Periods periods_;
};

// L(t) = mean * t + amplitude * period / (2 pi) * (1 - cos(2 pi t / period)) arrivals are expected before t.
class WaveRate {
 public:
  explicit WaveRate(const WaveShape& shape);

  bool empty() const { return periods_.empty(); }
  // The greatest whole number of ns t with L(t) <= level; LONGEST_NANOS if it is beyond any run. Where the
  // rate is so low that doubles don't tell L(t) from L(t + 1), it is one of those that they can't tell apart,
  // always the same one. Not when empty.
  Nanos offset(double level) const;
  double expected(Nanos t) const;

 private:
  struct Point {
    double level = 0;  // L(t)
    double rate = 0;   // its slope, in arrivals a second
  };
  Point at(Nanos t) const;  // t within the first period

  WaveShape shape_;
  Periods periods_;
  double swing_;  // amplitude * period / (2 pi), in arrivals
};

}  // namespace halfopen::sim
