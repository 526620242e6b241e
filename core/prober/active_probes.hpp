// The active probe loops of a gateway's running generation, on real sockets and real time: one loop an
// endpoint of every upstream with an active_health block. When to probe and what a verdict means is core's
// ActiveProbe, the very code that the simulator runs.
//
// One thread of its own runs all loops, each waiting on its own timers and sockets: a black-holed endpoint
// delays nobody, and names are looked up on threads beside it. A process that forks makes its ActiveProbes
// afterwards: a child has no such thread, and nothing here works in it, the destructor included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/prober/probe.hpp"
#include "core/time.hpp"
#include "core/upstream.hpp"

namespace halfopen {

// Who is told what the loops do, on their thread: it must return soon, as every loop waits. It may throw,
// which counts as an exception of that iteration. Neither it nor the event sink nor `now` may call respawn or
// abort_all, or wait for a lock that somebody holds who does: both wait for that thread.
class ProbeObserver {
 public:
  virtual ~ProbeObserver() = default;
  // After the tracker was told; the transition that came of it, if any, is with the event sink already.
  virtual void verdict(const EventSubject&, const ProbeReport&) {}
  // An iteration threw or its probe could not be made: no verdict. `in_a_row` is at most
  // ActiveProbe::GIVE_UP_AFTER, with which the loop ends: the endpoint is passive-only until the next
  // respawn.
  virtual void iteration_threw(const EventSubject&, const std::string& /*what*/, std::uint32_t /*in_a_row*/) {
  }
};

struct ActiveProbesOptions {
  // Unix milliseconds, as the machines are told them. Empty: the system's clock.
  std::function<Instant()> now;
  Resolve resolve = resolve_by_system;
  ProbeObserver* observer = nullptr;  // may be null; otherwise it must outlive the ActiveProbes
  // Of the jitter. None: another one each time, so that gateways that start together do not probe together.
  std::optional<std::uint64_t> seed;
};

class ActiveProbes {
 public:
  using Options = ActiveProbesOptions;

  // Throws std::system_error if there is no thread, or no file descriptor for its event loop, to be had.
  explicit ActiveProbes(Options options = {});
  ~ActiveProbes();  // abort_all
  ActiveProbes(const ActiveProbes&) = delete;
  ActiveProbes& operator=(const ActiveProbes&) = delete;

  // At the start and after each reload (apply, upstreams() and this under one lock, if reloads can meet):
  // every loop ends, a running probe without a verdict, and new ones begin with a whole sleep and success
  // streak 0. Trackers are the upstreams' own, so what they have counted stays. When it returns no earlier
  // loop will say anything more; of calls that overlap, the one that began last stands. Reads each
  // trusted_ca_file. From any thread but the loops' own.
  void respawn(const std::vector<std::shared_ptr<Upstream>>& upstreams);

  // Every loop ends. The graceful shutdown; a respawn may follow. From any thread but the loops' own.
  void abort_all();

  struct Counts {
    std::size_t loops = 0;       // running now
    std::uint64_t started = 0;   // probes, since the construction
    std::uint64_t verdicts = 0;  // of those: with a verdict
    std::uint64_t threw = 0;     // iterations that threw (an observer after its verdict), or made no probe
    std::uint64_t gave_up = 0;   // loops that ended after three of those in a row
  };
  Counts counts() const;  // from any thread

 private:
  struct Loops;
  std::unique_ptr<Loops> loops_;
};

}  // namespace halfopen
