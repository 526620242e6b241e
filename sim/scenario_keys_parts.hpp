// The tables of scenario_keys, by part of the file. Internal to scenario_keys*.cpp.
#pragma once

#include "sim/scenario_keys.hpp"

namespace halfopen::sim::keys {

inline constexpr double LAST_MS = 1e10;                     // of every time and length that a scenario states
inline constexpr double SEED_MAX = 18446744073709551615.0;  // 2^64 - 1, rounded up in a double
inline constexpr double COUNT_MAX = 4294967295.0;

std::span<const KeyObject> of_the_run();
std::span<const KeyObject> of_servers();
std::span<const KeyObject> of_faults();
std::span<const KeyObject> of_traffic();
std::span<const KeyObject> of_expectations();

}  // namespace halfopen::sim::keys
