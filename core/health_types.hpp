// The small types around EndpointHealth: its states as they are shown, what it tells its pool, what a probe
// loop tells it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/event.hpp"
#include "core/params.hpp"
#include "core/state_word.hpp"
#include "core/time.hpp"
#include "core/window.hpp"

namespace halfopen {

enum class HealthState : std::uint8_t { healthy, ejected, half_open };

const char* to_string(HealthState state) noexcept;

// How many of an upstream's trackers are not healthy (low half), and a version that moves with each change
// (high half): the balancer skips asking endpoints one by one while nothing changed. Trackers keep it up.
template <class Sync>
struct PoolHealth {
  typename Sync::template Atomic<std::uint64_t> word{0};
  static constexpr std::uint64_t VERSION = std::uint64_t{1} << 32;

  void one_out() noexcept { word.fetch_add(VERSION + 1, std::memory_order_acq_rel); }
  void one_back() noexcept { word.fetch_add(VERSION - 1, std::memory_order_acq_rel); }
  static bool all_healthy(std::uint64_t seen) noexcept { return static_cast<std::uint32_t>(seen) == 0; }
};

// What a probe loop decides to tell the tracker, see ActiveProbe::verdict. The successes in a row and their
// threshold are told in the event of a recovery.
struct ProbeDecision {
  enum class Report : std::uint8_t { nothing, success, failure };
  Report report = Report::nothing;
  std::uint32_t successes = 0, threshold = 0;
};

// What a body that breaks off needs to know: was the report of its headers late, and where did it leave the
// tracker?
struct BodyTicket {
  std::uint32_t generation = 0;
  bool late = false;
};

// What is told when a tracker's word has moved there.
constexpr EventType health_event(GateState to) {
  if (to == GateState::out) return EventType::endpoint_ejected;
  return to == GateState::in ? EventType::endpoint_recovered : EventType::endpoint_half_open;
}

// Which rule, if any, a failure on a healthy endpoint meets; `counts`: first is successes, second failures,
// the judged one included. Divided in double: 7 of 100 reaches 0.07, where 0.07 * 100 does not.
inline Rule ejection_rule(const HealthParams& params, std::uint32_t streak,
                          BucketWindow::Counts counts) noexcept {
  if (streak >= params.consecutive_failures) return Rule::consecutive_failures;
  if (counts.total() < params.failure_min_volume || counts.total() == 0) return Rule::none;
  const double ratio = static_cast<double>(counts.second) / static_cast<double>(counts.total());
  return ratio >= params.failure_ratio ? Rule::failure_ratio : Rule::none;
}

// The same counts, as the event tells them.
inline Because counts_as_judged(const HealthParams& params, std::uint32_t streak,
                                BucketWindow::Counts counts) {
  Because because;
  because.volume = counts.total();
  because.failures = counts.second;
  because.streak = streak;
  because.threshold = params.consecutive_failures;
  because.min_volume = params.failure_min_volume;
  because.limit = params.failure_ratio;
  return because;
}

// Everything about a tracker at one instant.
struct HealthSnapshot {
  HealthState state = HealthState::healthy;
  Instant until;  // meaningful while ejected
  std::uint32_t slots = 0;
  std::uint32_t streak = 0;
  std::uint64_t ejections = 0;
  std::uint32_t generation = 0;
  std::uint64_t window_total = 0, window_failures = 0;
  std::size_t window_bytes = 0;
};

}  // namespace halfopen
