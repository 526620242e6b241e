// What to say where a text stops being YAML, and where it only looks as if it had not: yaml-cpp names the
// rule that was broken, a person wants to know what to write.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace halfopen::sim {

struct YamlProblem {
  std::size_t offset = 0;
  std::string what;
};

// `offset`: where yaml-cpp stopped; `parser_says`: its message, without the place.
YamlProblem explain_yaml(std::string_view text, std::size_t offset, std::string_view parser_says);

// Whether the scalar at `offset` (behind its anchor and tag, if it has any) begins with a quote that nothing
// closes: yaml-cpp takes the end of the file for the closing one.
bool is_unclosed_string(std::string_view text, std::size_t offset);

// The first byte that YAML forbids in a file (of valid UTF-8), or npos. One of them yaml-cpp takes for the
// end of the file.
std::size_t find_control_character(std::string_view text);

}  // namespace halfopen::sim
