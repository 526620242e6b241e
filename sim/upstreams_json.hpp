// The upstreams of a file and nothing else, for who talks to live endpoints: of a scenario or of a gateway's
// own configuration, in JSON or YAML.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/params.hpp"
#include "sim/scenario_json.hpp"

namespace halfopen::sim {

struct LoadedUpstreams {
  std::optional<std::vector<UpstreamConfig>> upstreams;  // none if there is any mistake that is no warning
  std::vector<Mistake> mistakes;                         // in the order of the file
};

// Reads the key "upstreams". A key in it that is none of ours is warned of and left out, as gateways have
// more to say; what else the file holds (listeners, traffic, faults, reloads) is not looked at, but the whole
// of it must be good JSON or YAML. By the name's end: .yaml and .yml are YAML. No exception leaves but of
// memory.
LoadedUpstreams load_upstreams_file(const std::string& path);

}  // namespace halfopen::sim
