// How numbers and strings are spelt in everything that halfopen writes. One place, because a timeline's
// fingerprint is a hash of these bytes: they are a file format, not a matter of taste.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/scenario.hpp"

namespace halfopen::sim {

void append_uint(std::string& out, std::uint64_t value);

// Milliseconds with up to 6 decimals, trailing zeros trimmed: 31250.75, 0.000001, 40. Exact: no double is
// involved.
void append_ms(std::string& out, Nanos value);

// The same for milliseconds that were summed or divided as a double: rounded to the nearest ns first.
// NaN, the spelling of "nothing was measured", is null.
void append_double_ms(std::string& out, double ms);

// The shortest decimal that reads back as the same double: 0.5, 21, 1e+20. NaN and infinity, for which JSON
// has no word, are null.
void append_double(std::string& out, double value);

// A JSON string with its quotes. Valid UTF-8 passes through, control characters are escaped, a byte that is
// no UTF-8 becomes U+FFFD: the file stays valid whatever the names contain.
void append_json_string(std::string& out, std::string_view text);

// Sixteen lower-case hex digits: digests and fingerprints.
std::string hex16(std::uint64_t value);

}  // namespace halfopen::sim
