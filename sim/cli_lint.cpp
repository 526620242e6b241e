// `halfopen lint`: settings that are allowed and don't do what they look like.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/cli.hpp"
#include "sim/cli_lint_output.hpp"
#include "sim/cli_output.hpp"
#include "sim/cli_words.hpp"
#include "sim/lint.hpp"
#include "sim/lint_suppress.hpp"
#include "sim/spelling.hpp"

namespace halfopen::sim {

namespace {

struct LintWords {
  std::vector<std::string> files, disable;
  std::string format = "text", output;
  std::optional<std::string> balancers;
  bool list = false;
  LoadWords load;
  LoadOptions options;
  LintOptions lint;
  std::set<std::string> disabled;
};

// The file that the upstreams stand in.
struct Text {
  std::string file;
  std::string text;
  std::vector<std::string> changed;  // by --set
};

// "/upstreams/0/health" and everything that it is in, the whole file included.
std::vector<std::string> enclosing(const std::string& pointer) {
  std::vector<std::string> out;
  for (std::size_t slash = pointer.find('/'); slash != std::string::npos;
       slash = pointer.find('/', slash + 1))
    out.push_back(pointer.substr(0, slash));
  out.push_back(pointer);
  return out;
}

// The lines on which a finding's values and all that encloses them begin.
struct Where {
  SourcePlace place;  // of the first value
  std::vector<std::uint32_t> lines;
};

// One walk through the text for all of them.
std::vector<Where> places_of_all(const std::vector<LintFinding>& findings, const Text& text) {
  std::vector<std::string> pointers;
  for (const LintFinding& finding : findings) {
    pointers.push_back(finding.pointers.front());
    for (const std::string& pointer : finding.pointers) {
      for (std::string& outer : enclosing(pointer)) pointers.push_back(std::move(outer));
    }
  }
  const std::vector<ValuePlace> places = places_of(text.text, text.file, pointers, text.changed);
  std::vector<Where> out;
  std::size_t at = 0;
  for (const LintFinding& finding : findings) {
    Where& where = out.emplace_back();
    where.place = places[at++].value;
    for (const std::string& pointer : finding.pointers) {
      const std::size_t end = at + enclosing(pointer).size();
      for (; at < end; ++at)
        where.lines.insert(where.lines.end(), {places[at].key.line, places[at].value.line});
    }
  }
  return out;
}

LintedFile judge(const std::string& file, const Scenario& scenario, const Text& text,
                 const LintWords& words) {
  LintedFile out{file, {}, 0};
  const Suppressions suppressions = suppressions_of(text.text, text.file);
  for (const Mistake& warning : suppressions.warnings) say(warning.text());
  std::vector<LintFinding> findings = lint(scenario, words.lint);
  const std::vector<Where> places = places_of_all(findings, text);
  for (std::size_t n = 0; n < findings.size(); ++n) {
    const std::string& id = findings[n].id;
    if (words.disabled.count(id) != 0 || is_suppressed(suppressions, id, places[n].lines)) {
      ++out.suppressed;
    } else {
      out.findings.push_back({std::move(findings[n]), text.file, places[n].place});
    }
  }
  return out;
}

// None after every mistake has been told.
std::optional<LintedFile> lint_file(const std::string& file, const LintWords& words) {
  Loaded loaded = load_scenario_file(file, words.options);
  for (const Mistake& mistake : loaded.mistakes) say(mistake.text());
  if (!loaded.scenario) return std::nullopt;
  Text text{file, std::move(loaded.text), {}};
  if (words.options.gateway) text = {*words.options.gateway, *loaded.files.at(*words.options.gateway), {}};
  for (const auto& [pointer, value] : words.options.sets) text.changed.push_back(pointer);
  return judge(file, *loaded.scenario, text, words);
}

int give(const LintWords& words, std::string_view text) {
  return names_stdout(words.output) ? write_stdout(text) : write_file(words.output, text);
}

int command_lint(const LintWords& words) {
  std::vector<std::string> inputs = words.files;
  if (words.options.gateway) inputs.push_back(*words.options.gateway);
  if (const auto problem = output_problem("-o", words.output, inputs)) {
    say("halfopen: " + *problem);
    return EXIT_BAD_INPUT;
  }
  if (words.list) return give(words, words.format == "json" ? lint_rules_json() : lint_rules_text());
  std::vector<LintedFile> files;
  int status = EXIT_HELD;
  for (const std::string& file : words.files) {
    std::optional<LintedFile> one = lint_file(file, words);
    if (!one || warnings_in(*one) > 0) status = std::max(status, one ? EXIT_NOT_HELD : EXIT_BAD_INPUT);
    if (one) files.push_back(std::move(*one));
  }
  if (files.empty()) return status;
  const std::string text = words.format == "json"     ? lint_json(files)
                           : words.format == "github" ? lint_github(files)
                                                      : lint_text(files);
  return std::max(status, give(words, text));
}

void check_words(LintWords& words) {
  words.options = words.load.options();
  if (words.balancers) words.lint.balancers = whole_of("--balancers", *words.balancers, 1, MOST_BALANCERS);
  std::vector<std::string_view> known;
  for (const LintRule& rule : lint_rules()) known.push_back(rule.id);
  for (const std::string& id : words.disable) {
    if (find_lint_rule(id) == nullptr)
      throw CLI::ValidationError("--disable",
                                 fmt::format("there is no rule '{}'{}", id, did_you_mean(id, known)));
    words.disabled.insert(id);
  }
  if (words.list && words.format == "github")
    throw CLI::ValidationError("--list", "it is told as text or json, not as github");
  if (words.files.empty() && !words.list) throw CLI::RequiredError("FILE");
}

}  // namespace

void add_lint(CLI::App& app, Chosen& chosen) {
  const auto words = std::make_shared<LintWords>();
  CLI::App* command = add_command(
      app, "lint",
      "Say what somebody with years of gateways would say on reading the settings: rules that can't act, "
      "that "
      "act for nothing, or that work against each other. Each finding has its reason, the number behind it, "
      "what to set instead and a scenario that shows it. Nothing is run; reloads are not read. Exit status 1 "
      "if there is a warning; notices, of choices that are usual and surprise people, leave it 0. A comment "
      "in the file keeps one quiet, behind the value or above it: "
      "// halfopen-lint: disable=ID",
      "  halfopen lint scenarios/gray-failure.json\n"
      "  halfopen lint my.yaml --gateway gateway.yaml --balancers 12 --format github\n"
      "  halfopen lint --list");
  command->add_option("FILE", words->files, broken("Scenarios"));
  command->add_option("--format", words->format, broken("text, json or github (annotations). Default: text"))
      ->type_name("NAME")
      ->check(one_of({"text", "json", "github"}));
  command->add_option("--disable", words->disable, broken("A rule to leave out. May be given several times"))
      ->type_name("ID")
      ->allow_extra_args(false);
  command
      ->add_option("--balancers", words->balancers,
                   broken("How many gateways run these settings side by side, 1 to 100,000. Default: 1"))
      ->type_name("N");
  command->add_flag("--list", words->list, broken("Tell every rule and when it speaks, as text or json"));
  add_load_options(*command, words->load);
  add_output_option(*command, words->output);
  command->callback([words, &chosen] {
    check_words(*words);
    chosen = [words] { return command_lint(*words); };
  });
}

}  // namespace halfopen::sim
