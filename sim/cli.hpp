// The command line: what each command was asked to do, as plain values, and the commands themselves. Only
// cli.cpp knows how the words of the command line become these values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario_json.hpp"

namespace halfopen::sim {

// Exit statuses. Over several files the highest of the first four counts.
inline constexpr int EXIT_HELD = 0;
inline constexpr int EXIT_NOT_HELD = 1;   // an expectation or a golden timeline did not
inline constexpr int EXIT_BAD_INPUT = 2;  // usage, a bad file, or nowhere to write to
inline constexpr int EXIT_INTERNAL = 3;   // a defect of halfopen, told in a sentence
inline constexpr int EXIT_INTERRUPTED = 130;

enum class Format : std::uint8_t { text, json, jsonl };

struct RunOptions {
  std::vector<std::string> files;
  Format format = Format::text;
  std::string output;  // empty or "-": standard output
  LoadOptions load;
  bool ascii = false;
  bool all = false;  // events and endpoints without a limit
};

struct CheckOptions {
  std::vector<std::string> paths;  // files and directories
  bool update = false;
};

struct ValidateOptions {
  std::vector<std::string> files;
};

int command_run(const RunOptions& options);
int command_check(const CheckOptions& options);
int command_validate(const ValidateOptions& options);

// Everything from the words to the exit status. No exception leaves.
int run_cli(int argc, const char* const* argv);

}  // namespace halfopen::sim
