// A JSON text as YAML, in the style of people: blocks, plain words, quotes where they are needed.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace halfopen::sim::testing {

// Letters first, then letters, digits and a few marks: no such word means anything else to YAML but these.
inline bool is_plain_word(const std::string& text) {
  for (const char* word : {"true", "false", "null", "True", "False", "Null", "TRUE", "FALSE", "NULL"}) {
    if (text == word) return false;
  }
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '/';
  });
}

// A JSON string is a YAML string as well.
inline std::string yaml_scalar(const nlohmann::ordered_json& value) {
  if (value.is_string() && is_plain_word(value.get<std::string>())) return value.get<std::string>();
  return value.dump();
}

inline void write_yaml(const nlohmann::ordered_json& value, std::size_t indent, bool after_dash,
                       std::string& out) {
  if (!value.is_structured() || value.empty()) {
    out += " " + yaml_scalar(value) + "\n";
    return;
  }
  if (!after_dash) out += "\n";
  bool first = true;
  for (auto member = value.begin(); member != value.end(); ++member) {
    out += first && after_dash ? " " : std::string(indent, ' ');
    first = false;
    out += value.is_object() ? yaml_scalar(member.key()) + ":" : "-";
    write_yaml(*member, indent + 2, value.is_array(), out);
  }
}

inline std::string as_yaml(const std::string& json) {
  const auto value = nlohmann::ordered_json::parse(json, nullptr, true, true);
  std::string out = "---";  // begins the document, so that a scalar may follow on its line
  write_yaml(value, 0, false, out);
  return out;
}

}  // namespace halfopen::sim::testing
