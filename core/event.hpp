// What the machines tell the world: one event per transition, never one per report.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/time.hpp"

namespace halfopen {

enum class EventType : std::uint8_t {
  endpoint_ejected,
  endpoint_half_open,
  endpoint_recovered,
  breaker_opened,
  breaker_half_open,
  breaker_closed,
};

// Which rule put an endpoint out or opened a breaker. `error_ratio` is the breaker's name for its ratio.
enum class Rule : std::uint8_t {
  none,
  consecutive_failures,
  failure_ratio,
  error_ratio,
  half_open_probe_failed
};

// What let an endpoint back in.
enum class Via : std::uint8_t { none, half_open_probe, active_probe, fail_open, late_report };

// The counts as judged at the transition. Fields that a transition does not use are 0.
struct Because {
  std::uint64_t volume = 0;      // observations in the window, the judged one included
  std::uint64_t failures = 0;    // failures among them
  std::uint32_t streak = 0;      // failures in a row, the judged one included; on recovery: before it
  std::uint32_t threshold = 0;   // the streak that ejects or opens
  std::uint32_t min_volume = 0;  // the volume from which the ratio rule applies
  double limit = 0;              // the ratio that ejects or opens
  std::uint32_t slots = 0;       // half-open: trials granted
  std::uint32_t successes = 0;   // recovery by active probes: probe successes in a row
  std::uint64_t for_ms = 0;      // ejected or opened: for how long
};

// Who it happened to. Shared and immutable, so that an event may outlive the endpoint it speaks of.
struct EventSubject {
  std::string upstream;
  std::string endpoint;  // "address:port" as written in configuration; empty for a breaker
};

struct Event {
  EventType type = EventType::endpoint_ejected;
  Rule rule = Rule::none;
  Via via = Via::none;
  // The machine's generation after the transition. Threads may hand their events over in another order than
  // the transitions had; this tells the order (half-open keeps the generation of the way out before it).
  std::uint32_t generation = 0;
  Instant at;  // the `now` that the machine was given
  Because because;
  std::shared_ptr<const EventSubject> subject;
};

// Where events go. `offer` is called with a machine's lock held: it must return at once, must not throw
// and must not call back into the machine. BoundedEventQueue (event_queue.hpp) is the ready-made one.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void offer(const Event& event) noexcept = 0;
};

const char* to_string(EventType type) noexcept;
const char* to_string(Rule rule) noexcept;  // "" for none
const char* to_string(Via via) noexcept;    // "" for none

}  // namespace halfopen
