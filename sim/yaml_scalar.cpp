#include "sim/yaml_scalar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace halfopen::sim {
namespace {

constexpr std::string_view CORE = "tag:yaml.org,2002:";

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

constexpr std::array<std::string_view, 5> NULLS{"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 3> TRUES{"true", "True", "TRUE"};
constexpr std::array<std::string_view, 3> FALSES{"false", "False", "FALSE"};
constexpr std::array<std::string_view, 6> NO_JSON{".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"};

std::size_t digits_at(std::string_view text, std::size_t at) {
  const std::size_t end = text.find_first_not_of("0123456789", at);
  return std::min(end, text.size()) - at;
}

// [-+]? (digits (. digits*)? | . digits) ([eE] [-+]? digits)?, written as JSON would; none: no such number.
std::optional<std::string> as_json_number(std::string_view text) {
  std::string out;
  std::size_t at = 0;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    if (text[0] == '-') out += '-';
    at = 1;
  }
  const std::size_t whole = digits_at(text, at);
  out += whole == 0 ? std::string_view("0") : text.substr(at, whole);
  at += whole;
  if (at < text.size() && text[at] == '.') {
    const std::size_t part = digits_at(text, at + 1);
    if (whole + part == 0) return std::nullopt;
    out += '.';
    out += part == 0 ? std::string_view("0") : text.substr(at + 1, part);
    at += 1 + part;
  } else if (whole == 0) {
    return std::nullopt;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    const std::size_t sign = at + 1 < text.size() && (text[at + 1] == '-' || text[at + 1] == '+') ? 1 : 0;
    const std::size_t power = digits_at(text, at + 1 + sign);
    if (power == 0) return std::nullopt;
    out += text.substr(at, 1 + sign + power);
    at += 1 + sign + power;
  }
  if (at != text.size()) return std::nullopt;
  return out;
}

// Readers of YAML 1.1 take 010 for 8: whichever the author means, somebody would read the other.
bool is_octal_to_some(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

// 0x and 0o, which take no sign.
std::optional<YamlScalar> as_radix_number(std::string_view text) {
  const bool hexadecimal = text.substr(0, 2) == "0x";
  if (text.size() < 3 || (!hexadecimal && text.substr(0, 2) != "0o")) return std::nullopt;
  const std::string_view alphabet = hexadecimal ? "0123456789abcdef" : "01234567";
  const std::uint64_t radix = alphabet.size();
  std::uint64_t value = 0;
  bool too_large = false;
  for (const char c : text.substr(2)) {
    const std::size_t digit = alphabet.find(c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c);
    if (digit == std::string_view::npos) return std::nullopt;
    too_large = too_large || value > (std::numeric_limits<std::uint64_t>::max() - digit) / radix;
    value = value * radix + digit;
  }
  if (too_large) return YamlScalar{nullptr, fmt::format("{} is larger than 64 bits: write it smaller", text)};
  return YamlScalar{value, {}};
}

std::optional<YamlScalar> as_number(std::string_view text) {
  if (std::optional<YamlScalar> radix = as_radix_number(text)) return radix;
  const bool sign = !text.empty() && (text[0] == '-' || text[0] == '+');
  if (is_one_of(text.substr(sign ? 1 : 0), NO_JSON))
    return YamlScalar{nullptr, fmt::format("{} is no number here: write a finite one", text)};
  const std::optional<std::string> number = as_json_number(text);
  if (!number) return std::nullopt;
  if (is_octal_to_some(text)) {
    return YamlScalar{nullptr, fmt::format("{} is another number to some readers of YAML: write it without "
                                           "the leading zero, or in quotes if it is a text",
                                           text)};
  }
  // By the reader of JSON, so that both notations have the same numbers to the last bit.
  Json value = Json::parse(*number, nullptr, false);
  if (!value.is_number())
    return YamlScalar{nullptr, fmt::format("{} is too large for a number: at most about 1.8e308", text)};
  return YamlScalar{std::move(value), {}};
}

YamlScalar resolve_plain(std::string_view text) {
  if (is_one_of(text, NULLS)) return {nullptr, {}};
  if (is_one_of(text, TRUES)) return {true, {}};
  if (is_one_of(text, FALSES)) return {false, {}};
  if (std::optional<YamlScalar> number = as_number(text)) return *std::move(number);
  return {std::string(text), {}};
}

}  // namespace

std::string unknown_tag(std::string_view tag) {
  return fmt::format("the tag {} means nothing here: remove it",
                     tag.substr(0, CORE.size()) == CORE ? fmt::format("!!{}", tag.substr(CORE.size())) : tag);
}

bool is_plain_collection_tag(std::string_view tag, bool map) {
  return tag.empty() || tag == "?" || tag == "!" || tag == std::string(CORE) + (map ? "map" : "seq");
}

YamlScalar resolve_scalar(std::string_view text, std::string_view tag) {
  if (tag.empty() || tag == "?") return resolve_plain(text);
  if (tag == "!") return {std::string(text), {}};
  if (tag.substr(0, CORE.size()) != CORE) return {nullptr, unknown_tag(tag)};
  const std::string_view kind = tag.substr(CORE.size());
  if (kind == "str") return {std::string(text), {}};
  YamlScalar scalar = resolve_plain(text);
  const Json& value = scalar.value;
  const bool fits = (kind == "null" && value.is_null()) || (kind == "bool" && value.is_boolean()) ||
                    (kind == "int" && value.is_number_integer()) || (kind == "float" && value.is_number());
  const bool known = kind == "null" || kind == "bool" || kind == "int" || kind == "float";
  if (!known) return {nullptr, unknown_tag(tag)};
  if (scalar.wrong.empty() && !fits)
    scalar.wrong =
        fmt::format("{} is no !!{}: write one, or remove the tag", Json(std::string(text)).dump(), kind);
  return scalar;
}

}  // namespace halfopen::sim
