// For whoever wants more of a run than its counts: every request, attempt and observation as it happens.
// Nobody listening costs one comparison a time; nothing is stored here.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>

#include "core/breaker.hpp"
#include "core/health_types.hpp"
#include "core/outcome.hpp"
#include "sim/scenario.hpp"

namespace halfopen::sim {

// A request by its place in `traffic`, its number in there, and the try of a client that comes again.
struct RequestName {
  std::uint32_t entry = 0;
  std::uint64_t index = 0;
  std::uint32_t tryn = 0;
};

enum class RequestEnd : std::uint8_t { ok, failed, fast_failed, abandoned };

// What the machines were told, and what they hold now. A tracker or breaker that is not configured: none.
struct Observation {
  Nanos t = 0;
  std::uint32_t upstream = 0, lane = 0;  // as the timeline numbers them
  bool probe = false;                    // an active probe's verdict: `request` and `attempt` mean nothing
  bool probe_ok = false;
  RequestName request;
  std::uint32_t attempt = 0;  // 0 for the first, n for the n-th retry
  Outcome outcome;            // of an attempt
  bool body_broke = false;    // a second observation of the attempt: its body broke off
  std::optional<HealthSnapshot> health;
  std::optional<BasicBreaker<Single>::Snapshot> breaker;
};

class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // Times never go back. Events of the machines come by way of the timeline, and before the `observed` that
  // caused them.
  virtual void arrived(Nanos, const RequestName&, std::uint32_t /*upstream*/) {}
  virtual void attempted(Nanos, const RequestName&, std::uint32_t /*attempt*/, std::uint32_t /*lane*/,
                         bool /*fail_open*/, bool /*trial*/) {}
  virtual void observed(const Observation&) {}
  virtual void ended(Nanos, const RequestName&, RequestEnd) {}  // drops an attempt that is under way
};

struct RunHooks {
  RunObserver* observer = nullptr;
  std::atomic<Nanos>* reached = nullptr;  // virtual time, told at every bin: for a progress bar
  // Asked every few thousand things that happen, which is within some milliseconds; false ends the run, and
  // simulate throws RunStopped. It may throw itself.
  std::function<bool()> pause{};
};

// A run that its caller did not let go on. There is no timeline of half a run.
class RunStopped : public std::exception {
 public:
  const char* what() const noexcept override { return "the run was stopped before its end"; }
};

}  // namespace halfopen::sim
