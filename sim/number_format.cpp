#include "sim/number_format.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace {

constexpr char HEX[] = "0123456789abcdef";
constexpr std::string_view REPLACEMENT = "\xEF\xBF\xBD";  // U+FFFD

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20) {
    out += c;
    return;
  }
  out += "\\u00";
  out += HEX[byte >> 4];
  out += HEX[byte & 0xF];
}

}  // namespace

void append_uint(std::string& out, std::uint64_t value) {
  std::array<char, 20> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  out.append(buffer.data(), end);
}

void append_ms(std::string& out, Nanos value) {
  append_uint(out, value / NANOS_PER_MS);
  auto rest = static_cast<std::uint32_t>(value % NANOS_PER_MS);
  if (rest == 0) return;
  std::array<char, 7> decimals{'.', '0', '0', '0', '0', '0', '0'};
  for (std::size_t i = 6; i > 0; --i, rest /= 10) decimals[i] = static_cast<char>('0' + rest % 10);
  std::size_t length = decimals.size();
  while (decimals[length - 1] == '0') --length;
  out.append(decimals.data(), length);
}

void append_double_ms(std::string& out, double ms) {
  constexpr double NANOS_FIT_BELOW =
      9e12;  // ms; beyond it a nanosecond is far below a double's last bit anyway
  if (!(ms >= 0 && ms < NANOS_FIT_BELOW)) return append_double(out, ms);
  append_ms(out, static_cast<Nanos>(std::llround(ms * static_cast<double>(NANOS_PER_MS))));
}

void append_double(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  out.append(buffer.data(), end);
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    const char32_t c = next_code_point(text, at);
    if (c == INVALID_CODE_POINT) {
      out += REPLACEMENT;
    } else if (c < 0x80) {
      append_escaped(out, text[start]);
    } else {
      out += text.substr(start, at - start);
    }
  }
  out += '"';
}

std::string hex16(std::uint64_t value) {
  std::string out(16, '0');
  for (std::size_t i = 16; i > 0; --i, value >>= 4) out[i - 1] = HEX[value & 0xF];
  return out;
}

}  // namespace halfopen::sim
