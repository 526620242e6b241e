// The one description of every key of a scenario beyond the settings of an upstream, which core's param_table
// describes: type, range, default, meaning, and a small change to scenarios/reference.json that shows it at
// work. The JSON Schema and scenarios/REFERENCE.md are made from it; tests hold the reader to it, key by key.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace halfopen::sim {

enum class KeyType : std::uint8_t {
  text,
  flag,
  whole,     // a whole number in [min, max]
  number,    // any number in [min, max], or (min, max] where `above_min`
  word,      // one of `refers`, which is "a|b|c"
  object,    // an object of the kind `refers`
  list,      // of at least `min` objects of the kind `refers`
  pair,      // two times in ms, the first before the second
  own_shape  // `refers` is its JSON Schema
};

struct Key {
  std::string_view name;
  KeyType type = KeyType::text;
  std::string_view refers = {};
  double min = 0, max = 0;
  bool above_min = false;
  bool required = false;
  std::string_view fallback = {};  // the default, as JSON; empty: none
  std::string_view needs = {};     // "a|b&c|d": one of a and b and one of c and d must be there too
  std::string_view about = {};     // a sentence or two, with the unit
  std::string_view example =
      {};  // what --set takes: /json/pointer=value, over scenarios/reference.json; a line each
};

// Of these keys an object has at least `least` and at most `most`.
struct KeyChoice {
  std::span<const std::string_view> of;
  std::uint32_t least = 1, most = 1;
};

struct KeyObject {
  std::string_view name;   // what `refers` says
  std::string_view title;  // a heading
  std::string_view about;
  std::span<const Key> keys;
  std::span<const KeyChoice> choices;
  std::string_view extra = {};  // more of its JSON Schema, an object
};

// Every kind of object, the scenario itself first, in the order of the reference.
std::span<const KeyObject> scenario_objects();

// Null if there is none of that name.
const KeyObject* find_object(std::string_view name);

}  // namespace halfopen::sim
