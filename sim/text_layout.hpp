// The typesetting of the account for a person: columns of a terminal, wrapped sentences, numbers and times as
// people write them. Knows nothing of timelines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario.hpp"

namespace halfopen::sim {

inline constexpr std::size_t PAGE_WIDTH = 80;

struct TextStyle {
  bool colour = false;  // only for a terminal, and only while NO_COLOR is unset
  bool ascii = false;   // nothing outside ASCII, whatever the names contain
  std::size_t max_events = 40;
  std::size_t max_lanes = 24;  // endpoints, and injected faults, that are drawn
};

// Breaks at spaces; a word longer than `width` is cut. At least one line, none of them with spaces at its
// end.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

// Not more than `width` columns: what is too long loses its middle, because addresses differ at both ends.
std::string shorten(std::string_view text, std::size_t width, bool ascii);

// As `shorten`, but text[from, to) is the last to suffer: first what is before it gives way, then what is
// after.
std::string shorten_around(std::string_view text, std::size_t from, std::size_t to, std::size_t width,
                           bool ascii);

std::string pad_right(std::string text, std::size_t width);  // text, then spaces
std::string pad_left(std::string text, std::size_t width);   // spaces, then text
std::string repeat(std::string_view piece, std::size_t times);

// Several lines, each indented and ended; the first line begins with `lead`, the others with as many spaces.
std::string hanging(std::string_view lead, std::string_view text);

std::string grouped(std::uint64_t value);  // 1,234,567
// With `decimals` places at most, zeros at the end trimmed: 50, 99.21, 1,234.5.
std::string decimal(double value, int decimals);
std::string percent(double share);        // 0.9921 -> "99.21 %"; never "100 %" or "0 %" for what is not
std::string length_text(Nanos length);    // "250 ms", "30 s", "1.5 s"
std::string instant_text(Nanos instant);  // "31.251 s"
std::string plural(std::uint64_t count, std::string_view noun);  // "1 event", "2 events"

// The text in a colour (an SGR code such as "32"), or plain if the style has none.
std::string coloured(const TextStyle& style, std::string_view code, std::string_view text);

}  // namespace halfopen::sim
