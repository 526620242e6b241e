// One operation of `step`: the line as JSON, and its values by name. The first thing that is wrong is kept as
// a sentence; a machine reads all it needs, asks good(), and only then acts, so that a refusal changes
// nothing. Internal to step_json*.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/param_table.hpp"
#include "sim/json_fields.hpp"

namespace halfopen::sim {

// Bounds of what one line may cost. The longest sensible one builds 65,536 endpoints of four values each.
inline constexpr std::size_t MAX_STEP_LINE = std::size_t{8} << 20;    // bytes
inline constexpr std::size_t MAX_STEP_VALUES = std::size_t{1} << 19;  // some 100 bytes each

class StepFields {
 public:
  static constexpr std::uint64_t ANY = std::numeric_limits<std::uint64_t>::max();

  // `object` must be one and outlive the reader; so must `error`, which is empty while all is well.
  StepFields(const Json& object, std::string& error) : object_(object), error_(error) {}

  bool good() const { return error_.empty(); }
  void refuse(std::string why) {
    if (good()) error_ = std::move(why);
  }

  // The value, or null. Keys that nobody asks for are ignored.
  const Json* find(std::string_view name) const {
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }

  // Refuses when the key is not there.
  void require(std::string_view name) {
    if (find(name) == nullptr) missing(name);
  }

  // Required; after a refusal the answer means nothing.
  bool flag(std::string_view name);
  std::uint64_t whole(std::string_view name, std::uint64_t min, std::uint64_t max = ANY);
  std::string_view text(std::string_view name);

  // The settings of a block, into `out`: all of them, or those `only`. What fits the type is taken as it is;
  // whether it is in range is for broken_rule() to say, so that each rule is judged in one place.
  template <class Block>
  void read_settings(Block& out, const std::vector<std::string_view>& only = {}) {
    for (const Setting<Block>& setting : settings<Block>()) {
      if (!only.empty() && std::find(only.begin(), only.end(), setting.name) == only.end()) continue;
      std::visit([&](auto member) { read_setting(setting, out.*member); }, setting.member);
    }
  }

 private:
  template <class Block, class Value>
  void read_setting(const Setting<Block>& setting, Value& out) {
    const Json* const value = find(setting.name);
    if (value == nullptr) {
      if (setting.required) missing(setting.name);
    } else if (!take(*value, out)) {
      refuse(std::string(setting.name) + " is " + shown(*value) + ": it " + halfopen::rule_of(setting));
    }
  }

  template <class Value>
  static bool take(const Json& value, Value& out) {
    if constexpr (std::is_enum_v<Value>) {
      return value.is_string() && parse(value.get_ref<const std::string&>(), out);
    } else if constexpr (std::is_same_v<Value, std::string>) {
      if (value.is_string()) out = value.get_ref<const std::string&>();
      return value.is_string();
    } else if constexpr (std::is_same_v<Value, double>) {
      if (value.is_number()) out = value.get<double>();
      return value.is_number();
    } else if constexpr (std::is_unsigned_v<Value> && !std::is_same_v<Value, bool>) {
      std::uint64_t found = 0;
      if (!is_whole(value, 0, std::numeric_limits<Value>::max(), found)) return false;
      out = static_cast<Value>(found);
      return true;
    } else {
      return false;  // a kind of setting that no operation has
    }
  }

  static bool is_whole(const Json& value, std::uint64_t min, std::uint64_t max, std::uint64_t& out);
  void missing(std::string_view name);

  const Json& object_;
  std::string& error_;
};

// Reads lines, keeping its memory from one to the next. JSON of the narrow sense: no comments, no doubled
// keys, and no number beyond the range of a double, be it under a key that is ignored.
class StepParser {
 public:
  // The object that a line holds, which lives until the next call; or null, and `error` says why.
  const Json* read(std::string_view line, std::string& error);

 private:
  std::optional<Json> root_;  // set anew by each line
  std::vector<Json*> open_;
};

// The first rule of core/validate.hpp that a configuration breaks, as a sentence; empty: none.
std::string broken_rule(const UpstreamConfig& config);
// The same for a block that an operation gives flat, outside any upstream.
std::string broken_rule(const HealthParams& params);
std::string broken_rule(const BreakerParams& params);
std::string broken_rule(const HealthParams& passive, const ActiveParams& params);

}  // namespace halfopen::sim
