// UTF-8, read one character at a time: names and questions come from files, and what is written must be
// valid JSON and must keep to its columns whatever they contain.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace halfopen::sim {

// What next_code_point answers for a byte that begins no valid sequence (overlong forms and surrogates
// included). U+FFFD itself is a legal character, so it can't be the answer.
inline constexpr char32_t INVALID_CODE_POINT = 0xFFFFFFFF;

// Reads the character at `at` and moves `at` past it; past one byte when it is invalid. `at` < text.size().
char32_t next_code_point(std::string_view text, std::size_t& at) noexcept;

// Columns that the character takes in a terminal: 0, 1 or 2. Control characters count as 1.
std::size_t columns_of(char32_t code_point) noexcept;

// Columns that a text without escape sequences takes.
std::size_t columns_of(std::string_view text) noexcept;

// The text made fit for a terminal: control characters, which could move the cursor or change colours,
// become spaces and invalid bytes '?'; with `ascii` every other non-ASCII character becomes '?' as well.
std::string printable(std::string_view text, bool ascii = false);

}  // namespace halfopen::sim
