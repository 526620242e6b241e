// What to say where a text stops being JSON: the parser knows what it expected, a person wants to know what
// to write.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace halfopen::sim {

struct SyntaxError {
  std::size_t offset = 0;
  std::string what;
};

// `after`: the end of the last token that was good. `read`: how many characters the parser has read, the
// offending ones included. `parser_says`: its own message. `open`: the innermost open bracket, or '\0'.
SyntaxError explain_syntax(std::string_view text, std::size_t after, std::size_t read,
                           std::string_view parser_says, char open);

// The first byte at or after `at` that is neither blank nor comment.
std::size_t skip_blanks(std::string_view text, std::size_t at);

// The end of the token that begins at `at`: of a string behind its closing quote, of a word behind its last
// letter. Moves on by at least one byte unless the text ends.
std::size_t token_end(std::string_view text, std::size_t at);

}  // namespace halfopen::sim
