// Luck as a function: Philox4x64-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011), a
// keyed bijection of a 256-bit counter. There is no state, so the draw of the k-th request never depends on
// how many draws were made before it. Words are in Random123's order; NumPy gives the same ones, but
// increments its counter before the first block. std::*_distribution is not used: its results are not
// portable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halfopen {

namespace philox {

__extension__ typedef unsigned __int128 Wide;  // the compiler's own type; pedantic mode wants it announced

inline constexpr std::uint64_t MULTIPLIER_0 = 0xD2E7470EE14C6C93;
inline constexpr std::uint64_t MULTIPLIER_1 = 0xCA5A826395121157;
inline constexpr std::uint64_t KEY_STEP_0 = 0x9E3779B97F4A7C15;  // golden ratio
inline constexpr std::uint64_t KEY_STEP_1 = 0xBB67AE8584CAA73B;  // sqrt(3) - 1
inline constexpr int ROUNDS = 10;

struct Block {
  std::uint64_t w0, w1, w2, w3;
};

constexpr std::uint64_t high_half(Wide product) { return static_cast<std::uint64_t>(product >> 64); }
constexpr std::uint64_t low_half(Wide product) { return static_cast<std::uint64_t>(product); }

[[gnu::always_inline]] constexpr Block one_round(const Block& in, std::uint64_t k0, std::uint64_t k1) {
  const Wide a = static_cast<Wide>(MULTIPLIER_0) * in.w0;
  const Wide b = static_cast<Wide>(MULTIPLIER_1) * in.w2;
  return {high_half(b) ^ in.w1 ^ k0, low_half(b), high_half(a) ^ in.w3 ^ k1, low_half(a)};
}

// The rounds FIRST … ROUNDS - 1 of the key (k0, k1); a caller that shares early rounds enters later. Unrolled
// by hand: g++ -O2 keeps a loop here, which costs half of the speed.
template <int FIRST>
[[gnu::always_inline]] constexpr Block rounds_from(const Block& in, std::uint64_t k0, std::uint64_t k1) {
  constexpr auto STEPS = static_cast<std::uint64_t>(FIRST);
  const Block out = one_round(in, k0 + STEPS * KEY_STEP_0, k1 + STEPS * KEY_STEP_1);
  if constexpr (FIRST + 1 == ROUNDS) {
    return out;
  } else {
    return rounds_from<FIRST + 1>(out, k0, k1);
  }
}

}  // namespace philox

// All four words of one counter.
constexpr std::array<std::uint64_t, 4> philox4x64_10(const std::array<std::uint64_t, 4>& counter,
                                                     const std::array<std::uint64_t, 2>& key) {
  const philox::Block out =
      philox::rounds_from<0>({counter[0], counter[1], counter[2], counter[3]}, key[0], key[1]);
  return {out.w0, out.w1, out.w2, out.w3};
}

// Word 0 alone, which is what a draw uses: the optimiser drops the half of the last round that nobody reads.
constexpr std::uint64_t philox_word0(std::uint64_t c0, std::uint64_t c1, std::uint64_t c2, std::uint64_t c3,
                                     std::uint64_t k0, std::uint64_t k1) {
  return philox::rounds_from<0>({c0, c1, c2, c3}, k0, k1).w0;
}

// out[i] = word 0 of the counter (counter[0] + i, counter[1], counter[2], counter[3]), i < n. Several blocks
// are in flight at once, because one block is a chain of ten multiplications that each wait for the last.
void philox_word0_batch(const std::array<std::uint64_t, 4>& counter, const std::array<std::uint64_t, 2>& key,
                        std::uint64_t* out, std::size_t n);

// A draw in [0, 1): 53 bits, all of them exact. The detour over a signed integer is the one conversion that
// x86-64 has as a single instruction; 53 bits always fit.
constexpr double unit(std::uint64_t word) {
  return static_cast<double>(static_cast<std::int64_t>(word >> 11)) * 0x1p-53;
}

}  // namespace halfopen
