// Latencies in a log-linear microsecond histogram of 128 parts an octave: exact below 256 us, within 1/128
// above. Quantiles are nearest rank, ceil(q * n), at the lower edge of the part; merging is exact and order
// does not matter.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/check.hpp"
#include "sim/scenario.hpp"

namespace halfopen::sim {

class LatencyHistogram {
 public:
  void add(Nanos latency) {
    const std::size_t part = part_of(latency / 1000);
    if (part >= counts_.size()) [[unlikely]]
      counts_.resize(part + 1, 0);
    ++counts_[part];
    if (part < lowest_) [[unlikely]]
      lowest_ = part;
    ++total_;
  }

  void merge(const LatencyHistogram& other) {
    if (other.total_ == 0) return;
    if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size(), 0);
    for (std::size_t part = other.lowest_; part < other.counts_.size(); ++part)
      counts_[part] += other.counts_[part];
    lowest_ = std::min(lowest_, other.lowest_);
    total_ += other.total_;
  }

  // Takes away what an earlier state of this same histogram held.
  void subtract(const LatencyHistogram& earlier) {
    total_ -= earlier.total_;
    for (std::size_t part = 0; part < earlier.counts_.size(); ++part) counts_[part] -= earlier.counts_[part];
    lowest_ = NONE;
    for (std::size_t part = counts_.size(); part-- > 0;) {
      if (counts_[part] != 0) lowest_ = part;
    }
  }

  void clear() {
    if (total_ != 0) std::fill(counts_.begin() + static_cast<std::ptrdiff_t>(lowest_), counts_.end(), 0);
    lowest_ = NONE;
    total_ = 0;
  }

  std::uint64_t total() const { return total_; }

  // In milliseconds; NaN when empty. 0 < q <= 1.
  double quantile_ms(double q) const {
    if (total_ == 0) return std::numeric_limits<double>::quiet_NaN();
    const auto rank = static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(total_)));
    std::size_t part = lowest_;
    for (std::uint64_t seen = counts_[part]; seen < rank;) seen += counts_[++part];
    return static_cast<double>(lower_edge_us(part)) / 1000;
  }

  static std::size_t part_of(std::uint64_t us) {
    if (us < PARTS) return us;
    const int octave = static_cast<int>(std::bit_width(us)) - BITS - 1;
    return PARTS * static_cast<std::size_t>(octave) + (us >> octave);
  }

  static std::uint64_t lower_edge_us(std::size_t part) {
    if (part < 2 * PARTS) return part;
    const std::size_t octave = part / PARTS - 1;
    HALFOPEN_CHECK(octave < 64 - BITS);  // no latency is longer
    return (part - PARTS * octave) << octave;
  }

 private:
  static constexpr int BITS = 7;
  static constexpr std::size_t PARTS = std::size_t{1} << BITS;
  static constexpr std::size_t NONE = std::numeric_limits<std::size_t>::max();

  std::vector<std::uint64_t> counts_;
  std::size_t lowest_ = NONE;
  std::uint64_t total_ = 0;
};

}  // namespace halfopen::sim
