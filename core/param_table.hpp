// The one description of every setting: name, unit, default, legal range, meaning. Validation, the scenario
// reader, `--help`, JSON Schema, Python stubs and the reference table are all made from these tables.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "core/params.hpp"

namespace halfopen {

template <class Block>
using SettingMember =
    std::variant<std::uint64_t Block::*, std::uint32_t Block::*, std::uint16_t Block::*, double Block::*,
                 bool Block::*, std::string Block::*, std::optional<std::uint64_t> Block::*,
                 StatusSet Block::*, Algorithm Block::*, Protocol Block::*, ProbeKind Block::*,
                 LateReports Block::*>;

template <class Block>
struct Setting {
  std::string_view name;        // as in files
  SettingMember<Block> member;  // where it lives; its type is the setting's type
  std::string_view unit;        // "ms", "failures", "ratio", …; empty for words
  std::uint64_t min = 0;        // whole numbers only; a ratio is in (0, 1], a word list has its words
  std::uint64_t max = 0;
  bool required = false;   // no default that could be meant
  std::string_view about;  // what it counts, what it interacts with, why this default
};

// The settings of one block, in the order of the documentation. Blocks inside an upstream (health, …) and
// its list of endpoints are no settings: they have tables of their own.
template <class Block>
std::span<const Setting<Block>> settings();
template <>
std::span<const Setting<HealthParams>> settings<HealthParams>();
template <>
std::span<const Setting<ActiveParams>> settings<ActiveParams>();
template <>
std::span<const Setting<BreakerParams>> settings<BreakerParams>();
template <>
std::span<const Setting<RetryParams>> settings<RetryParams>();
template <>
std::span<const Setting<TimeoutParams>> settings<TimeoutParams>();
template <>
std::span<const Setting<UpstreamConfig>> settings<UpstreamConfig>();
template <>
std::span<const Setting<EndpointConfig>> settings<EndpointConfig>();

// A row without its block's type: what a schema, a help text or a reference table prints.
struct SettingText {
  std::string block;          // "health", "active_health", …; "upstream" and "endpoint" for theirs
  std::string name, type;     // type: "integer", "number", "boolean", "string", "statuses", "words"
  std::string unit;           // as in Setting
  std::string default_value;  // as JSON, of a default-constructed block; empty where nothing is the default
  std::string range;  // "1 … 1000000000000", "(0, 1]", "round_robin | least_requests | …"; may be empty
  bool required = false;
  std::string about;
};

// All seven blocks, in the order of the documentation.
std::span<const SettingText> all_settings();

// "must be 1 … 4294967295 (default 5)": the end of every message about a value out of range.
template <class Block>
std::string rule_of(const Setting<Block>& setting);

// The shortest decimal text that reads back as the same double. NaN and infinities by name.
std::string shortest(double value);

}  // namespace halfopen
