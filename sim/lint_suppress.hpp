// Findings that somebody has looked at and wants to keep quiet, said in a comment of the file itself:
//
//   "eject_ms": 300,  // halfopen-lint: disable=eject-shorter-than-timeout we want quick trials
//   # halfopen-lint: disable=pool-of-one,probes-readmit
//
// Behind a value it holds for what begins on its line, on a line of its own for what begins on the next line
// that holds anything: a key, a block, an upstream, and at the top of a file for all of it. After the ids,
// separated by commas, comes anything, also behind a comma. Comments change nothing in a run, so golden
// timelines and digests stay.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario_json.hpp"

namespace halfopen::sim {

struct Suppression {
  std::uint32_t line = 0;  // of what it holds for
  std::vector<std::string> ids;
};

struct Suppressions {
  std::vector<Suppression> list;
  std::vector<Mistake> warnings;  // comments that don't say it right, rules that don't exist
};

// Of a text that could be read. In YAML a # behind a blank is taken for a comment, also within quotes.
Suppressions suppressions_of(std::string_view text, std::string_view file_name);

// Whether one of them is for this rule and for one of these lines.
bool is_suppressed(const Suppressions& suppressions, std::string_view id,
                   const std::vector<std::uint32_t>& lines);

}  // namespace halfopen::sim
