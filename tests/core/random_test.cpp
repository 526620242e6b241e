#include "core/random.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

namespace {

using halfopen::philox4x64_10;
using halfopen::philox_word0;
using Words = std::array<std::uint64_t, 4>;

constexpr std::uint64_t ALL = ~std::uint64_t{0};

}  // namespace

// The first and the last are Random123's own known answers, the middle one NumPy's.
TEST_CASE("philox: known answers") {
  CHECK(philox4x64_10({0, 0, 0, 0}, {0, 0}) ==
        Words{0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b});
  CHECK(philox4x64_10({ALL, ALL, ALL, ALL}, {ALL, ALL}) ==
        Words{0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0});
  CHECK(philox4x64_10({0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89},
                      {0x452821e638d01377, 0xbe5466cf34e90c6c}) ==
        Words{0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6});
  static_assert(philox4x64_10({0, 0, 0, 0}, {0, 0})[0] == 0x16554d9eca36314c,
                "usable in constant expressions");
}

TEST_CASE("philox: word 0 alone is word 0 of the block") {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t a = i * 0x9E3779B97F4A7C15;
    const std::uint64_t b = a ^ (a >> 7);
    CHECK(philox_word0(a, b, i, ~a, a + b, b) == philox4x64_10({a, b, i, ~a}, {a + b, b})[0]);
  }
}

TEST_CASE("philox: a batch of any length is the same words one by one") {
  const std::array<std::uint64_t, 2> key{11, 0xfedcba9876543210};
  for (std::size_t n = 0; n < 19; ++n) {
    const Words counter{1000 * n, 3, 0xABCDEF0123456789, 1};
    std::vector<std::uint64_t> words(n + 1, 42);
    halfopen::philox_word0_batch(counter, key, words.data(), n);
    for (std::size_t i = 0; i < n; ++i) {
      CHECK(words[i] == philox_word0(counter[0] + i, counter[1], counter[2], counter[3], key[0], key[1]));
    }
    CHECK(words[n] == 42);  // nothing is written behind the end
  }
}

TEST_CASE("philox: the first word of the counter wraps within a batch") {
  std::array<std::uint64_t, 6> words{};
  halfopen::philox_word0_batch({ALL - 1, 5, 6, 7}, {1, 2}, words.data(), words.size());
  CHECK(words[1] == philox_word0(ALL, 5, 6, 7, 1, 2));
  CHECK(words[2] == philox_word0(0, 5, 6, 7, 1, 2));  // no carry into word 1
}

TEST_CASE("unit: from 0 to just below 1 in steps of 2^-53") {
  using halfopen::unit;
  CHECK(unit(0) == 0.0);
  CHECK(unit(2047) == 0.0);  // the lower 11 bits are not looked at
  CHECK(unit(2048) == 0x1p-53);
  CHECK(unit(std::uint64_t{1} << 63) == 0.5);
  CHECK(unit(ALL) == 1.0 - 0x1p-53);
  static_assert(unit(ALL) < 1.0, "1 itself never comes, so ln(1 - u) is finite");
}
