// `halfopen validate`: every mistake of every file, and nothing is run.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "sim/cli.hpp"
#include "sim/cli_load.hpp"
#include "sim/cli_output.hpp"
#include "sim/cli_words.hpp"

namespace halfopen::sim {

namespace {

int command_validate(const std::vector<std::string>& files) {
  int status = EXIT_HELD;
  for (const std::string& file : files) {
    const bool good = load_and_tell(file, {}).has_value();
    status = std::max(status, good ? write_stdout("ok " + file + "\n") : EXIT_BAD_INPUT);
  }
  return status;
}

}  // namespace

void add_validate(CLI::App& app, Chosen& chosen) {
  const auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* validate = add_command(app, "validate",
                                   "Check files without running them and tell every mistake at once, each as "
                                   "file:line:column: /json/pointer: what, and what would be right.",
                                   "  halfopen validate scenarios/*.json");
  validate->add_option("FILE", *files, broken("Scenarios"))->required();
  validate->callback([files, &chosen] { chosen = [files] { return command_validate(*files); }; });
}

}  // namespace halfopen::sim
