#include "core/random.hpp"

namespace halfopen {

namespace {

using philox::Block;

// What the blocks of one batch have in common. Only word 0 of the counter differs, so half of round 0 and
// half of round 1 are the same for all of them: two multiplications of nineteen are made once a batch.
struct SharedRounds {
  std::uint64_t mixed;  // word 2 after round 0, still without the part that word 0 gives
  std::uint64_t low_b;  // word 1 after round 0
  std::uint64_t mixed_1, low_1;
  std::uint64_t k0, k1;

  SharedRounds(const std::array<std::uint64_t, 4>& counter, const std::array<std::uint64_t, 2>& key)
      : k0(key[0]), k1(key[1]) {
    const Block zero = philox::one_round({0, counter[1], counter[2], counter[3]}, k0, k1);
    mixed = zero.w2;  // the high half of a product with 0 is 0, so the rest of word 2 stands alone
    low_b = zero.w1;
    const philox::Wide a = static_cast<philox::Wide>(philox::MULTIPLIER_0) * zero.w0;
    mixed_1 = philox::high_half(a) ^ (k1 + philox::KEY_STEP_1);
    low_1 = philox::low_half(a);
  }

  [[gnu::always_inline]] std::uint64_t word0(std::uint64_t c0) const {
    const philox::Wide a = static_cast<philox::Wide>(philox::MULTIPLIER_0) * c0;
    const std::uint64_t w2 = philox::high_half(a) ^ mixed;
    const std::uint64_t w3 = philox::low_half(a);
    const philox::Wide b = static_cast<philox::Wide>(philox::MULTIPLIER_1) * w2;
    const Block after_two{philox::high_half(b) ^ low_b ^ (k0 + philox::KEY_STEP_0), philox::low_half(b),
                          mixed_1 ^ w3, low_1};
    return philox::rounds_from<2>(after_two, k0, k1).w0;
  }
};

}  // namespace

void philox_word0_batch(const std::array<std::uint64_t, 4>& counter, const std::array<std::uint64_t, 2>& key,
                        std::uint64_t* out, std::size_t n) {
  const SharedRounds shared(counter, key);
  std::uint64_t c0 = counter[0];
  for (std::size_t fours = n / 4; fours > 0; --fours, c0 += 4, out += 4) {
    const std::uint64_t a = shared.word0(c0);
    const std::uint64_t b = shared.word0(c0 + 1);
    const std::uint64_t c = shared.word0(c0 + 2);
    const std::uint64_t d = shared.word0(c0 + 3);
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
  }
  for (std::size_t left = n % 4; left > 0; --left, ++c0, ++out) *out = shared.word0(c0);
}

}  // namespace halfopen
