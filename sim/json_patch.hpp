// Changing a JSON value: JSON Patch (RFC 6902) one operation at a time, and the assignment of --set. Our own
// and not nlohmann's, because each failure must be a sentence and no patch may make a value grow without
// bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/json_source.hpp"

namespace halfopen::sim {

// What `at` denotes, or null.
Json* resolve(Json& root, const std::vector<std::string>& at);

enum class PatchKind : std::uint8_t { add, remove, replace, move, copy, test };

struct PatchOp {
  PatchKind kind = PatchKind::test;
  std::string path, from;  // as written
  std::vector<std::string> path_steps, from_steps;
  const Json* value = nullptr;  // add, replace, test; belongs to the patch
};

// The shape of one operation; what is wrong with it is told. `within`: the pointer that paths must keep to.
bool read_patch_op(const Json& value, const std::string& pointer, std::string_view within,
                   std::vector<Finding>& findings, PatchOp& out);

// Carries out one operation. Empty, or a sentence why not; then `root` is as before. `room`: how many values
// may still be added, by this operation and all later ones.
std::string apply_patch_op(Json& root, const PatchOp& op, std::size_t& room);

// `--set`: replaces what `pointer` denotes, or adds it as a new key or ("-") to the end of a list. Empty, or
// why not.
std::string assign(Json& root, std::string_view pointer, Json value);

// Values in it, itself included; stops counting at `limit`.
std::size_t count_values(const Json& value, std::size_t limit);
std::size_t depth_of(const Json& value);  // 0 for a scalar

// 1000.0 becomes 1000, everywhere: one number, one spelling, so that digests do not depend on it.
void make_canonical(Json& value);

}  // namespace halfopen::sim
