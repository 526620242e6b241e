// The luck of a run, by stream and index: the k-th draw of a stream is the same whatever else is drawn, so
// two settings of a gateway meet the same requests (common random numbers) and a new endpoint shifts nobody
// else's luck.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/hash.hpp"
#include "core/random.hpp"

namespace halfopen::sim {

inline constexpr std::uint64_t REQUEST_DRAW = 0;  // `kind` of a counter
inline constexpr std::uint64_t PROBE_DRAW = 1;

// One named stream of one seed, e.g. "service:api/10.0.0.1:8080". Two words; copy it freely.
class Stream {
 public:
  constexpr Stream(std::uint64_t seed, std::string_view name) : key_{seed, stable_hash(name)} {}

  // The draw in [0, 1) at a counter. `entry` is the place in `traffic` (0 for probes).
  constexpr double unit(std::uint64_t index, std::uint32_t tryn = 0, std::uint32_t attempt = 0,
                        std::uint64_t entry = 0, std::uint64_t kind = REQUEST_DRAW) const {
    return halfopen::unit(philox_word0(index, pair(tryn, attempt), entry, kind, key_[0], key_[1]));
  }

  // Words 0 and 1, for `balance:` alone, whose two choices come from one counter.
  constexpr std::array<std::uint64_t, 2> words(std::uint64_t index, std::uint32_t tryn = 0,
                                               std::uint32_t attempt = 0, std::uint64_t entry = 0,
                                               std::uint64_t kind = REQUEST_DRAW) const {
    const auto block = philox4x64_10({index, pair(tryn, attempt), entry, kind}, key_);
    return {block[0], block[1]};
  }

  constexpr const std::array<std::uint64_t, 2>& key() const { return key_; }

 private:
  static constexpr std::uint64_t pair(std::uint32_t tryn, std::uint32_t attempt) {
    return (std::uint64_t{tryn} << 32) + attempt;
  }

  std::array<std::uint64_t, 2> key_;
};

}  // namespace halfopen::sim
