// From the text of a scenario, in JSON or YAML, to the structs of scenario.hpp, or to every mistake in it at
// once. No exception leaves, no input crashes or stalls it, and nothing is half-read: a scenario comes back
// only when there is no mistake.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/scenario.hpp"

namespace halfopen::sim {

inline constexpr std::uint64_t MAX_EXPECTED_ARRIVALS = 200'000'000;
inline constexpr std::uint64_t MAX_TIME_MS = 10'000'000'000;  // of every time and length a scenario states

struct Mistake {
  std::string file;
  std::uint32_t line = 0,
                column = 0;  // from 1; the column counts bytes. 0: no place (a file that can't be read)
  std::string pointer;       // JSON pointer of the value, key or object that is meant; empty: the whole file
  std::string what;          // what is wrong, and what would be right
  bool warning = false;      // the scenario is usable all the same

  // "file:line:column: /pointer: what"; what is unknown is left out.
  std::string text() const;
};

// Texts of files by their paths.
using NamedFiles = std::map<std::string, std::shared_ptr<const std::string>>;

struct LoadOptions {
  std::optional<std::uint64_t> seed;  // wins over the file's and over --set
  // --set /json/pointer=value, in order. The value is read as JSON, and as a string if it is none. The last
  // step of the pointer may be a new key of an object, or "-" to append to a list; all else must exist.
  std::vector<std::pair<std::string, std::string>> sets;
  // The path of a gateway's own file, JSON or YAML: its "upstreams" take the place of the scenario's before
  // everything else. Keys in them that are none of ours are warned of and left out of the scenario; whatever
  // else the file holds is the gateway's business.
  std::optional<std::string> gateway{};
  // Files that are named, by the scenario or as the gateway's, are looked for here before the disk: whoever
  // gives back what a Loaded has read needs no disk at all.
  NamedFiles files{};
};

struct Loaded {
  std::optional<Scenario> scenario;  // none if there is any mistake that is no warning
  std::vector<Mistake> mistakes;     // the gateway's file first; in the order of the file
  // What `digest` is taken over: compact JSON, keys sorted, 1000.0 written 1000, after `sets` and `seed`
  // (always present), the files it names replaced by the numbers in them. Defaults are not filled in, so that
  // a later version with more settings keeps the digests of old files. Empty if the text can't be read.
  std::string effective_json;
  // The same with the names where they stand, which can be read again; empty if no file is named.
  std::string named_json;
  NamedFiles files;  // those given, and those read
  std::string text;  // of load_scenario_file: what the file holds, as far as it can be read
};

// `file_name` names the text in messages and says by its end whether it is YAML (.yaml, .yml) or JSON; files
// that the scenario names are looked up beside it.
Loaded load_scenario_text(std::string_view text, std::string_view file_name, const LoadOptions& options = {});
Loaded load_scenario_file(const std::string& path, const LoadOptions& options = {});

// Where the values at `pointers` stand in a text that could be read, or else the nearest enclosing values
// that it has; in the order of `pointers`. What is at or below `changed` comes from elsewhere (--set).
struct ValuePlace {
  SourcePlace key, value;  // the same where there is no key
};
std::vector<ValuePlace> places_of(std::string_view text, std::string_view file_name,
                                  const std::vector<std::string>& pointers,
                                  const std::vector<std::string>& changed = {});

}  // namespace halfopen::sim
