#include "sim/cli.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <csignal>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <new>

#include "sim/cli_output.hpp"
#include "sim/step.hpp"
#include "sim/text_layout.hpp"
#include "sim/writer_parts.hpp"

namespace halfopen::sim {

namespace {

constexpr std::size_t OPTION_COLUMN = 24;  // where descriptions begin in the help

// Descriptions are written as one sentence and broken here, because CLI11 does not.
std::string broken(std::string_view text, std::size_t width = PAGE_WIDTH - OPTION_COLUMN) {
  std::string out;
  for (const std::string& line : wrap(text, width)) out += (out.empty() ? "" : "\n") + line;
  return out;
}

// What CLI11 leaves out or says twice: air before the usage, no type beside a positional's name, no empty
// group.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(OPTION_COLUMN); }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    return '\n' + CLI::Formatter::make_usage(app, std::move(name));
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_positional() || option->get_type_name().empty()) return "";
    const bool several = option->get_expected_max() > 1;
    return ' ' + option->get_type_name() + (several ? " ..." : "");
  }
};

// One of a few words, named in the message when it is none of them.
CLI::Validator one_of(std::vector<std::string> words) {
  return CLI::Validator(
      [words = std::move(words)](const std::string& word) {
        if (std::find(words.begin(), words.end(), word) != words.end()) return std::string();
        return fmt::format("'{}' is none of {}", word, fmt::join(words, ", "));
      },
      "");
}

// ---- values of options --------------------------------------------------------------------------------

// CLI11 would take "-1" for a very large number and "1e3" for 1.
std::uint64_t seed_of(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw CLI::ValidationError("--seed",
                               fmt::format("'{}' is no whole number from 0 to 18446744073709551615", text));
  }
  return seed;
}

