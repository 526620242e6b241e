// What the machines read as `now`: Unix milliseconds over virtual time, rounded down, with the steps of a
// wall clock. Sleeps, backoffs and timeouts run on virtual time and never notice a step.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/time.hpp"
#include "sim/scenario.hpp"

namespace halfopen::sim {

class VirtualClock {
 public:
  explicit VirtualClock(const Clock& clock)
      : start_ms_(clock.start_unix_ms), monotonic_(clock.monotonic), steps_(clock.steps) {
    std::stable_sort(steps_.begin(), steps_.end(),
                     [](const ClockStep& a, const ClockStep& b) { return a.at < b.at; });
  }

  // By time, those of one instant in file order: the order in which they must be taken.
  const std::vector<ClockStep>& steps() const { return steps_; }

  // The next step comes, at its time. False if the source is monotonic and does not obey it.
  bool take_step() {
    offset_ms_ += monotonic_ ? 0 : steps_[steps_taken_].by_ms;
    ++steps_taken_;
    return !monotonic_;
  }

  // A clock stepped to before the epoch reads 0.
  Instant at(Nanos t) const {
    if (offset_ms_ >= 0)
      return Instant{start_ms_ + t / NANOS_PER_MS} + Duration{static_cast<std::uint64_t>(offset_ms_)};
    return Instant{
        (Instant{start_ms_ + t / NANOS_PER_MS} - Instant{static_cast<std::uint64_t>(-offset_ms_)}).ms};
  }

  // From which virtual time on the machines read `instant` or later, seen from `from` and knowing the steps
  // to come; NEVER if the run has no such time.
  Nanos first_time_at(Instant instant, Nanos from) const {
    std::int64_t offset = offset_ms_;
    Nanos since = from;
    for (std::size_t i = steps_taken_;; ++i) {
      const Nanos until = i < steps_.size() ? steps_[i].at : NEVER;
      const Nanos reached = reach(instant, since, offset);
      if (reached < until) return reached;
      if (i >= steps_.size()) return NEVER;
      if (!monotonic_) offset += steps_[i].by_ms;
      since = until;
    }
  }

 private:
  // Counted without the floor at the epoch: a clock that stands before it has that way still to go.
  Nanos reach(Instant instant, Nanos since, std::int64_t offset) const {
    __extension__ typedef __int128 Wide;
    const Wide missing =
        Wide{instant.ms} - Wide{start_ms_} - offset;  // of virtual milliseconds, from the start
    if (instant.ms == 0 || missing <= Wide{since / NANOS_PER_MS}) return since;
    if (missing > Wide{NEVER / NANOS_PER_MS - 1}) return NEVER;
    return static_cast<Nanos>(missing) * NANOS_PER_MS;
  }

  std::uint64_t start_ms_;
  bool monotonic_;
  std::vector<ClockStep> steps_;
  std::int64_t offset_ms_ = 0;
  std::size_t steps_taken_ = 0;
};

}  // namespace halfopen::sim
