// `halfopen check`: runs scenarios, judges what they expect and compares golden timelines.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "sim/cli.hpp"
#include "sim/cli_golden.hpp"
#include "sim/cli_load.hpp"
#include "sim/cli_output.hpp"
#include "sim/cli_words.hpp"
#include "sim/expectations.hpp"
#include "sim/simulation.hpp"
#include "sim/text_layout.hpp"
#include "sim/utf8.hpp"
#include "sim/writer_json.hpp"

namespace halfopen::sim {

namespace {

namespace fs = std::filesystem;

struct CheckOptions {
  std::vector<std::string> paths;  // files and directories
  bool update = false;
};

bool is_scenario_name(const std::string& name) {
  return name.ends_with(".json") && !name.ends_with(GOLDEN_SUFFIX);
}

// The scenarios of a directory by name, so that the order does not depend on the file system.
std::vector<std::string> scenarios_in(const std::string& directory) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    if (is_scenario_name(entry->path().filename().string()) && !entry->is_directory(error)) {
      out.push_back(entry->path().string());
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

// The files to check; an empty directory is told, because a check that looks at nothing must not pass.
std::vector<std::string> expand(const std::vector<std::string>& paths, int& status) {
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      out.push_back(path);
      continue;
    }
    const std::vector<std::string> found = scenarios_in(path);
    if (found.empty()) {
      say(fmt::format("{}: no scenario (*.json, other than *{}) in this directory", path, GOLDEN_SUFFIX));
      status = EXIT_BAD_INPUT;
    }
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

struct Report {
  int status = EXIT_HELD;
  std::vector<std::string> failures;  // sentences, each of one or more lines
  std::string golden;                 // what is said of the golden timeline when all is well

  void fail(int how, std::string sentence) {
    status = std::max(status, how);
    failures.push_back(std::move(sentence));
  }
};

void update_golden(Report& report, const std::string& path, const std::optional<std::string>& golden,
                   const std::string& now) {
  // One that differs in nothing but the version stays: a release is no reason to touch every file.
  if (golden && golden_difference(path, *golden, now).empty()) {
    report.golden = ", golden timeline unchanged";
    return;
  }
  report.golden = golden ? ", golden timeline rewritten" : ", golden timeline written";
  if (write_file(path, now) != EXIT_HELD) report.fail(EXIT_BAD_INPUT, path + " could not be written");
}

void check_golden(Report& report, const std::string& file, const std::string& now, bool update) {
  const std::string path = golden_path(file);
  std::error_code error;
  const bool exists = fs::exists(path, error);
  if (!exists && !update) return;
  const std::optional<std::string> golden = exists ? read_whole_file(path) : std::nullopt;
  if (exists && !golden) return report.fail(EXIT_BAD_INPUT, path + ": this golden timeline can't be read");
  if (update) return update_golden(report, path, golden, now);
  std::string difference = golden_difference(path, *golden, now);
  if (difference.empty()) {
    report.golden = ", golden timeline";
  } else {
    report.fail(EXIT_NOT_HELD, difference + "\nif this is meant: halfopen check --update " + file);
  }
}

Report check_one(const Scenario& scenario, const std::string& file, bool update) {
  Report report;
  try {
    const Timeline timeline = simulate(scenario);
    const std::vector<Judgement> judgements = judge(scenario, timeline);
    for (const Judgement& judgement : judgements) {
      if (!judgement.held) report.fail(EXIT_NOT_HELD, failure_text(judgement, file));
    }
    check_golden(report, file, timeline_json(timeline, judgements), update);
  } catch (const std::exception& error) {
    report.fail(EXIT_INTERNAL, fmt::format("{}: internal error: {}", file, error.what()));
  }
  return report;
}

// The first line by two spaces, those that explain it by four.
std::string indented(std::string_view lines) {
  std::string out = "  ";
  for (const char c : lines) {
    out += c;
    if (c == '\n') out += "    ";
  }
  return out + '\n';
}

std::string report_text(const Report& report, const Scenario& scenario, const std::string& file) {
  const std::string name = printable(scenario.name.empty() ? file : scenario.name);
  if (report.failures.empty()) {
    return fmt::format("ok {} ({}{})\n", name, plural(scenario.expect.size(), "expectation"), report.golden);
  }
  std::string out = "FAILED " + name + '\n';
  for (const std::string& failure : report.failures) out += indented(failure);
  return out;
}

bool continuous_integration() {
  const char* ci = std::getenv("CI");
  return ci != nullptr && *ci != '\0';
}

int command_check(const CheckOptions& options) {
  if (options.update && continuous_integration()) {
    say("halfopen: --update is refused where CI is set: golden timelines are rewritten by people, who look "
        "at them");
    return EXIT_BAD_INPUT;
  }
  int status = EXIT_HELD;
  const std::vector<std::string> files = expand(options.paths, status);
  // A bad file is told first and does not keep the others from being judged, but nothing is rewritten beside
  // it.
  std::vector<std::pair<std::string, Scenario>> good;
  for (const std::string& file : files) {
    std::optional<Scenario> scenario = load_and_tell(file, {});
    if (scenario) good.emplace_back(file, std::move(*scenario));
  }
  if (good.size() < files.size()) status = EXIT_BAD_INPUT;
  if (options.update && status != EXIT_HELD) return status;
  std::size_t held = 0;
  for (const auto& [file, scenario] : good) {
    const Report report = check_one(scenario, file, options.update);
    held += report.status == EXIT_HELD ? 1 : 0;
    status = std::max({status, report.status, write_stdout(report_text(report, scenario, file))});
  }
  say(fmt::format("{} of {} held{}", held, plural(files.size(), "scenario"),
                  good.size() < files.size() ? fmt::format(", {} bad", files.size() - good.size()) : ""));
  return status;
}

}  // namespace

void add_check(CLI::App& app, Chosen& chosen) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App* check =
      add_command(app, "check",
                  "Run scenarios and judge their expectations. Where X.timeline.json is beside X.json, "
                  "the timeline must be those bytes too, meta.version left out.",
                  "  halfopen check scenarios/\n"
                  "  halfopen check --update scenarios/brownout-one-of-four.json");
  check
      ->add_option(
          "PATH", options->paths,
          broken("Scenarios, and directories of them: their *.json by name, without *.timeline.json"))
      ->required();
  check->add_flag(
      "--update", options->update,
      broken("Write the golden timelines instead of comparing them, also those that are missing; refused "
             "where the environment variable CI is set. Default: off"));
  check->callback([options, &chosen] { chosen = [options] { return command_check(*options); }; });
}

}  // namespace halfopen::sim
