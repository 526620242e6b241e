// The words of `halfopen sweep`.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/cli.hpp"
#include "sim/cli_sweep_run.hpp"
#include "sim/cli_words.hpp"
#include "sim/sweep_params.hpp"

namespace halfopen::sim {

namespace {

struct SweepWords {
  SweepOptions options;
  std::vector<std::string> params;
  std::string format = "csv", replicates, jobs, run, shard;
  LoadWords load;
};

SweepParam param_of(const std::string& words) {
  std::string wrong;
  std::optional<SweepParam> param = sweep_param(words, wrong);
  if (!param) throw CLI::ValidationError("--param", wrong);
  return *std::move(param);
}

// "3/8".
void read_shard(const std::string& words, SweepOptions& options) {
  const std::size_t slash = words.find('/');
  if (slash == std::string::npos) {
    throw CLI::ValidationError("--shard", fmt::format("'{}' is not of the form 3/8", words));
  }
  options.shards = whole_of("--shard", words.substr(slash + 1), 1, MAX_SWEEP_RUNS);
  options.shard = whole_of("--shard", words.substr(0, slash), 1, options.shards);
}

SweepOptions& understood(SweepWords& words) {
  SweepOptions& options = words.options;
  for (const std::string& param : words.params) options.plan.params.push_back(param_of(param));
  options.plan.load = words.load.options();
  options.format = words.format == "jsonl" ? RowFormat::jsonl : RowFormat::csv;
  if (!words.replicates.empty()) {
    options.plan.replicates = whole_of("--replicates", words.replicates, 1, MAX_SWEEP_RUNS);
  }
  if (!words.jobs.empty()) options.jobs = static_cast<unsigned>(whole_of("--jobs", words.jobs, 1, 1024));
  if (!words.run.empty()) options.run = whole_of("--run", words.run, 1, MAX_SWEEP_RUNS);
  if (!words.shard.empty()) read_shard(words.shard, options);
  if (options.run > 0 && !words.shard.empty()) {
    throw CLI::ValidationError("--run", "one run and a shard of them can't both be chosen");
  }
  return options;
}

void add_choice(CLI::App& sweep, SweepWords& words) {
  sweep
      .add_option("--run", words.run,
                  broken("This run alone, by its number. Numbers begin with 1 and do not depend on what is "
                         "chosen. Default: all of them"))
      ->type_name("N");
  sweep
      .add_option("--shard", words.shard,
                  broken("Every 8th run from the 3rd on for 3/8: each run is in one of the shards 1/8 to "
                         "8/8. Default: 1/1"))
      ->type_name("I/OF");
  sweep.add_flag("--list", words.options.list,
                 broken("Print number, replicate, seed and parameters of each run, and run none. Default: "
                        "off"));
}

void add_output(CLI::App& sweep, SweepWords& words) {
  sweep
      .add_option("--format", words.format,
                  broken("csv, or jsonl (an object a line); what was not measured is an empty field, or "
                         "null. Default: csv"))
      ->check(one_of({"csv", "jsonl"}))
      ->type_name("FORMAT");
  sweep
      .add_option("-o,--output", words.options.output,
                  broken("Write to this file row by row, so that it grows while the sweep runs. If it holds "
                         "the first rows of the same runs, the missing ones are added and a torn last line "
                         "is made again; a file of anything else is refused. Default: standard output"))
      ->type_name("FILE");
  sweep.add_flag("--force", words.options.force,
                 broken("Begin the output file anew, whatever it holds. Default: off"));
  sweep
      .add_option(
          "--jobs", words.jobs,
          broken(
              "Threads, 1 to 1024; what is written does not depend on it. Default: one for each processor"))
      ->type_name("N");
}

}  // namespace

void add_sweep(CLI::App& app, Chosen& chosen) {
  const auto words = std::make_shared<SweepWords>();
  CLI::App* sweep = add_command(
      app, "sweep",
      "Run a scenario for every combination of some settings' values and write a table of its metrics, a row "
      "a run. Every combination is checked before the first one runs. Exits with 0 when all have run, "
      "whether or not expectations held: the columns expectations and held count them. An interrupt leaves "
      "whole rows.",
      "  halfopen sweep x.json --param /upstreams/0/health/eject_ms=5000,30000 \\\n"
      "    --param /traffic/0/rate_rps=100..500:100 --replicates 20 -o x.csv\n"
      "  halfopen sweep x.json --param /seed=1..100:1 --format jsonl --shard 3/8");
  sweep->add_option("FILE", words->options.plan.file, broken("The scenario"))->required();
  sweep
      ->add_option("--param", words->params,
                   broken("Values of one setting: VALUES are a,b,c, each JSON or else a string, or a grid of "
                          "exact decimals lo..hi:step with hi. May be given several times, and the last "
                          "one varies fastest. Default: none"))
      ->type_name("/PTR=VALUES")
      ->allow_extra_args(false);
  sweep
      ->add_option("--replicates", words->replicates,
                   broken("Runs of each combination. They have the scenario's seed, seed + 1, and so on, the "
                          "same ones for every combination, so that differences are due to the settings. "
                          "Default: 1"))
      ->type_name("N");
  add_load_options(*sweep, words->load);
  add_choice(*sweep, *words);
  add_output(*sweep, *words);
  sweep->callback([words, &chosen] {
    SweepOptions& options = understood(*words);
    chosen = [words, &options] { return command_sweep(options); };
  });
}

}  // namespace halfopen::sim
