// A stretch of virtual time, as expectations name it, and what a metric is asked about.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "sim/scenario.hpp"

namespace halfopen::sim {

// [from, to) of virtual time. Empty when `from` is not before `to`.
struct Window {
  Nanos from = 0, to = NEVER;
  bool holds(Nanos t) const { return t >= from && t < to; }
  bool empty() const { return from >= to; }
};

inline Nanos overlap(const Window& a, const Window& b) {
  const Nanos from = std::max(a.from, b.from), to = std::min(a.to, b.to);
  return from < to ? to - from : 0;
}

// Times in a file are rounded to the nearest nanosecond; what lies beyond every run is NEVER.
inline Nanos nanos_of_ms(double ms) {
  constexpr double BEYOND = 9e12;  // ms; 285 years, and what llround can hold
  if (!(ms > 0)) return 0;
  return ms >= BEYOND ? NEVER : static_cast<Nanos>(std::llround(ms * static_cast<double>(NANOS_PER_MS)));
}

inline Window window_of(const std::pair<double, double>& between_ms) {
  return {nanos_of_ms(between_ms.first), nanos_of_ms(between_ms.second)};
}

// What a metric is asked about: the whole run or a stretch of it, everybody or one endpoint ("address:port",
// in whichever upstreams it stands).
struct MetricScope {
  std::optional<Window> window{};
  std::string endpoint{};  // empty: everybody

  Window times() const { return window ? *window : Window{}; }
  bool names(const std::string& other) const { return endpoint.empty() || endpoint == other; }
};

}  // namespace halfopen::sim
