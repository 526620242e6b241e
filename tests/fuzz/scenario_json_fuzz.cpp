// Any text as a scenario in JSON.
#include "tests/fuzz/scenario_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  halfopen::sim::fuzz::read_and_run(data, size, "fuzz.json");
  return 0;
}
