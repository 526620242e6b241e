// What a YAML scalar means, by the core schema of YAML 1.2, as the value that JSON would have for it.
#pragma once

#include <string>
#include <string_view>

#include "sim/json_source.hpp"

namespace halfopen::sim {

struct YamlScalar {
  Json value;
  std::string wrong;  // not empty: a sentence why JSON has no such value
};

// `tag` as yaml-cpp reports it: "?" of a plain scalar, "!" of one in quotes or in a block, else what the file
// says.
YamlScalar resolve_scalar(std::string_view text, std::string_view tag);

// Whether a tag says no more of a list or a map than that it is one.
bool is_plain_collection_tag(std::string_view tag, bool map);
std::string unknown_tag(std::string_view tag);

}  // namespace halfopen::sim