std::pair<std::string, std::string> setting_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (text.empty() || text.front() != '/' || equals == std::string::npos) {
    throw CLI::ValidationError("--set", fmt::format("'{}' is not of the form /json/pointer=value", text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

Format format_of(const std::string& name) {
  if (name == "json") return Format::json;
  return name == "jsonl" ? Format::jsonl : Format::text;
}

// ---- the commands ---------------------------------------------------------------------------------------

// What the words on the command line become; a command's callback sets `chosen`.
struct Words {
  RunOptions run;
  CheckOptions check;
  ValidateOptions validate;
  std::string format = "text", seed, machine;
  std::vector<std::string> sets;
  std::function<int()> chosen;
};

CLI::App* add_command(CLI::App& app, const std::string& name, std::string_view what,
                      const std::string& examples) {
  CLI::App* command = app.add_subcommand(name, broken(what, PAGE_WIDTH));
  command->footer("Examples:\n" + examples);
  command->get_help_ptr()->description("Print this help and exit");
  return command;
}

void add_run(CLI::App& app, Words& words) {
  CLI::App* run =
      add_command(app, "run",
                  "Run scenarios and print an account: lanes, events with their reasons, numbers. Shows "
                  "which expectations held, but exits with 0 either way (`check` judges).",
                  "  halfopen run scenarios/brownout-one-of-four.json\n"
                  "  halfopen run x.json --seed 7 --set /upstreams/0/health/failure_ratio=0.3\n"
                  "  halfopen run x.json --format json -o x.timeline.json");
  run->add_option("FILE", words.run.files, broken("Scenarios; all are read before the first one runs"))
      ->required();
  run->add_option(
         "--format", words.format,
         broken("text (for people, 80 columns), json (halfopen.timeline/1, one document a scenario) or jsonl "
                "(one object a line). Default: text"))
      ->check(one_of({"text", "json", "jsonl"}))
      ->type_name("FORMAT");
  run->add_option("--seed", words.seed, broken("0 to 2^64-1. Default: the scenario's own, or 1"))
      ->type_name("N");
  run->add_option(
         "--set", words.sets,
         broken(
             "Change one value of the scenario before it runs; the value is JSON, or else a string. May be "
             "given several times. Default: nothing is changed"))
      ->type_name("/PTR=VALUE")
      ->allow_extra_args(false);
  run->add_option("-o,--output", words.run.output,
                  broken("Write to this file, which appears whole or not at all. Default: standard output"))
      ->type_name("FILE");
  run->add_flag("--ascii", words.run.ascii, broken("Draw with ASCII characters only. Default: off"));
  run->add_flag("--all", words.run.all,
                broken("Show every event and endpoint in the text. Default: 40 events, 24 endpoints"));
  run->callback([&words] {
    words.run.format = format_of(words.format);
    if (!words.seed.empty()) words.run.load.seed = seed_of(words.seed);
    for (const std::string& set : words.sets) words.run.load.sets.push_back(setting_of(set));
    words.chosen = [&words] { return command_run(words.run); };
  });
}

void add_check(CLI::App& app, Words& words) {
  CLI::App* check =
      add_command(app, "check",
                  "Run scenarios and judge their expectations. Where X.timeline.json is beside X.json, "
                  "the timeline must be those bytes too, meta.version left out.",
                  "  halfopen check scenarios/\n"
                  "  halfopen check --update scenarios/brownout-one-of-four.json");
  check
      ->add_option(
          "PATH", words.check.paths,
          broken("Scenarios, and directories of them: their *.json by name, without *.timeline.json"))
      ->required();
  check->add_flag(
      "--update", words.check.update,
      broken("Write the golden timelines instead of comparing them, also those that are missing; refused "
             "where the environment variable CI is set. Default: off"));
  check->callback([&words] { words.chosen = [&words] { return command_check(words.check); }; });
}

void add_validate(CLI::App& app, Words& words) {
  CLI::App* validate = add_command(app, "validate",
                                   "Check files without running them and tell every mistake at once, each as "
                                   "file:line:column: /json/pointer: what, and what would be right.",
                                   "  halfopen validate scenarios/*.json");
  validate->add_option("FILE", words.validate.files, broken("Scenarios"))->required();
  validate->callback([&words] { words.chosen = [&words] { return command_validate(words.validate); }; });
}

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

void add_step(CLI::App& app, Words& words) {
  CLI::App* step =
      add_command(app, "step",
                  "Drive a state machine one operation at a time: a JSON object a line on standard "
                  "input, one answer a line on standard output.",
                  "  echo '{\"op\":\"report\",\"t\":0,\"failure\":true}' | halfopen step health");
  step->add_option("MACHINE", words.machine, broken("health, breaker, retry_budget or upstream"))
      ->required()
      ->check(one_of({STEP_MACHINES.begin(), STEP_MACHINES.end()}));
  step->callback([&words] { words.chosen = [&words] { return command_step(words.machine); }; });
}

// ---- help -------------------------------------------------------------------------------------------------

constexpr std::string_view FOOTER =
    "Data goes to standard output or -o, talk to standard error. Colour only on a\n"
    "terminal, and only while NO_COLOR is unset.\n\n"
    "Exit status: 0 held, 1 an expectation or golden timeline did not, 2 usage or a\n"
    "bad file, 3 an internal error, 130 interrupted; over several files the highest\n"
    "of 3, 2, 1, 0.";

// The help of the program holds that of every command, so that one call tells everything.
std::string whole_help(const CLI::App& app) {
  const std::string rule = '\n' + std::string(PAGE_WIDTH, '-') + '\n';
  std::string out = app.get_description() +
                    "\n\nUsage: halfopen COMMAND ...\n       halfopen [COMMAND] --help | --version\n";
  for (const CLI::App* command : app.get_subcommands({})) {
    std::string help = command->help("halfopen");
    while (help.ends_with('\n')) help.pop_back();
    out += rule + help + '\n';
  }
  return out + rule + "  -h,--help             Print this help, or that of one command, and exit\n" +
         "  --version             Print the version and exit\n\n" + std::string(FOOTER) + '\n';
}

std::string usage_problem(const CLI::App& app, const CLI::ParseError& error, int argc,
                          const char* const* argv) {
  if (!app.get_subcommands().empty()) return app.get_subcommands().front()->get_name() + ": " + error.what();
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (argc < 2) return fmt::format("a command is missing: {}", fmt::join(names, ", "));
  if (*argv[1] == '-') return fmt::format("there is no option '{}' before the command", argv[1]);
  return fmt::format("there is no command '{}', but {}", argv[1], fmt::join(names, ", "));
}

int parse_and_run(int argc, const char* const* argv) {
  CLI::App app(
      "halfopen: runs production health and breaker state machines against\nsimulated trouble, "
      "deterministically.",
      "halfopen");
  app.set_version_flag("--version", "halfopen " + std::string(version()));
  app.require_subcommand(1);
  app.formatter(std::make_shared<HelpFormatter>());
  Words words;
  add_run(app, words);
  add_check(app, words);
  add_validate(app, words);
  add_step(app, words);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    return write_stdout(chosen.empty() ? whole_help(app) : chosen.front()->help("halfopen"));
  } catch (const CLI::CallForVersion& about) {
    return write_stdout(std::string(about.what()) + '\n');
  } catch (const CLI::ParseError& error) {
    say("halfopen: " + usage_problem(app, error, argc, argv));
    say("`halfopen --help` tells all commands and options.");
    return EXIT_BAD_INPUT;
  }
  return words.chosen();
}

}  // namespace

int run_cli(int argc, const char* const* argv) {
  prepare_process();
  try {
    return parse_and_run(argc, argv);
  } catch (const std::bad_alloc&) {
    say("halfopen: internal error: out of memory");
  } catch (const std::exception& error) {
    say(std::string("halfopen: internal error: ") + error.what());
  } catch (...) {
    say("halfopen: internal error: an exception of unknown kind");
  }
  return EXIT_INTERNAL;
}

}  // namespace halfopen::sim
