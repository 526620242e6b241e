// `halfopen analyze`: what a scenario's settings must do, worked out instead of simulated.
#include <fmt/core.h>

#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "sim/analysis.hpp"
#include "sim/cli.hpp"
#include "sim/cli_load.hpp"
#include "sim/cli_output.hpp"
#include "sim/cli_words.hpp"
#include "sim/writer_analysis.hpp"

namespace halfopen::sim {

namespace {

struct AnalyzeWords {
  std::string file, format = "text", output, rate, healthy, sick;
  LoadWords load;
  LoadOptions options;
  AnalysisOptions analysis;
};

// `above` excluded, `most` included.
double number_of(const std::string& option, const std::string& text, bool zero, double most) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool within = number <= most && (zero ? number >= 0 : number > 0);
  if (error != std::errc() || end != text.data() + text.size() || !within) {
    throw CLI::ValidationError(option, fmt::format("'{}' is no number {} {}", text,
                                                   zero ? "from 0 to" : "over 0 and at most", most));
  }
  return number;
}

int command_analyze(const AnalyzeWords& words) {
  if (const auto problem = output_problem("-o", words.output, {words.file})) {
    say("halfopen: " + *problem);
    return EXIT_BAD_INPUT;
  }
  const std::optional<Scenario> scenario = load_and_tell(words.file, words.options);
  if (!scenario) return EXIT_BAD_INPUT;
  const Analysis analysis = analyze(*scenario, words.analysis);
  const std::string text = words.format == "json" ? analysis_json(analysis) : analysis_text(analysis);
  return names_stdout(words.output) ? write_stdout(text) : write_file(words.output, text);
}

}  // namespace

void add_analyze(CLI::App& app, Chosen& chosen) {
  const auto words = std::make_shared<AnalyzeWords>();
  CLI::App* command = add_command(
      app, "analyze",
      "Work out, without running anything, what the settings of each upstream must do: how often its rules "
      "eject a healthy endpoint and how soon a sick one, what share of the time an endpoint is in rotation, "
      "when the breaker opens, how long probes need, when the pool fails open. Exact, or between bounds that "
      "are named. Rates and ratios are those of the scenario's traffic and faults, unless given. \n\n"
      "`how sure` names what an answer rests on: exact; or the streak rule alone and single moments of a "
      "full "
      "window (from above), Harris' inequality (from below), Chernoff's and Hoeffding's where sums are long, "
      "turns where it isn't known whose is first. sim/exact.hpp has the models.",
      "  halfopen analyze scenarios/brownout-one-of-four.json\n"
      "  halfopen analyze my.yaml --rate-rps 1000 --sick-error-ratio 0.6 --format json");
  command->add_option("FILE", words->file, broken("The scenario"))->required();
  command->add_option("--format", words->format, broken("text or json. Default: text"))
      ->type_name("NAME")
      ->check(one_of({"text", "json"}));
  command
      ->add_option("--rate-rps", words->rate,
                   broken("Requests a second at each upstream, over 0. Default: those of its traffic"))
      ->type_name("N");
  command
      ->add_option(
          "--healthy-error-ratio", words->healthy,
          broken("Share of attempts that fail at a healthy endpoint, from 0 to 1. Default: that of its "
                 "errors that last for the whole run, or 0.005"))
      ->type_name("N");
  command
      ->add_option("--sick-error-ratio", words->sick,
                   broken("The same at a sick one. Default: that of its worst fault, or 0.6"))
      ->type_name("N");
  add_load_options(*command, words->load);
  add_output_option(*command, words->output);
  command->callback([words, &chosen] {
    words->options = words->load.options();
    AnalysisOptions& analysis = words->analysis;
    if (!words->rate.empty()) analysis.rate_rps = number_of("--rate-rps", words->rate, false, 1e7);
    if (!words->healthy.empty())
      analysis.healthy_error_ratio = number_of("--healthy-error-ratio", words->healthy, true, 1);
    if (!words->sick.empty())
      analysis.sick_error_ratio = number_of("--sick-error-ratio", words->sick, true, 1);
    chosen = [words] { return command_analyze(*words); };
  });
}

}  // namespace halfopen::sim
