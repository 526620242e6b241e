#include "sim/cli_sweep_run.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "sim/cli.hpp"
#include "sim/cli_output.hpp"
#include "sim/cli_sweep_output.hpp"
#include "sim/cli_sweep_progress.hpp"
#include "sim/sweep_json.hpp"
#include "sim/text_layout.hpp"

namespace halfopen::sim {

namespace {

constexpr std::size_t TOLD_MISTAKES = 20;
constexpr std::size_t VALUE_WIDTH = 40;     // of a value in a message
constexpr std::size_t WRITE_BYTES = 65536;  // lines of a list that are written at once

int refuse(const std::string& sentence) {
  say("halfopen: " + sentence);
  return EXIT_BAD_INPUT;
}

// ---- mistakes -------------------------------------------------------------------------------------------

// "/a=1, /b=x": which values a run has.
std::string values_text(const Sweep& sweep, const SweepRun& run) {
  std::string out;
  for (std::size_t n = 0; n < sweep.plan().params.size(); ++n) {
    out += fmt::format("{}{}={}", out.empty() ? "" : ", ", sweep.plan().params[n].pointer,
                       shorten(sweep.value(run, n), VALUE_WIDTH, true));
  }
  return out;
}

// The reader of scenarios knows settings that are changed by their other name.
std::string mistake_text(const Sweep& sweep, const SweepMistake& found) {
  Mistake mistake = found.mistake;
  for (const SweepParam& param : sweep.plan().params) {
    if (!mistake.what.starts_with(fmt::format("--set {}=", param.pointer))) continue;
    mistake.what.replace(0, std::string_view("--set").size(), "--param");
    break;
  }
  return mistake.text();
}

// False if there is more than warnings.
bool tell(const Sweep& sweep, const std::vector<SweepMistake>& mistakes) {
  bool good = true;
  for (std::size_t n = 0; n < mistakes.size(); ++n) {
    const SweepMistake& found = mistakes[n];
    good = good && found.mistake.warning;
    if (n >= TOLD_MISTAKES) continue;
    say(mistake_text(sweep, found));
    const std::uint64_t points = sweep.size() / sweep.plan().replicates;
    if (found.points == points) continue;  // no value's fault
    const std::string others =
        found.points > 1 ? fmt::format(", and at {} more", plural(found.points - 1, "point")) : "";
    say(fmt::format("  in run {}, {}{}", found.first.number, values_text(sweep, found.first), others));
  }
  if (mistakes.size() > TOLD_MISTAKES) {
    say(fmt::format("halfopen: {} are not shown", plural(mistakes.size() - TOLD_MISTAKES, "more mistake")));
  }
  return good;
}

// ---- the work -------------------------------------------------------------------------------------------

// Between two lines, so that none is cut. The runs that are going on are lost.
[[noreturn]] void leave(int status) { ::_exit(status); }

std::optional<std::string> output_problem(const SweepOptions& options) {
  if (names_stdout(options.output)) return std::nullopt;
  std::error_code error;
  if (std::filesystem::equivalent(options.plan.file, options.output, error)) {
    return fmt::format("-o {} would overwrite the scenario; name another file", options.output);
  }
  // An existing file is grown, which its folder need not allow.
  if (std::filesystem::is_regular_file(options.output, error)) return std::nullopt;
  return why_not_writable(options.output);
}

std::optional<SweepRuns> chosen_runs(const Sweep& sweep, const SweepOptions& options) {
  if (options.run == 0) return sweep.shard(options.shard, options.shards);
  if (options.run <= sweep.size()) return sweep.only(options.run);
  refuse(fmt::format("there is no run {}: this sweep has runs 1 to {}", options.run, sweep.size()));
  return std::nullopt;
}

int list_runs(Sweep& sweep, const SweepRuns& runs, RowFormat format) {
  RowSink sink;
  if (!sink.open("")) return EXIT_BAD_INPUT;
  std::string lines = sweep_header(sweep.plan(), format, true);
  for (std::uint64_t n = 0; n < runs.count && sink.state() == RowSink::State::open; ++n) {
    const SweepRun run = sweep.run(runs.number(n));
    lines += list_row(sweep, run, sweep.seed(run), format);
    if (lines.size() < WRITE_BYTES) continue;
    sink.write(lines);
    lines.clear();
    if (const auto status = interrupted()) leave(*status);
  }
  sink.write(lines);
  return sink.state() == RowSink::State::failed ? EXIT_BAD_INPUT : EXIT_HELD;
}

// Runs them all and writes their rows; `before` rows are in the file already.
int run_all(Sweep& sweep, const SweepRuns& runs, std::uint64_t before, const SweepOptions& options,
            RowSink& sink) {
  // Rows on the same terminal are progress enough.
  SweepProgress progress(!names_stdout(options.output) || ::isatty(STDOUT_FILENO) == 0);
  const std::uint64_t total = runs.count;
  std::uint64_t done = 0;
  std::string lines = before == 0 ? sweep_header(sweep.plan(), options.format) : "";
  const SweepWork work{
      options.jobs, [&] {
        sink.write(lines);
        lines.clear();
        if (const auto status = interrupted()) {
          progress.erase();
          say(fmt::format("halfopen: interrupted after {} of {} runs{}", before + done, before + total,
                          sink.resumable() ? "; the same command goes on from there" : ""));
          leave(*status);
        }
        progress.show(done, total);
        return sink.state() == RowSink::State::open;
      }};
  sink.write(lines);
  lines.clear();
  sweep.execute(runs, work, [&](SweepRecord&& record) {
    lines += sweep_row(sweep, record, options.format);
    ++done;
  });
  return sink.state() == RowSink::State::failed ? EXIT_BAD_INPUT : EXIT_HELD;
}

int run_into(Sweep& sweep, const SweepRuns& runs, const SweepOptions& options) {
  RowSink sink;
  if (!sink.open(options.output)) return EXIT_BAD_INPUT;
  std::uint64_t before = 0;
  if (sink.resumable() && options.force) {
    sink.keep(0);
  } else if (sink.resumable()) {
    const std::optional<std::string> table = sink.content();
    if (!table) return EXIT_BAD_INPUT;
    const SweepBegun begun = sweep_begun(sweep, runs, options.format, *table);
    if (!begun.foreign.empty()) {
      return refuse(fmt::format("{} is another table: {}. Name another file, or say --force to overwrite it",
                                options.output, begun.foreign));
    }
    before = begun.rows;
    // Without a row the header is written again, whether it was whole or not.
    sink.keep(before > 0 ? begun.bytes : 0);
    if (before > 0) {
      say(fmt::format("halfopen: {} has {} of {} already", options.output, before,
                      plural(runs.count, "run")));
    }
  }
  if (sink.state() != RowSink::State::open) return EXIT_BAD_INPUT;
  return run_all(sweep, runs.without_first(before), before, options, sink);
}

}  // namespace

int command_sweep(SweepOptions& options) {
  if (const auto problem = sweep_problem(options.plan)) return refuse("sweep: " + *problem);
  if (options.list && !names_stdout(options.output))
    return refuse("sweep: --list writes to standard output alone");
  if (const auto problem = output_problem(options)) return refuse(*problem);
  if (const auto mistake = read_scenario_text(options.plan.file, options.plan.text)) {
    say(mistake->text());
    return EXIT_BAD_INPUT;
  }
  Sweep sweep(std::move(options.plan));
  const auto runs = chosen_runs(sweep, options);
  if (!runs) return EXIT_BAD_INPUT;
  catch_interrupts();
  const SweepWork reading{options.jobs, [] {
                            if (const auto status = interrupted()) leave(*status);
                            return true;
                          }};
  if (!tell(sweep, sweep.prepare(*runs, reading))) return EXIT_BAD_INPUT;
  try {
    return options.list ? list_runs(sweep, *runs, options.format) : run_into(sweep, *runs, options);
  } catch (const SweepChanged& change) {
    return refuse(fmt::format("the scenario changed while it was swept: {}", change.what()));
  }
}

}  // namespace halfopen::sim
