// YAML text -> the same Document that read_json makes of JSON, so that everything behind it needs not know
// which of the two a file is. The only place that knows yaml-cpp. Scalars are those of YAML 1.2's core
// schema: yes, no, on and off are strings. Anchors and aliases are expanded, and what they expand to is
// counted. Refused with a sentence: a second document, tags beyond the core ones, merge keys (<<), keys that
// are no text, numbers that JSON can't hold, and whatever yaml-cpp would read in a way that the author can't
// have meant.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/json_source.hpp"

namespace halfopen::sim {

// No exception but for want of memory. Aliased values stand where the alias stands, what is in them where it
// is written.
Document read_yaml(std::string_view text);

// By the name: .yaml and .yml are YAML, everything else is JSON.
bool is_yaml_name(std::string_view file_name);
inline Document read_document(std::string_view text, std::string_view file_name) {
  return is_yaml_name(file_name) ? read_yaml(text) : read_json(text);
}

// What stands at `node`, as compact JSON with its keys in the order of the file. `value` is what was read
// there.
std::string compact_in_file_order(const Json& value, const Positions& positions, std::uint32_t node);

}  // namespace halfopen::sim
