#include "sim/world.hpp"

#include <algorithm>

namespace halfopen::sim {

std::uint32_t World::upstream_index(const std::string& name) {
  const std::uint32_t index = record.upstream(name);
  if (index == upstreams.size()) {
    upstreams.push_back({name, Stream(scenario.seed, "balance:" + name), nullptr, nullptr, nullptr, {}});
  }
  return index;
}

void World::introduce(const std::vector<UpstreamConfig>& generation) {
  for (const UpstreamConfig& config : generation) {
    const std::uint32_t upstream = upstream_index(config.name);
    for (const EndpointConfig& endpoint : config.endpoints) {
      const std::string name = endpoint.name();
      if (record.lane(upstream, name) < lanes.size()) continue;
      lanes.push_back(
          {name, servers.at(name), Stream(scenario.seed, "service:" + config.name + "/" + name), 0});
    }
  }
}

void World::tell(Observation observation) const {
  const UpstreamSlot& slot = upstreams[observation.upstream];
  observation.t = t;
  if (slot.upstream) {
    const auto place = std::find(slot.lane_of.begin(), slot.lane_of.end(), observation.lane);
    if (place != slot.lane_of.end()) {
      const auto endpoint =
          slot.upstream->endpoints()[static_cast<std::size_t>(place - slot.lane_of.begin())];
      if (endpoint.tracker) observation.health = endpoint.tracker->snapshot();
    }
    if (const auto breaker = slot.upstream->breaker()) observation.breaker = breaker->snapshot(now);
  }
  observer->observed(observation);
}

void World::adopt(UpstreamSlot& slot, std::uint32_t index) {
  const auto upstream = gateway.find(slot.name);
  if (upstream && upstream != slot.upstream) all_upstreams.push_back(upstream);
  slot.upstream = upstream;
  slot.lane_of.clear();
  if (!upstream) return;
  slot.budget = upstream->budget();
  slot.config = upstream->config();
  all_configs.push_back(slot.config);
  for (const EndpointConfig& endpoint : slot.config->endpoints) {
    slot.lane_of.push_back(record.lane(index, endpoint.name()));
  }
}

void World::configure(const std::vector<UpstreamConfig>& generation) {
  gateway.apply(generation, now);
  for (std::uint32_t i = 0; i < upstreams.size(); ++i) adopt(upstreams[i], i);
  show_states();
}

// A reload emits nothing, so the lanes are told what the machines hold after it: nobody configured, a fresh
// tracker, or the state that was carried. Without a health block an endpoint is simply in rotation.
void World::show_states() {
  std::vector<int> states(lanes.size(), -1);
  for (std::uint32_t i = 0; i < upstreams.size(); ++i) {
    const UpstreamSlot& slot = upstreams[i];
    const auto breaker = slot.upstream ? slot.upstream->breaker() : nullptr;
    record.breaker_state(
        i, breaker ? static_cast<int>(LaneState::closed) + static_cast<int>(breaker->state()) : -1);
    if (!slot.upstream) continue;
    std::size_t place = 0;
    for (const auto& endpoint : slot.upstream->endpoints()) {
      const auto state = endpoint.tracker ? endpoint.tracker->stored_state() : HealthState::healthy;
      states[slot.lane_of[place++]] = static_cast<int>(state);
    }
  }
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) record.lane_state(lane, states[lane]);
}

}  // namespace halfopen::sim
