#include "sim/cli_load.hpp"

#include <utility>

#include "sim/cli_output.hpp"

namespace halfopen::sim {

std::optional<Scenario> load_and_tell(const std::string& path, const LoadOptions& options) {
  Loaded loaded = load_scenario_file(path, options);
  for (const Mistake& mistake : loaded.mistakes) say(mistake.text());
  return std::move(loaded.scenario);
}

std::optional<std::vector<Scenario>> load_all(const std::vector<std::string>& paths,
                                              const LoadOptions& options) {
  std::vector<Scenario> out;
  out.reserve(paths.size());
  bool good = true;
  for (const std::string& path : paths) {
    std::optional<Scenario> scenario = load_and_tell(path, options);
    good = good && scenario.has_value();
    if (good) out.push_back(std::move(*scenario));
  }
  if (!good) return std::nullopt;
  return out;
}

}  // namespace halfopen::sim
