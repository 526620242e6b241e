// What the machines read as `now`: Unix milliseconds over virtual time, rounded down, with the steps of a wall
// clock. Sleeps, backoffs and timeouts run on virtual time and never notice a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/time.hpp"
#include "sim/scenario.hpp"

namespace halfopen::sim {

class VirtualClock {
 public:
  explicit VirtualClock(const Clock& clock) : clock_(clock) {}

  // The step that comes at its time; a monotonic source does not obey it.
  void step(const ClockStep& step) {
    if (!clock_.monotonic) offset_ms_ += step.by_ms;
    ++steps_taken_;
  }

  // A clock stepped to before the epoch reads 0.
  Instant at(Nanos t) const { return read(t, offset_ms_); }

  // From which virtual time on the machines read `instant` or later, seen from `from` and knowing the steps to
  // come; NEVER if the run has no such time.
  Nanos first_time_at(Instant instant, Nanos from) const {
    std::int64_t offset = offset_ms_;
    Nanos since = from;
    for (std::size_t i = steps_taken_; i <= clock_.steps.size(); ++i) {
      const Nanos until = i < clock_.steps.size() ? clock_.steps[i].at : NEVER;
      const Nanos reached = reach(instant, since, offset);
      if (reached < until) return reached;
      if (i < clock_.steps.size() && !clock_.monotonic) offset += clock_.steps[i].by_ms;
      since = until;
    }
    return NEVER;
  }

 private:
  Instant read(Nanos t, std::int64_t offset) const {
    const std::uint64_t ms = clock_.start_unix_ms + t / NANOS_PER_MS;
    if (offset >= 0) return Instant{ms} + Duration{static_cast<std::uint64_t>(offset)};
    return Instant{(Instant{ms} - Instant{static_cast<std::uint64_t>(-offset)}).ms};
  }

  Nanos reach(Instant instant, Nanos since, std::int64_t offset) const {
    const Instant reading = read(since, offset);
    if (reading >= instant) return since;
    const std::uint64_t missing = (instant - reading).ms;
    if (missing > (NEVER - since) / NANOS_PER_MS - 1) return NEVER;
    return (since / NANOS_PER_MS + missing) * NANOS_PER_MS;
  }

  const Clock& clock_;  // steps by time
  std::int64_t offset_ms_ = 0;
  std::size_t steps_taken_ = 0;
};

}  // namespace halfopen::sim
