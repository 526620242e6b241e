// `halfopen validate`: every mistake of every file, and nothing is run.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/cli.hpp"
#include "sim/cli_load.hpp"
#include "sim/cli_output.hpp"
#include "sim/cli_words.hpp"

namespace halfopen::sim {

namespace {

// An expectation that can't be evaluated does not make a file bad, but it never holds.
void tell_hopeless(const Scenario& scenario, const std::string& file) {
  for (std::size_t n = 0; n < scenario.expect.size(); ++n) {
    const Expectation& expectation = scenario.expect[n];
    if (expectation.problem.empty()) continue;
    Mistake warning;
    warning.file = file;
    warning.line = expectation.place.line;
    warning.column = expectation.place.column;
    warning.pointer = "/expect/" + std::to_string(n);
    warning.what = "this can't hold: " + expectation.problem;
    warning.warning = true;
    say(warning.text());
  }
}

int command_validate(const std::vector<std::string>& files) {
  int status = EXIT_HELD;
  for (const std::string& file : files) {
    const std::optional<Scenario> scenario = load_and_tell(file, {});
    const bool good = scenario.has_value();
    if (good) tell_hopeless(*scenario, file);
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
                                   "  halfopen validate scenarios/retry-storm.json my.yaml");
  validate->add_option("FILE", *files, broken("Scenarios"))->required();
  validate->callback([files, &chosen] { chosen = [files] { return command_validate(*files); }; });
}

}  // namespace halfopen::sim
