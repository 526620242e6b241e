// What the parts of a running simulation share: the time, the queue, the servers, the gateway and the record.
// The gateway is core's own, over the policy for one thread; no rule of it is written here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/gateway.hpp"
#include "sim/event_queue.hpp"
#include "sim/observer.hpp"
#include "sim/recorder.hpp"
#include "sim/server_farm.hpp"
#include "sim/virtual_clock.hpp"

namespace halfopen::sim {

using SimGateway = BasicGateway<Single>;
using SimUpstream = BasicUpstream<Single>;
using SimTracker = BasicEndpointHealth<Single>;

// An endpoint of an upstream, over all generations.
struct Lane {
  std::string endpoint;
  std::uint32_t server;
  Stream service;            // service:<upstream>/<endpoint>
  std::uint64_t probes = 0;  // made so far: the next one's number, on over reloads
};

// An upstream by name, over all generations.
struct UpstreamSlot {
  std::string name;
  Stream balance;                                // balance:<upstream>
  std::shared_ptr<SimUpstream> upstream;         // null while not configured
  std::shared_ptr<SimUpstream::Budget> budget;   // kept by name
  std::shared_ptr<const UpstreamConfig> config;  // in force
  std::vector<std::uint32_t> lane_of;            // by place in the endpoint set in force
};

struct World {
  World(const Scenario& s, RunObserver* watcher)
      : scenario(s),
        observer(watcher),
        clock(s.clock),
        record(s, clock),
        farm(s.servers, s.seed, queue),
        gateway(&record) {
    for (const ServerModel& server : s.servers)
      servers.emplace(server.name, static_cast<std::uint32_t>(servers.size()));
  }

  const Scenario& scenario;
  RunObserver* observer;  // or null
  EventQueue queue;
  VirtualClock clock;
  Recorder record;
  ServerFarm farm;
  SimGateway gateway;
  std::map<std::string, std::uint32_t> servers;  // by name: place in Scenario::servers
  std::vector<Lane> lanes;                       // numbered as the recorder numbers them
  std::vector<UpstreamSlot> upstreams;
  // Requests point to the settings of their arrival, so every generation is kept, and every upstream for its
  // counts.
  std::vector<std::shared_ptr<const UpstreamConfig>> all_configs;
  std::vector<std::shared_ptr<SimUpstream>> all_upstreams;
  Nanos t = 0;
  Instant now;  // what the machines read

  void move_to(Nanos time) {
    t = time;
    now = clock.at(time);
    record.at(time);
  }

  // The first build and each reload: the gateway's own code does it, then the record learns what came of it.
  void configure(const std::vector<UpstreamConfig>& upstreams);

  // Names every upstream and endpoint of every generation in order of first appearance.
  void introduce(const std::vector<UpstreamConfig>& upstreams);

  std::uint32_t upstream_index(const std::string& name);

  // Fills in what the machines of a lane hold now, and tells the observer, which must be there.
  void tell(Observation observation) const;

 private:
  void adopt(UpstreamSlot& slot, std::uint32_t index);
  void show_states();
};

}  // namespace halfopen::sim
