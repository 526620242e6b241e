// The run of `watch`: from its options to its exit status.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace halfopen::sim {

struct WatchOptions {
  std::string file;
  std::optional<std::uint64_t> for_ms;
  bool verdicts = false, json = false;
};

int command_watch(const WatchOptions& options);

}  // namespace halfopen::sim
