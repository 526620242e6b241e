// `halfopen validate`: every mistake of every file, and nothing is run.
#include <algorithm>

#include "sim/cli.hpp"
#include "sim/cli_load.hpp"
#include "sim/cli_output.hpp"

namespace halfopen::sim {

int command_validate(const ValidateOptions& options) {
  int status = EXIT_HELD;
  for (const std::string& file : options.files) {
    const bool good = load_and_tell(file, {}).has_value();
    status = std::max(status, good ? write_stdout("ok " + file + "\n") : EXIT_BAD_INPUT);
  }
  return status;
}

}  // namespace halfopen::sim
