// `halfopen run`: an account of what happens, which judges but does not fail.
#include <fmt/core.h>

#include <filesystem>
#include <limits>
#include <system_error>

#include "sim/cli.hpp"
#include "sim/cli_load.hpp"
#include "sim/cli_output.hpp"
#include "sim/expectations.hpp"
#include "sim/simulation.hpp"
#include "sim/writer_json.hpp"
#include "sim/writer_jsonl.hpp"
#include "sim/writer_text.hpp"

namespace halfopen::sim {

namespace {

bool to_stdout(const RunOptions& options) { return options.output.empty() || options.output == "-"; }

TextStyle style_of(const RunOptions& options) {
  TextStyle style;
  style.ascii = options.ascii;
  style.colour = to_stdout(options) && stdout_wants_colour();
  if (options.all) style.max_events = style.max_lanes = std::numeric_limits<std::size_t>::max();
  return style;
}

std::string account(const Scenario& scenario, const std::string& file, const RunOptions& options) {
  const Timeline timeline = simulate(scenario);
  const std::vector<Judgement> judgements = judge(scenario, timeline);
  switch (options.format) {
    case Format::text: return timeline_text(timeline, judgements, file, style_of(options));
    case Format::json: return timeline_json(timeline, judgements);
    case Format::jsonl: return timeline_jsonl(timeline, judgements);
  }
  return "";
}

// Asked before anything runs: minutes of simulation must not end at a misspelt folder, nor in the scenario
// itself.
std::optional<std::string> output_problem(const RunOptions& options) {
  if (to_stdout(options)) return std::nullopt;
  for (const std::string& file : options.files) {
    std::error_code error;
    if (std::filesystem::equivalent(file, options.output, error)) {
      return fmt::format("-o {} would overwrite the scenario; name another file", options.output);
    }
  }
  return why_not_writable(options.output);
}

}  // namespace

int command_run(const RunOptions& options) {
  if (const auto problem = output_problem(options)) {
    say("halfopen: " + *problem);
    return EXIT_BAD_INPUT;
  }
  const auto scenarios = load_all(options.files, options.load);
  if (!scenarios) return EXIT_BAD_INPUT;
  std::string out;
  for (std::size_t i = 0; i < scenarios->size(); ++i) {
    if (i > 0 && options.format == Format::text) out += '\n';
    out += account((*scenarios)[i], options.files[i], options);
    if (!to_stdout(options)) continue;
    if (const int status = write_stdout(out); status != EXIT_HELD) return status;
    out.clear();
  }
  return to_stdout(options) ? EXIT_HELD : write_file(options.output, out);
}

}  // namespace halfopen::sim
