// The JSON side of a sweep: the values of its parameters, and the place of the seed in what a digest is taken
// over.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "sim/scenario_json.hpp"

namespace halfopen::sim {

// The text of a scenario's file, or why it can't be read.
std::optional<Mistake> read_scenario_text(const std::string& path, std::string& text);

// The end of the string, list or object that begins at `at`; npos if it never ends. Of anything else: one
// byte.
std::size_t json_end(std::string_view text, std::size_t at);

// JSON text of one line: what is written if it is JSON, or else the written text as a string. It must be
// UTF-8.
std::string sweep_value(std::string_view written);

// A value (JSON text) as a column of a table shows it: a string without quotes and escapes, null as nothing.
// A string with control characters keeps its quotes and escapes, so that a row is always one line.
std::string plain_value(const std::string& json);

// Cuts compact JSON of an object around the value of its member "seed"; false if it has none.
bool cut_at_seed(std::string_view json, std::string& before, std::string& after);

}  // namespace halfopen::sim
