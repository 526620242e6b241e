// `h`: 64-bit FNV-1a finished with MurmurHash3's mix. It names random streams, places endpoints on the
// ip_hash ring and fingerprints event streams, so its values are part of the file formats and never change.
// FNV-1a alone is not enough: its high bits hardly move for keys that differ in their last byte.
#pragma once

#include <cstdint>
#include <string_view>

namespace halfopen {

// The hash of bytes that arrive in pieces: add("ab"); add("c") is the same as add("abc").
class StableHash {
 public:
  constexpr void add_byte(std::uint8_t byte) { state_ = (state_ ^ byte) * PRIME; }

  constexpr void add(std::string_view bytes) {
    for (const char byte : bytes) add_byte(static_cast<std::uint8_t>(byte));
  }

  constexpr void add_u16_be(std::uint16_t value) {
    add_byte(static_cast<std::uint8_t>(value >> 8));
    add_byte(static_cast<std::uint8_t>(value & 0xFF));
  }

  constexpr void add_u64_be(std::uint64_t value) {
    for (int shift = 56; shift >= 0; shift -= 8) add_byte(static_cast<std::uint8_t>((value >> shift) & 0xFF));
  }

  // May be asked at any time; more bytes may follow.
  constexpr std::uint64_t finish() const {
    std::uint64_t x = state_;
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccd;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53;
    x ^= x >> 33;
    return x;
  }

 private:
  static constexpr std::uint64_t PRIME = 0x100000001b3;
  std::uint64_t state_ = 0xcbf29ce484222325;  // FNV's offset basis
};

constexpr std::uint64_t stable_hash(std::string_view bytes) {
  StableHash hash;
  hash.add(bytes);
  return hash.finish();
}

}  // namespace halfopen
