#include "sim/cli.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "sim/cli_output.hpp"
#include "sim/cli_words.hpp"
#include "sim/text_layout.hpp"
#include "sim/writer_parts.hpp"

namespace halfopen::sim {

namespace {

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

// In the order of the help.
using AddCommand = void (*)(CLI::App& app, Chosen& chosen);
constexpr AddCommand COMMANDS[] = {
    add_run,   add_check,    add_explain, add_analyze, add_lint, add_diff,
    add_sweep, add_validate, add_schema,  add_init,    add_step,
#ifdef HALFOPEN_WITH_PROBER
    add_probe, add_watch,
#endif
};

#ifdef HALFOPEN_WITH_PROBER
constexpr std::array<std::string_view, 0> LEFT_OUT{};
#else
constexpr std::array<std::string_view, 2> LEFT_OUT{"probe", "watch"};
#endif

// ---- help -------------------------------------------------------------------------------------------------

constexpr std::string_view FOOTER =
    "Data goes to standard output or -o, talk to standard error. Colour only on a\n"
    "terminal, and only while NO_COLOR is unset.\n\n"
    "Exit status: 0 held, 1 an expectation or golden timeline did not, timelines\n"
    "differ, a probe failed or lint has warnings, 2 usage or a bad file, 3 an\n"
    "internal error, 130 interrupted (143 terminated); over several files the\n"
    "highest of 3, 2, 1, 0.";

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
  if (argc > 1 && std::find(LEFT_OUT.begin(), LEFT_OUT.end(), argv[1]) != LEFT_OUT.end()) {
    say(
        fmt::format("halfopen: this halfopen was built without the prober, which `{}` needs: build it with "
                    "-DHALFOPEN_BUILD_PROBER=ON",
                    argv[1]));
    return EXIT_BAD_INPUT;
  }
  Chosen chosen_command;
  for (const AddCommand add : COMMANDS) add(app, chosen_command);
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
  return chosen_command();
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
