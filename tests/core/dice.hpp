// Luck for random tests: the same in every run, on every machine.
#pragma once

#include <cstdint>

#include "core/random.hpp"

namespace halfopen::testing {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}

  std::uint64_t word() { return philox_word0(thrown_++, 0, 0, 0, seed_, 0); }
  // One of 0 … sides - 1.
  std::uint64_t operator()(std::uint64_t sides) { return word() % sides; }
  bool one_in(std::uint64_t sides) { return word() % sides == 0; }

 private:
  std::uint64_t seed_, thrown_ = 0;
};

}  // namespace halfopen::testing
