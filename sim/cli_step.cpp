// `halfopen step`: the machines without a scenario, one operation a line.
#include <csignal>
#include <iostream>
#include <memory>
#include <string>

#include "sim/cli.hpp"
#include "sim/cli_output.hpp"
#include "sim/cli_words.hpp"
#include "sim/step.hpp"

namespace halfopen::sim {

namespace {

int command_step(const std::string& machine) {
  std::ios::sync_with_stdio(false);
  // Unlike the other commands this one reads as long as there is input, so it has to end when its reader
  // does.
  std::signal(SIGPIPE, SIG_DFL);
  const int status = run_step(machine, std::cin, std::cout);
  std::cout.flush();
  if (std::cout.good()) return status;
  say("halfopen: can't write to standard output");
  return EXIT_BAD_INPUT;
}

}  // namespace

void add_step(CLI::App& app, Chosen& chosen) {
  const auto machine = std::make_shared<std::string>();
  CLI::App* step =
      add_command(app, "step",
                  "Drive a state machine one operation at a time: a JSON object a line on standard "
                  "input, one answer a line on standard output.",
                  "  echo '{\"op\":\"report\",\"t\":0,\"failure\":true}' | halfopen step health");
  step->add_option("MACHINE", *machine, broken("health, breaker, retry_budget or upstream"))
      ->required()
      ->check(one_of({STEP_MACHINES.begin(), STEP_MACHINES.end()}));
  step->callback([machine, &chosen] { chosen = [machine] { return command_step(*machine); }; });
}

}  // namespace halfopen::sim
