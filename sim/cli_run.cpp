// `halfopen run`: an account of what happens, which judges but does not fail.
#include <fmt/core.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/cli.hpp"
#include "sim/cli_load.hpp"
#include "sim/cli_output.hpp"
#include "sim/cli_progress.hpp"
#include "sim/cli_words.hpp"
#include "sim/expectations.hpp"
#include "sim/simulation.hpp"
#include "sim/writer_json.hpp"
#include "sim/writer_jsonl.hpp"
#include "sim/writer_text.hpp"
#include "sim/writer_trace.hpp"

namespace halfopen::sim {

namespace {

enum class Format : std::uint8_t { text, json, jsonl, trace };

struct RunOptions {
  std::vector<std::string> files;
  Format format = Format::text;
  std::string output;  // empty or "-": standard output
  LoadOptions load;
  bool ascii = false;
  bool all = false;                                       // events and endpoints without a limit
  std::uint64_t trace_requests = DEFAULT_TRACE_REQUESTS;  // written at most
};

Format format_of(const std::string& name) {
  if (name == "json") return Format::json;
  if (name == "trace") return Format::trace;
  return name == "jsonl" ? Format::jsonl : Format::text;
}

TextStyle style_of(const RunOptions& options) {
  TextStyle style;
  style.ascii = options.ascii;
  style.colour = names_stdout(options.output) && stdout_wants_colour();
  if (options.all) style.max_events = style.max_lanes = std::numeric_limits<std::size_t>::max();
  return style;
}

std::string trace(const Scenario& scenario, const RunOptions& options, RunHooks hooks) {
  TraceRecorder recorder(options.trace_requests);
  hooks.observer = &recorder;
  const Timeline timeline = simulate(scenario, hooks);
  return timeline_trace(timeline, recorder);
}

std::string account(const Scenario& scenario, const std::string& file, const RunOptions& options,
                    const RunHooks& hooks) {
  if (options.format == Format::trace) return trace(scenario, options, hooks);
  const Timeline timeline = simulate(scenario, hooks);
  const std::vector<Judgement> judgements = judge(scenario, timeline);
  switch (options.format) {
    case Format::text: return timeline_text(timeline, judgements, file, style_of(options));
    case Format::json: return timeline_json(timeline, judgements);
    case Format::jsonl: return timeline_jsonl(timeline, judgements);
    case Format::trace: break;
  }
  return "";
}

int command_run(const RunOptions& options) {
  if (options.format == Format::trace && options.files.size() > 1) {
    say("halfopen: a trace is one document of one run; give one scenario at a time");
    return EXIT_BAD_INPUT;
  }
  // Asked before anything runs: minutes of simulation must not end at a misspelt folder.
  std::vector<std::string> inputs = options.files;
  if (options.load.gateway) inputs.push_back(*options.load.gateway);
  if (const auto problem = output_problem("-o", options.output, inputs)) {
    say("halfopen: " + *problem);
    return EXIT_BAD_INPUT;
  }
  const auto scenarios = load_all(options.files, options.load);
  if (!scenarios) return EXIT_BAD_INPUT;
  std::string out;
  std::vector<Nanos> durations;
  for (const Scenario& scenario : *scenarios) durations.push_back(scenario.duration);
  Progress progress("run " + some_files(options.files), total_duration(durations));
  for (std::size_t i = 0; i < scenarios->size(); ++i) {
    const Scenario& scenario = (*scenarios)[i];
    if (i > 0 && options.format == Format::text) out += '\n';
    {
      Progress::Run run(progress, scenario.duration);
      out += account(scenario, options.files[i], options, {nullptr, run.reached()});
    }
    if (!names_stdout(options.output)) continue;
    if (const int status = write_stdout(out); status != EXIT_HELD) return status;
    out.clear();
  }
  return names_stdout(options.output) ? EXIT_HELD : write_file(options.output, out);
}

struct RunWords {
  RunOptions options;
  std::string format = "text", trace_requests;
  LoadWords load;
};

}  // namespace

void add_run(CLI::App& app, Chosen& chosen) {
  const auto words = std::make_shared<RunWords>();
  RunOptions& options = words->options;
  CLI::App* run =
      add_command(app, "run",
                  "Run scenarios and print an account: lanes, events with their reasons, numbers. Shows "
                  "which expectations held, but exits with 0 either way (`check` judges).",
                  "  halfopen run scenarios/brownout-one-of-four.json\n"
                  "  halfopen run x.json --seed 7 --set /upstreams/0/health/failure_ratio=0.3\n"
                  "  halfopen run x.json --format json -o x.timeline.json");
  run->add_option("FILE", options.files, broken("Scenarios; all are read before the first one runs"))
      ->required();
  run->add_option(
         "--format", words->format,
         broken(
             "text (for people, 80 columns), json (halfopen.timeline/1, one document a scenario), jsonl (one "
             "object a line) or trace (Chrome trace events of one scenario: drop the file into "
             "ui.perfetto.dev). Default: text"))
      ->check(one_of({"text", "json", "jsonl", "trace"}))
      ->type_name("FORMAT");
  add_load_options(*run, words->load);
  add_output_option(*run, options.output);
  run->add_flag("--ascii", options.ascii, broken("Draw with ASCII characters only. Default: off"));
  run->add_flag("--all", options.all,
                broken("Show every event and endpoint in the text. Default: 40 events, 24 endpoints"));
  run->add_option("--trace-requests", words->trace_requests,
                  broken("Requests in a trace at most; of more, every n-th. All else is always complete. "
                         "Default: 20000"))
      ->type_name("N");
  run->callback([words, &chosen] {
    words->options.format = format_of(words->format);
    words->options.load = words->load.options();
    if (!words->trace_requests.empty()) {
      words->options.trace_requests = whole_of("--trace-requests", words->trace_requests, 0, UINT64_MAX);
    }
    chosen = [words] { return command_run(words->options); };
  });
}

}  // namespace halfopen::sim
