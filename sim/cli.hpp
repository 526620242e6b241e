// The command line: exit statuses, and one function a command that tells its words. See cli_words.hpp for how
// a command is added.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace halfopen::sim {

// Exit statuses. Over several files the highest of the first four counts.
inline constexpr int EXIT_HELD = 0;
inline constexpr int EXIT_NOT_HELD = 1;   // an expectation or a golden timeline did not, a probe failed, lint has warnings
inline constexpr int EXIT_BAD_INPUT = 2;  // usage, a bad file, or nowhere to write to
inline constexpr int EXIT_INTERNAL = 3;   // a defect of halfopen, told in a sentence
inline constexpr int EXIT_INTERRUPTED = 130;

// What the chosen command does once all its words have been understood; the exit status.
using Chosen = std::function<int()>;

void add_run(CLI::App& app, Chosen& chosen);
void add_check(CLI::App& app, Chosen& chosen);
void add_explain(CLI::App& app, Chosen& chosen);
void add_analyze(CLI::App& app, Chosen& chosen);
void add_lint(CLI::App& app, Chosen& chosen);
void add_diff(CLI::App& app, Chosen& chosen);
void add_sweep(CLI::App& app, Chosen& chosen);
void add_validate(CLI::App& app, Chosen& chosen);
void add_schema(CLI::App& app, Chosen& chosen);
void add_init(CLI::App& app, Chosen& chosen);
void add_step(CLI::App& app, Chosen& chosen);
void add_probe(CLI::App& app, Chosen& chosen);  // only there where the prober was built
void add_watch(CLI::App& app, Chosen& chosen);  // likewise

// Everything from the words to the exit status. No exception leaves.
int run_cli(int argc, const char* const* argv);

}  // namespace halfopen::sim
