// The active probe loops of the running generation, on virtual time. What a verdict means is core's
// ActiveProbe; this file sleeps, sends and listens.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/active_probe.hpp"
#include "sim/world.hpp"

namespace halfopen::sim {

class Probes {
 public:
  explicit Probes(World& world) : world_(world) {}

  // At the start and after each reload: all loops end, a running probe without a verdict, and new ones begin,
  // with a whole sleep first.
  void respawn();

  void due(std::uint32_t loop);
  void completed(const Job& job);
  void timed_out(std::uint32_t loop);

 private:
  struct Loop {
    Loop() = default;
    std::uint32_t upstream = 0, lane = 0;
    std::shared_ptr<SimTracker> tracker;
    std::shared_ptr<const UpstreamConfig> config;
    std::unique_ptr<ActiveProbe> rule;
    EventId sleep, timeout;
    SlabRef job;
    AttemptTruth truth;  // of the probe under way
  };

  void stop_all();
  void start(std::uint32_t upstream);
  void sleep(SlabRef ref);
  void verdict(SlabRef ref, bool ok);

  World& world_;
  Slab<Loop> loops_;
  std::vector<SlabRef> running_;
  std::map<std::uint32_t, std::unique_ptr<Stream>> latency_, jitter_;  // by lane
};

// The timeouts of probes share their event kind with those of requests; this bit of the payload tells them
// apart.
inline constexpr std::uint32_t PROBE_TIMEOUT = std::uint32_t{1} << 31;

}  // namespace halfopen::sim
