#include "sim/sweep_json.hpp"

#include <algorithm>

#include "sim/json_patch.hpp"
#include "sim/json_source.hpp"
#include "sim/scenario_json_parts.hpp"

namespace halfopen::sim {
namespace {

// Behind the closing quote of the string that begins at `at`.
std::size_t string_end(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '"') return at + 1;
    if (text[at] == '\\') ++at;
  }
  return std::string_view::npos;
}

}  // namespace

std::optional<Mistake> read_scenario_text(const std::string& path, std::string& text) {
  Mistake mistake;
  if (read_file(path, text, mistake.what)) return std::nullopt;
  mistake.file = path;
  return mistake;
}

std::size_t json_end(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    const std::size_t end = c == '"' ? string_end(text, at) : at + 1;
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (depth == 0 || end == std::string_view::npos) return end;
    at = end;
  }
  return std::string_view::npos;
}

std::string sweep_value(std::string_view written) {
  Document document = read_json(written);
  const bool is_json = document.readable && document.findings.empty();
  Json value = is_json ? std::move(document.root) : Json(std::string(written));
  make_canonical(value);
  return value.dump();
}

std::string plain_value(const std::string& json) {
  if (json == "null") return "";
  if (!json.starts_with('"')) return json;
  std::string text = Json::parse(json).get<std::string>();
  const bool one_line = std::none_of(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  return one_line ? text : json;
}

bool cut_at_seed(std::string_view json, std::string& before, std::string& after) {
  constexpr std::string_view KEY = "\"seed\":";
  for (std::size_t at = 1; at < json.size();) {
    if (json.substr(at).starts_with(KEY)) {
      at += KEY.size();
      const std::size_t end = json.find_first_not_of("0123456789", at);
      if (end == std::string_view::npos) return false;
      before = json.substr(0, at);
      after = json.substr(end);
      return true;
    }
    at = json_end(json, json_end(json, at) + 1);  // the key, its colon, and a value or its first byte
    while (at < json.size() && json[at] != ',' && json[at] != '}') ++at;
    if (at < json.size()) ++at;
  }
  return false;
}

}  // namespace halfopen::sim
