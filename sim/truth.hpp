// What the simulation knows and a gateway cannot: whether a server was really failing. The truth metrics of a
// summary are made of it.
#pragma once

#include <variant>

#include "sim/scenario.hpp"

namespace halfopen::sim {

// What an attempt or probe met at its server.
struct AttemptTruth {
  bool fault = false;     // a failing fault of its scope was at work when it was judged, or cut it short
  bool overload = false;  // it queued, or overflowed
};

// Whether a fault makes attempts fail: error, brownout or bursts with errors of status >= 500, down, flap,
// hang, truncate, outcomes with a failure. A fault whose ratio is 0 does not.
bool makes_fail(const FaultKind& kind);

// Whether it does so only in some of its time, the rest of which harms nobody: a flap, bursts, a script.
inline bool at_work_at_times(const FaultKind& kind) {
  return std::holds_alternative<FlapFault>(kind) || std::holds_alternative<BurstsFault>(kind) ||
         std::holds_alternative<OutcomesFault>(kind);
}

// A failing fault in the sense of the metrics: it makes attempts fail, and traffic is in its scope.
inline bool is_failing_fault(const Fault& fault) {
  return fault.scope != Scope::probes && makes_fail(fault.kind);
}

}  // namespace halfopen::sim
