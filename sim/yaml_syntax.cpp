#include "sim/yaml_syntax.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/json_source.hpp"

namespace halfopen::sim {
namespace {

struct Saying {
  std::string_view parser, person;
};

// Beginnings of yaml-cpp's messages.
constexpr std::array<Saying, 17> SAYINGS{{
    {"end of map not found",
     "this does not go on with the keys above it: line it up with them, and write text that goes on after a "
     "closing quote or bracket in quotes as a whole"},
    {"end of sequence not found",
     "this does not go on with the list above it: line its - up with the others"},
    {"end of map flow not found", "a comma or a } is expected"},
    {"end of sequence flow not found", "a comma or a ] is expected"},
    {"illegal map value",
     "a : can't stand here: line its key up with those above it, and write text that holds a : and a blank "
     "in "
     "quotes"},
    {"illegal map key", "a ? can't stand here: write text that begins with one in quotes"},
    {"illegal block entry", "a - can't stand here: a list begins on a line of its own"},
    {"illegal flow end", "this bracket closes none: remove it, or write the text in quotes"},
    {"illegal EOF in scalar", "the file ends inside a string: close it with its quote"},
    {"illegal document indicator in scalar", "a document ends inside a string: close it with its quote"},
    {"bad file", "lists and objects are nested too deep: no scenario needs that"},
    {"cannot assign multiple anchors", "a value has one anchor: remove this one"},
    {"cannot assign multiple tags", "a value has one tag: remove this one"},
    {"unknown escape character",
     "this string has an escape that YAML does not know: write \\\\ for a backslash"},
    {"invalid unicode",
     "this escape is no character: write one outside of ASCII as it is, or as \\U0001F600"},
    {"bad character found while scanning hex",
     "an escape needs its number of hexadecimal digits: \\x41, \\u0041"},
    {"unexpected character in block scalar", "after | or > the text begins on the next line"},
}};

bool begins_with(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

std::size_t line_begin(std::string_view text, std::size_t offset) {
  const std::size_t end = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  return end == std::string_view::npos ? 0 : end + 1;
}

// A tab in front of what stands at `offset`, or npos.
std::size_t tab_before(std::string_view text, std::size_t offset) {
  const std::size_t begin = line_begin(text, offset);
  const std::size_t first = std::min(text.find_first_not_of(" \t", begin), text.size());
  const std::size_t tab = text.find('\t', begin);
  return tab < first && begin <= offset ? tab : std::string_view::npos;
}

// JSON's way to write a comment, on this line or the one before.
std::size_t slashes_near(std::string_view text, std::size_t offset) {
  std::size_t begin = line_begin(text, offset);
  for (int lines = 0; lines < 2; ++lines) {
    const std::size_t first = text.find_first_not_of(" \t", begin);
    if (first != std::string_view::npos &&
        (begins_with(text.substr(first), "//") || begins_with(text.substr(first), "/*"))) {
      return first;
    }
    if (begin == 0) break;
    begin = line_begin(text, begin - 1);
  }
  return std::string_view::npos;
}

std::string about_end(std::string_view says) {
  if (begins_with(says, "end of map flow"))
    return "the file ends inside { }: a } is missing, or it was cut off";
  if (begins_with(says, "end of sequence flow"))
    return "the file ends inside [ ]: a ] is missing, or it was cut off";
  return {};
}

std::string about_character(std::string_view text, std::size_t offset) {
  if (offset < text.size() && text[offset] == '\t') return "a tab can't stand here: indent with spaces";
  return fmt::format("no text begins with {}: write it in quotes",
                     offset < text.size() ? text.substr(offset, 1) : "nothing");
}

}  // namespace

YamlProblem explain_yaml(std::string_view text, std::size_t offset, std::string_view says) {
  offset = std::min(offset, text.size());
  if (const std::size_t tab = tab_before(text, offset); tab != std::string_view::npos)
    return {tab, "a tab can't stand here: indent with spaces"};
  if (text.find_first_not_of(" \t\r\n", offset) == std::string_view::npos) {
    if (std::string what = about_end(says); !what.empty()) return {offset, std::move(what)};
  }
  if (begins_with(says, "illegal map value") || begins_with(says, "end of map not found")) {
    if (const std::size_t slashes = slashes_near(text, offset); slashes != std::string_view::npos)
      return {slashes, "a comment begins with # in YAML"};
  }
  if (begins_with(says, "the referenced anchor is not defined") || begins_with(says, "alias not found")) {
    return {offset,
            "* repeats what an & has named before, and nothing has this name: write a text or a key that "
            "begins with * in quotes"};
  }
  if (begins_with(says, "anchor not found"))
    return {offset, "& names a value: write a text that begins with & in quotes"};
  if (begins_with(says, "unknown token")) return {offset, about_character(text, offset)};
  for (const Saying& saying : SAYINGS) {
    if (begins_with(says, saying.parser)) return {offset, std::string(saying.person)};
  }
  return {offset, fmt::format("this is not valid YAML: {}", says)};
}

bool is_unclosed_string(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == '&' || text[at] == '!')) {
    at = std::min(text.find_first_of(" \t\r\n", at), text.size());
    at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
  }
  if (at >= text.size() || (text[at] != '"' && text[at] != '\'')) return false;
  const char quote = text[at];
  for (++at; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (text[at] == quote) {
      if (quote == '"' || text.substr(at, 2) != "''") return false;
      ++at;
    }
  }
  return true;
}

std::size_t find_control_character(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F) return at;
  }
  return std::string_view::npos;
}

}  // namespace halfopen::sim
