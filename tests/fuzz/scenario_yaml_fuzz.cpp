// Any text as a scenario in YAML.
#include "tests/fuzz/scenario_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  halfopen::sim::fuzz::read_and_run(data, size, "fuzz.yaml");
  return 0;
}
