// Scenarios for the commands: loaded, or every mistake told.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/scenario_json.hpp"

namespace halfopen::sim {

// The scenario, or none after all its mistakes have been told. Warnings are told and do no harm.
std::optional<Scenario> load_and_tell(const std::string& path, const LoadOptions& options);

// All of them, or none: one bad file must not leave the others half-run. Every file's mistakes are told.
std::optional<std::vector<Scenario>> load_all(const std::vector<std::string>& paths,
                                              const LoadOptions& options);

}  // namespace halfopen::sim
