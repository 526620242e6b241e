#include "sim/cli_words.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

namespace halfopen::sim {

std::string broken(std::string_view text, std::size_t width) {
  std::string out;
  for (const std::string& line : wrap(text, width)) out += (out.empty() ? "" : "\n") + line;
  return out;
}

CLI::App* add_command(CLI::App& app, const std::string& name, std::string_view what,
                      const std::string& examples) {
  CLI::App* command = app.add_subcommand(name, broken(what, PAGE_WIDTH));
  command->footer("Examples:\n" + examples);
  command->get_help_ptr()->description("Print this help and exit");
  return command;
}

CLI::Validator one_of(std::vector<std::string> words) {
  return CLI::Validator(
      [words = std::move(words)](const std::string& word) {
        if (std::find(words.begin(), words.end(), word) != words.end()) return std::string();
        return fmt::format("'{}' is none of {}", word, fmt::join(words, ", "));
      },
      "");
}

std::uint64_t whole_of(const std::string& option, const std::string& text, std::uint64_t min,
                       std::uint64_t max) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < min || number > max) {
    throw CLI::ValidationError(option, fmt::format("'{}' is no whole number from {} to {}", text, min, max));
  }
  return number;
}

std::uint64_t seed_of(const std::string& text) {
  return whole_of("--seed", text, 0, std::numeric_limits<std::uint64_t>::max());
}

std::pair<std::string, std::string> setting_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (text.empty() || text.front() != '/' || equals == std::string::npos) {
    throw CLI::ValidationError("--set", fmt::format("'{}' is not of the form /json/pointer=value", text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

LoadOptions LoadWords::options() const {
  LoadOptions out;
  if (seed) out.seed = seed_of(*seed);
  for (const std::string& set : sets) out.sets.push_back(setting_of(set));
  out.gateway = gateway;
  return out;
}

void add_load_options(CLI::App& command, LoadWords& words) {
  command.add_option("--seed", words.seed, broken("0 to 2^64-1. Default: the scenario's own, or 1"))
      ->type_name("N");
  command
      .add_option(
          "--set", words.sets,
          broken(
              "Change one value of the scenario before it runs; the value is JSON, or else a string. May be "
              "given several times. Default: nothing is changed"))
      ->type_name("/PTR=VALUE")
      ->allow_extra_args(false);
  add_gateway_option(command, words.gateway);
}

void add_gateway_option(CLI::App& command, std::optional<std::string>& gateway) {
  command
      .add_option(
          "--gateway", gateway,
          broken("A gateway's own file, YAML or JSON: its upstreams take the place of the scenario's. "
                 "Default: none"))
      ->type_name("FILE");
}

void add_output_option(CLI::App& command, std::string& output) {
  command
      .add_option("-o,--output", output,
                  broken("Write to this file, which appears whole or not at all. Default: standard output"))
      ->type_name("FILE");
}

}  // namespace halfopen::sim
