// `halfopen check`: runs scenarios, judges what they expect, compares golden timelines, and tells it.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "sim/cli.hpp"
#include "sim/cli_check.hpp"
#include "sim/cli_golden.hpp"
#include "sim/cli_output.hpp"
#include "sim/cli_progress.hpp"
#include "sim/cli_words.hpp"
#include "sim/in_order.hpp"
#include "sim/text_layout.hpp"
#include "sim/yaml_source.hpp"

namespace halfopen::sim {

namespace {

namespace fs = std::filesystem;

struct CheckOptions {
  std::vector<std::string> paths;  // files and directories
  std::string junit;               // empty: none
  LoadOptions load;
  unsigned jobs = 0;  // 0: one for each processor
  bool tap = false;
  bool github = false;
  bool update = false;
};

bool is_scenario_name(const std::string& name) {
  return (name.ends_with(".json") && !name.ends_with(GOLDEN_SUFFIX)) || is_yaml_name(name);
}

// What a directory holds for us, by name, so that the order does not depend on the file system: scenarios,
// and golden timelines that have none.
std::vector<std::string> worth_checking_in(const std::string& directory) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    const std::string path = entry->path().string();
    if (entry->is_directory(error)) continue;
    if (is_scenario_name(entry->path().filename().string()) ||
        (path.ends_with(GOLDEN_SUFFIX) && is_stale_golden(path))) {
      out.push_back(path);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

Mistake nothing_in(const std::string& directory) {
  Mistake mistake;
  mistake.file = directory;
  mistake.what =
      fmt::format("no scenario (*.json, *.yaml, *.yml, other than *{}) in this directory", GOLDEN_SUFFIX);
  return mistake;
}

// All that there is to judge, in order: what can be run, and results for what can't. Mistakes are told at
// once.
class Batch {
 public:
  explicit Batch(const LoadOptions& options) : options_(options) {}

  void add(const std::string& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) return load(path);
    const std::vector<std::string> found = worth_checking_in(path);
    // An empty directory is told, because a check that looks at nothing must not pass.
    if (found.empty()) return refuse(path, {nothing_in(path)});
    for (const std::string& file : found) {
      if (file.ends_with(GOLDEN_SUFFIX)) {
        results.push_back(stale_golden(file));
        scenarios.emplace_back();
      } else {
        load(file);
      }
    }
  }

  std::vector<std::string> scenario_files() const {
    std::vector<std::string> out;
    for (const CheckResult& result : results) {
      if (result.kind == CheckResult::Kind::scenario) out.push_back(result.file);
    }
    return out;
  }

  std::vector<std::string> files() const {
    std::vector<std::string> out;
    for (const CheckResult& result : results) {
      out.push_back(result.file);
      out.push_back(golden_path(result.file));
    }
    return out;
  }

  std::size_t count(CheckResult::Kind kind) const {
    return static_cast<std::size_t>(std::count_if(
        results.begin(), results.end(), [kind](const CheckResult& result) { return result.kind == kind; }));
  }

  Nanos duration() const {
    std::vector<Nanos> all;
    for (const auto& scenario : scenarios) all.push_back(scenario ? scenario->duration : 0);
    return total_duration(all);
  }

  // As many of each; a scenario is given up once it has been judged.
  std::vector<CheckResult> results;
  std::vector<std::optional<Scenario>> scenarios;

 private:
  void load(const std::string& file) {
    Loaded loaded = load_scenario_file(file, options_);
    if (!loaded.scenario) return refuse(file, std::move(loaded.mistakes));
    for (const Mistake& mistake : loaded.mistakes) say(mistake.text());
    CheckResult result;
    result.file = file;
    result.mistakes = std::move(loaded.mistakes);
    results.push_back(std::move(result));
    scenarios.push_back(std::move(loaded.scenario));
  }

  void refuse(const std::string& path, std::vector<Mistake> mistakes) {
    for (const Mistake& mistake : mistakes) say(mistake.text());
    results.push_back(bad_file(path, std::move(mistakes)));
    scenarios.emplace_back();
  }

  const LoadOptions& options_;
};

// Judges result `number` in place.
void judge_one(Batch& batch, std::size_t number, Golden golden, Progress& progress) {
  std::optional<Scenario>& scenario = batch.scenarios[number];
  if (!scenario) return;
  Progress::Run run(progress, scenario->duration);
  CheckResult& result = batch.results[number];
  std::vector<Mistake> warnings = std::move(result.mistakes);
  result = judge_scenario(*scenario, result.file, golden, {nullptr, run.reached()});
  result.mistakes = std::move(warnings);
  scenario.reset();
}

void write_golden(CheckResult& result) {
  if (!result.rewrite) return;
  const std::string path = golden_path(result.file);
  if (write_file(path, *result.rewrite) != EXIT_HELD) {
    result.add({"golden timeline", Verdict::error, "it could not be written", path, {}});
  }
  result.rewrite.reset();
}

// Standard output holds text and annotations, or TAP alone.
int tell(const CheckResult& result, const CheckOptions& options, std::size_t& points) {
  const std::string annotations = options.github ? check_github(result) : "";
  if (!options.tap) return write_stdout(check_text(result) + annotations);
  for (std::string_view rest = annotations; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    say(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  return write_stdout(check_tap(result, points));
}

void sum_up(const Batch& batch, std::size_t held) {
  using Kind = CheckResult::Kind;
  const std::size_t bad = batch.count(Kind::bad), stale = batch.count(Kind::stale_golden);
  std::string out = fmt::format("{} of {} held", held, plural(batch.count(Kind::scenario) + bad, "scenario"));
  if (bad > 0) out += fmt::format(", {} bad", bad);
  if (stale > 0) out += ", " + plural(stale, "golden timeline") + " of no scenario";
  say(out);
}

int judge_and_tell(Batch& batch, const CheckOptions& options) {
  int status = options.tap ? write_stdout(TAP_HEADER) : EXIT_HELD;
  std::size_t held = 0, points = 0;
  {
    Progress progress("check " + plural(batch.count(CheckResult::Kind::scenario), "scenario"),
                      batch.duration());
    const Golden golden = options.load.gateway ? Golden::leave_out
                          : options.update     ? Golden::update
                                               : Golden::compare;
    const auto judge_it = [&](std::uint64_t number) {
      judge_one(batch, number, golden, progress);
      return number;
    };
    const auto tell_it = [&](std::uint64_t number) {
      CheckResult& result = batch.results[number];
      write_golden(result);
      held += result.status == EXIT_HELD ? 1 : 0;
      status = std::max({status, result.status, tell(result, options, points)});
    };
    in_order<std::uint64_t>(
        batch.results.size(), options.jobs, [&] { return judge_it; }, tell_it, nullptr);
  }
  if (options.tap) status = std::max(status, write_stdout(check_tap_plan(points)));
  if (!options.junit.empty())
    status = std::max(status, write_file(options.junit, check_junit(batch.results)));
  sum_up(batch, held);
  return status;
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
  if (options.update && options.load.gateway) {
    say("halfopen: --update is refused with --gateway: golden timelines are those of the scenarios' own "
        "upstreams");
    return EXIT_BAD_INPUT;
  }
  Batch batch(options.load);
  for (const std::string& path : options.paths) batch.add(path);
  bool clashed = false;
  if (const std::string clash = golden_clash(batch.scenario_files()); !clash.empty()) {
    say("halfopen: " + clash);
    clashed = true;
  }
  if (const auto problem = output_problem("--junit", options.junit, batch.files())) {
    say("halfopen: " + *problem);
    return EXIT_BAD_INPUT;
  }
  // A bad file does not keep the others from being judged, but nothing is rewritten beside it.
  if (options.update && (clashed || batch.count(CheckResult::Kind::bad) > 0)) return EXIT_BAD_INPUT;
  return std::max(judge_and_tell(batch, options), clashed ? EXIT_BAD_INPUT : EXIT_HELD);
}

struct CheckWords {
  CheckOptions options;
  std::optional<std::string> jobs;
};

void add_check_renderings(CLI::App& check, CheckOptions& options) {
  check
      .add_option("--junit", options.junit,
                  broken("Also write JUnit XML to this file, which appears whole or not at all: a suite a "
                         "scenario, a test case an expectation, no times. Default: none"))
      ->type_name("FILE");
  check.add_flag("--tap", options.tap,
                 broken("TAP version 14 on standard output instead of the text. Default: off"));
  check.add_flag("--github", options.github,
                 broken("Also print GitHub annotations (::error file=...), to standard error with --tap. "
                        "Default: off"));
}

}  // namespace

void add_check(CLI::App& app, Chosen& chosen) {
  const auto words = std::make_shared<CheckWords>();
  CheckOptions& options = words->options;
  CLI::App* check =
      add_command(app, "check",
                  "Run scenarios and judge their expectations. Where X.timeline.json is beside X.json, "
                  "the timeline must be those bytes too, meta.version left out. Exits with 1 if anything has "
                  "not held, with 2 if a file is bad; the others are judged all the same.",
                  "  halfopen check scenarios/\n"
                  "  halfopen check --junit report.xml --github scenarios/\n"
                  "  halfopen check --update scenarios/brownout-one-of-four.json");
  check
      ->add_option(
          "PATH", options.paths,
          broken("Scenarios, and directories of them: their *.json, *.yaml and *.yml by name, without "
                 "*.timeline.json, which must have a scenario there. Folders in a directory are not entered"))
      ->required();
  check
      ->add_option("--jobs", words->jobs,
                   broken("Scenarios that run at once, 1 to 1024; what is printed does not depend on it. "
                          "Default: the number of processors"))
      ->type_name("N");
  add_gateway_option(*check, options.load.gateway);
  add_check_renderings(*check, options);
  check->add_flag(
      "--update", options.update,
      broken("Write the golden timelines instead of comparing them, also those that are missing, and delete "
             "none; refused where the environment variable CI is set. Default: off"));
  check->callback([words, &chosen] {
    if (words->options.junit == "-") throw CLI::ValidationError("--junit", "'-' is no file to write to");
    if (words->jobs) words->options.jobs = static_cast<unsigned>(whole_of("--jobs", *words->jobs, 1, 1024));
    chosen = [words] { return command_check(words->options); };
  });
}

}  // namespace halfopen::sim
