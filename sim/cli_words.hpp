// What the commands' words have in common. A command is one file, sim/cli_<name>.cpp: its options as a struct
// of its own, what it does, and `add_<name>`, which tells CLI11 its words and what to do when it is chosen.
// cli.hpp declares `add_<name>`, and cli.cpp names it once in its list of commands; nothing else knows the
// command.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/cli.hpp"
#include "sim/scenario_json.hpp"
#include "sim/text_layout.hpp"

namespace halfopen::sim {

inline constexpr std::size_t OPTION_COLUMN = 24;  // where descriptions begin in the help

// Descriptions are written as one sentence and broken here, because CLI11 does not.
std::string broken(std::string_view text, std::size_t width = PAGE_WIDTH - OPTION_COLUMN);

// `what` is a sentence or a few, `examples` are whole lines.
CLI::App* add_command(CLI::App& app, const std::string& name, std::string_view what,
                      const std::string& examples);

// One of a few words, named in the message when it is none of them.
CLI::Validator one_of(std::vector<std::string> words);

// CLI11 would take "-1" for a very large number and "1e3" for 1. Throws CLI::ValidationError.
std::uint64_t seed_of(const std::string& text);
std::uint64_t whole_of(const std::string& option, const std::string& text, std::uint64_t min,
                       std::uint64_t max);

// "/json/pointer=value". Throws CLI::ValidationError.
std::pair<std::string, std::string> setting_of(const std::string& text);

// --seed, --set and --gateway, which every command has that runs scenarios in other ways than they are
// written. `words` must live as long as the callback of the command.
struct LoadWords {
  std::optional<std::string> seed;
  std::vector<std::string> sets;
  std::optional<std::string> gateway;

  LoadOptions options() const;  // in the callback. Throws CLI::ValidationError.
};
void add_load_options(CLI::App& command, LoadWords& words);
void add_gateway_option(CLI::App& command, std::optional<std::string>& gateway);

// -o, --output. Empty or "-" is standard output.
void add_output_option(CLI::App& command, std::string& output);

}  // namespace halfopen::sim
