#include "sim/json_syntax.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace halfopen::sim {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '+' || c == '-' || static_cast<unsigned char>(c) >= 0x80;
}

std::size_t string_end(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

std::size_t comment_end(std::string_view text, std::size_t at) {
  if (text.substr(at, 2) == "//") return std::min(text.find_first_of("\n\r", at), text.size());
  const std::size_t close = text.find("*/", at + 2);
  return close == std::string_view::npos ? text.size() : close + 2;
}

bool is_comment(std::string_view text, std::size_t at) {
  return text.substr(at, 2) == "//" || text.substr(at, 2) == "/*";
}

bool is_separator(char c) { return c == ',' || c == ':' || c == '{' || c == '}' || c == '[' || c == ']'; }

// The token that the parser stopped at: the one that holds the last character it read. A token that is bad
// in itself may have been left by reading the character after it.
std::size_t offending_token(std::string_view text, std::size_t after, std::size_t read, bool bad_token) {
  const std::size_t last = read - 1;
  std::size_t at = skip_blanks(text, after);
  while (at < text.size()) {
    const std::size_t end = token_end(text, at);
    if (end > last || (bad_token && end == last && !is_separator(text[at]))) break;
    const std::size_t next = skip_blanks(text, end);
    if (next > last) break;
    at = next;
  }
  return std::min(at, std::min(last, text.size()));  // 01: for the parser a 0 and then a 1
}

std::string end_of_file(std::string_view text, std::size_t token, std::string_view says, char open) {
  if (says.find("missing closing '*/'") != std::string_view::npos) {
    return "the file ends inside a comment: close it with */";
  }
  if (token < text.size() && text[token] == '"') return "the file ends inside a string: close it with \"";
  if (open == '{') return "the file ends inside this object: a } is missing, or the file was cut off";
  if (open == '[') return "the file ends inside this list: a ] is missing, or the file was cut off";
  return "the file holds no scenario: a JSON object is expected";
}

std::string about_word(std::string_view word) {
  if (word == "NaN" || word == "nan" || word.find("Infinity") != std::string_view::npos || word == "-NaN" ||
      word == "inf" || word == "-inf") {
    return fmt::format("{} is no JSON number: write a finite one", word);
  }
  if (word == "True" || word == "False" || word == "None" || word == "Null" || word == "NULL" ||
      word == "TRUE" || word == "FALSE") {
    return fmt::format("{} is no JSON value: write true, false or null in lower case", word);
  }
  const char first = word[0];
  if (first == '+' || first == '-' || first == '.' || (first >= '0' && first <= '9')) {
    return fmt::format("{} is no JSON number: write digits, with a digit on both sides of the point", word);
  }
  return fmt::format("{} is no JSON value: strings and keys are written in double quotes", word);
}

// What stands in the place of something else.
std::string about_expected(std::string_view says, char found, bool after_comma, char open) {
  const auto expects = [&](std::string_view part) { return says.find(part) != std::string_view::npos; };
  if (after_comma && (found == '}' || found == ']')) {
    return fmt::format("the comma before this {} is one too many: remove it", found);
  }
  if (found == '\'') return "strings and keys are written in double quotes, not in '";
  if (expects("expected end of input")) return "nothing may follow the end of the scenario: remove it";
  if (expects("object separator")) return "a : is expected between a key and its value";
  if (expects("object key")) return "a key in double quotes is expected";
  if (expects("expected '}'")) return "a comma or a } is expected";
  if (expects("expected ']'")) return "a comma or a ] is expected";
  if (open == '\0') return "the file holds no scenario: a JSON object is expected";
  return fmt::format("a value is expected, not {}", found);
}

// Trouble inside a string, where the parser's own words are good enough.
std::string about_string(std::string_view says) {
  const std::size_t from = says.find("invalid string: ");
  if (from == std::string_view::npos) return "this string is not valid JSON";
  std::string_view detail = says.substr(from + 16);
  detail = detail.substr(0, detail.find("; last read"));
  return fmt::format("this string is not valid JSON: {}", detail);
}

}  // namespace

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (is_blank(text[at])) {
      ++at;
    } else if (is_comment(text, at)) {
      at = comment_end(text, at);
    } else {
      break;
    }
  }
  return at;
}

std::size_t token_end(std::string_view text, std::size_t at) {
  if (at >= text.size()) return text.size();
  if (text[at] == '"') return string_end(text, at);
  std::size_t end = at + 1;
  if (is_word(text[at])) {
    while (end < text.size() && is_word(text[end])) ++end;
  }
  return end;
}

SyntaxError explain_syntax(std::string_view text, std::size_t after, std::size_t read,
                           std::string_view parser_says, char open) {
  const bool bad_token = parser_says.find("last read") != std::string_view::npos;
  const std::size_t token = offending_token(text, after, std::max<std::size_t>(read, 1), bad_token);
  if (read > text.size() || token >= text.size()) {
    return {text.size(), end_of_file(text, token, parser_says, open)};
  }
  const char found = text[token];
  const std::string_view word = text.substr(token, std::min<std::size_t>(token_end(text, token) - token, 40));
  if (parser_says.find("number overflow") != std::string_view::npos) {
    return {token, fmt::format("{} is too large for a number: at most about 1.8e308", word)};
  }
  if (bad_token && found == '"') return {read - 1, about_string(parser_says)};
  if (bad_token && found == '/') return {token, "a comment begins with // or with /*"};
  if (bad_token && is_word(found)) return {token, about_word(word)};
  const std::string_view between = text.substr(after, token - after);
  const bool after_comma = between.find(',') != std::string_view::npos;
  return {token, about_expected(parser_says, found, after_comma, open)};
}

}  // namespace halfopen::sim
