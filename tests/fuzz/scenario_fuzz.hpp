// What both readers' targets do with a text: read it, and run it if it would be over in a moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/check.hpp"
#include "sim/arrivals.hpp"
#include "sim/expectations.hpp"
#include "sim/scenario_json.hpp"
#include "sim/simulation.hpp"
#include "sim/writer_json.hpp"

namespace halfopen::sim::fuzz {

inline double probes_of(const Scenario& scenario) {
  double probes = 0;
  const auto add = [&](const std::vector<UpstreamConfig>& upstreams) {
    for (const UpstreamConfig& upstream : upstreams) {
      if (!upstream.active_health) continue;
      const double interval = static_cast<double>(upstream.active_health->interval_ms) * 1e6;
      probes +=
          static_cast<double>(upstream.endpoints.size()) * static_cast<double>(scenario.duration) / interval;
    }
  };
  add(scenario.upstreams);
  for (const Reload& reload : scenario.reloads) add(reload.upstreams);
  return probes;
}

inline bool over_in_a_moment(const Scenario& scenario) {
  double work = probes_of(scenario);
  for (const Traffic& traffic : scenario.traffic) {
    const double tries = traffic.client ? 1.0 + traffic.client->retries : 1.0;
    work += expected_arrivals(traffic, scenario.duration) * tries;
    if (traffic.keys) work += static_cast<double>(traffic.keys->clients) / 10;
  }
  work += static_cast<double>(scenario.duration) / static_cast<double>(scenario.sample) *
          static_cast<double>(1 + scenario.servers.size());
  for (const ServerModel& server : scenario.servers) {
    for (const Fault& fault : server.faults) {
      if (std::holds_alternative<FlapFault>(fault.kind) || std::holds_alternative<BurstsFault>(fault.kind))
        work += static_cast<double>(scenario.duration) / 1e6;  // at worst a phase a millisecond, or nearly
    }
  }
  return work < 2000 && scenario.servers.size() < 100;
}

inline void read_and_run(const std::uint8_t* data, std::size_t size, std::string_view file) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Loaded loaded = load_scenario_text(text, file);
  bool mistaken = false;
  for (const Mistake& mistake : loaded.mistakes) {
    HALFOPEN_CHECK(!mistake.text().empty());
    mistaken = mistaken || !mistake.warning;
  }
  HALFOPEN_CHECK(loaded.scenario.has_value() != mistaken);  // one of the two, never both
  if (!loaded.scenario || !over_in_a_moment(*loaded.scenario)) return;
  const Timeline timeline = simulate(*loaded.scenario);
  HALFOPEN_CHECK(!timeline_json(timeline, judge(*loaded.scenario, timeline)).empty());
}

}  // namespace halfopen::sim::fuzz
