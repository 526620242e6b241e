#include "sim/utf8.hpp"

#include <algorithm>
#include <array>

namespace halfopen::sim {

namespace {

struct Range {
  char32_t first, last;
};

bool within(const Range& range, char32_t c) { return c >= range.first && c <= range.last; }

// Marks that sit on the character before them, and joiners and selectors that show nothing.
constexpr std::array<Range, 5> ZERO_WIDTH{{
    {0x0300, 0x036F},
    {0x200B, 0x200F},
    {0x2060, 0x2064},
    {0xFE00, 0xFE0F},
    {0xFEFF, 0xFEFF},
}};

// East Asian wide and full-width blocks, and emoji: the blocks as a whole, which is what terminals do.
constexpr std::array<Range, 9> DOUBLE_WIDTH{{
    {0x1100, 0x115F},
    {0x2E80, 0xA4CF},
    {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},
    {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60},
    {0xFFE0, 0xFFE6},
    {0x1F300, 0x1FAFF},
    {0x20000, 0x3FFFD},
}};

struct Lead {
  std::size_t length;
  char32_t bits;   // those that the first byte gives
  char32_t least;  // the smallest value that needs so many bytes
};

Lead lead_of(unsigned char byte) {
  if ((byte & 0xE0) == 0xC0) return {2, byte & 0x1Fu, 0x80};
  if ((byte & 0xF0) == 0xE0) return {3, byte & 0x0Fu, 0x800};
  if ((byte & 0xF8) == 0xF0) return {4, byte & 0x07u, 0x10000};
  return {0, 0, 0};
}

bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0); }

// Marks that turn the direction of the text around them: in a terminal they could make a name read as
// another.
bool is_bidi(char32_t c) { return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069); }

}  // namespace

char32_t next_code_point(std::string_view text, std::size_t& at) noexcept {
  const auto first = static_cast<unsigned char>(text[at]);
  const std::size_t start = at++;
  if (first < 0x80) return first;
  const Lead lead = lead_of(first);
  if (lead.length == 0 || text.size() - start < lead.length) return INVALID_CODE_POINT;
  char32_t value = lead.bits;
  for (std::size_t i = 1; i < lead.length; ++i) {
    const auto byte = static_cast<unsigned char>(text[start + i]);
    if ((byte & 0xC0) != 0x80) return INVALID_CODE_POINT;
    value = (value << 6) | (byte & 0x3Fu);
  }
  if (value < lead.least || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
    return INVALID_CODE_POINT;
  at = start + lead.length;
  return value;
}

std::size_t columns_of(char32_t code_point) noexcept {
  const auto holds = [code_point](const Range& range) { return within(range, code_point); };
  if (code_point < 0x300) return 1;
  if (std::any_of(ZERO_WIDTH.begin(), ZERO_WIDTH.end(), holds)) return 0;
  if (code_point == INVALID_CODE_POINT) return 1;
  return std::any_of(DOUBLE_WIDTH.begin(), DOUBLE_WIDTH.end(), holds) ? 2 : 1;
}

std::size_t columns_of(std::string_view text) noexcept {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size();) columns += columns_of(next_code_point(text, at));
  return columns;
}

std::string printable(std::string_view text, bool ascii) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    const char32_t c = next_code_point(text, at);
    if (is_control(c) || is_bidi(c)) {
      out += ' ';
    } else if (c == INVALID_CODE_POINT || (ascii && c >= 0x80)) {
      out += '?';
    } else {
      out += text.substr(start, at - start);
    }
  }
  return out;
}

}  // namespace halfopen::sim
