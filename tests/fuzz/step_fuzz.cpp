// Any lines as operations of a machine: the first byte chooses which.
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "core/check.hpp"
#include "sim/step.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  using namespace halfopen::sim;
  const std::string machine(STEP_MACHINES[data[0] % STEP_MACHINES.size()]);
  std::istringstream in(std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  std::ostringstream out;
  const int status = run_step(machine, in, out);
  HALFOPEN_CHECK(status == 0 || status == 2);
  return 0;
}
