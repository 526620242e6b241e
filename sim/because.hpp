// Which counts a transition is told with, in documented order: the writers of timelines and whoever makes
// columns of them read this one list.
#pragma once

#include <array>
#include <limits>
#include <string_view>

#include "sim/timeline.hpp"

namespace halfopen::sim {

// Every name that tell_because may say.
inline constexpr std::array<std::string_view, 10> BECAUSE_NAMES{
    "streak", "threshold", "volume", "failures", "ratio", "limit", "min_volume", "slots", "successes", "for_ms"};

// Of the window; NaN where it was empty.
inline double failure_ratio_of(const Because& because) {
  if (because.volume == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(because.failures) / static_cast<double>(because.volume);
}

// Calls out.uint(name, count) and out.number(name, double) for each of them.
template <class Out>
void tell_because(Out& out, const TimelineEvent& event) {
  const Because& because = event.because;
  switch (event.type) {
    case EventType::endpoint_ejected:
    case EventType::breaker_opened:
      out.uint("streak", because.streak);
      out.uint("threshold", because.threshold);
      out.uint("volume", because.volume);
      out.uint("failures", because.failures);
      out.number("ratio", failure_ratio_of(because));
      out.number("limit", because.limit);
      out.uint("min_volume", because.min_volume);
      out.uint("for_ms", because.for_ms);
      break;
    case EventType::endpoint_half_open:
    case EventType::breaker_half_open: out.uint("slots", because.slots); break;
    case EventType::endpoint_recovered:
      out.uint("streak", because.streak);
      out.uint("volume", because.volume);
      out.uint("failures", because.failures);
      if (event.via != Via::active_probe) break;
      out.uint("successes", because.successes);
      out.uint("threshold", because.threshold);
      break;
    case EventType::breaker_closed:
      out.uint("volume", because.volume);
      out.uint("failures", because.failures);
      break;
  }
}

}  // namespace halfopen::sim
