// A rolling window of two-valued observations (success/failure, request/retry), exact to the millisecond.
//
// An observation is stamped max(now, newest stamp); equal stamps share one bucket. That is exactly the list
// that drops from its old end and stops at the first entry not yet aged, also when time steps back, in at most
// one bucket a millisecond of the window (plus the odd extra one where 2^32 - 1 observations share a stamp). O(1) amortised an observation, no allocation in steady
// state (the ring grows by doubling and stays), memory returned by clear(). Not thread-safe: its owner locks.
//
// Rejected: one entry an observation (16 MiB a tracker at 10^4 observations a second), and coarse buckets
// (an edge one bucket wide where the rule says one millisecond).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "core/time.hpp"

namespace halfopen {

class BucketWindow {
 public:
  enum class Kind : std::uint8_t { first, second };
  struct Counts {
    std::uint64_t first = 0, second = 0;
    std::uint64_t total() const { return first + second; }
  };

  // Counts one observation at `now` (or at the newest stamp, if that is later).
  void append(Instant now, Kind kind) {
    if (size_ != 0) {
      Bucket& newest = ring_[(head_ + size_ - 1) & mask_];
      if (now.ms <= newest.stamp) {
        std::uint32_t& slot = kind == Kind::first ? newest.first : newest.second;
        if (slot != std::numeric_limits<std::uint32_t>::max()) {
          ++slot;
          count(kind);
          return;
        }
        now.ms = newest.stamp;
      }
    }
    push({now.ms, kind == Kind::first ? 1U : 0U, kind == Kind::second ? 1U : 0U});
    count(kind);
  }

  // Drops from the old end what has aged `now - stamp >= window_ms`.
  void drop(Instant now, std::uint64_t window_ms) {
    while (size_ != 0) {
      const Bucket& oldest = ring_[head_];
      if ((now - Instant{oldest.stamp}).ms < window_ms) return;
      counts_.first -= oldest.first;
      counts_.second -= oldest.second;
      head_ = (head_ + 1) & mask_;
      --size_;
    }
  }

  Counts counts() const { return counts_; }

  // The counts without what has aged at `now`; changes nothing. Walks the aged buckets: for showing only.
  Counts counts_at(Instant now, std::uint64_t window_ms) const {
    Counts left = counts_;
    for (std::uint32_t i = 0; i < size_; ++i) {
      const Bucket& bucket = ring_[(head_ + i) & mask_];
      if ((now - Instant{bucket.stamp}).ms < window_ms) break;
      left.first -= bucket.first;
      left.second -= bucket.second;
    }
    return left;
  }

  // Empties it and gives the memory back.
  void clear() {
    ring_.reset();
    mask_ = head_ = size_ = 0;
    counts_ = {};
  }

  std::size_t memory_bytes() const { return ring_ ? (std::size_t{mask_} + 1) * sizeof(Bucket) : 0; }

 private:
  struct Bucket {
    std::uint64_t stamp;
    std::uint32_t first, second;
  };

  void count(Kind kind) { ++(kind == Kind::first ? counts_.first : counts_.second); }

  void push(Bucket bucket) {
    if (!ring_ || size_ == mask_ + 1) grow();
    ring_[(head_ + size_) & mask_] = bucket;
    ++size_;
  }

  void grow() {
    const std::uint32_t capacity = ring_ ? (mask_ + 1) * 2 : 16;
    std::unique_ptr<Bucket[]> wider(new Bucket[capacity]);
    for (std::uint32_t i = 0; i < size_; ++i) wider[i] = ring_[(head_ + i) & mask_];
    ring_ = std::move(wider);
    mask_ = capacity - 1;
    head_ = 0;
  }

  std::unique_ptr<Bucket[]> ring_;
  std::uint32_t mask_ = 0, head_ = 0, size_ = 0;
  Counts counts_;
};

}  // namespace halfopen
