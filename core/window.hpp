// A rolling window of two-valued observations (success/failure, request/retry), exact to the millisecond.
//
// An observation is stamped max(now, newest stamp); equal stamps share one bucket. That is exactly the list
// that drops from its old end and stops at the first entry not yet aged, also when time steps back, in at
// most one bucket a millisecond of the window (one more where 2^32 - 1 observations share a stamp). Dropping
// only notes how far; the buckets go when somebody counts or the ring is full, many at once, because one here
// and two there is what a processor cannot predict. O(1) amortised, no allocation in steady state (the ring
// doubles and stays), memory returned by clear(). Not thread-safe: its owner locks.
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
  [[gnu::always_inline]] void append(Instant now, Kind kind) {
    if (newest_ < keep_from_) [[unlikely]]
      flush();  // all of it has aged: it must not lend its stamp
    if (size_ != 0 && now.ms <= newest_ && join_newest(kind)) return;
    if (size_ == capacity_) [[unlikely]]
      make_room();
    newest_ = size_ != 0 && newest_ > now.ms ? newest_ : now.ms;
    ring_[(head_ + size_) & (capacity_ - 1)] = {newest_, kind == Kind::first ? 1U : 0U,
                                                kind == Kind::second ? 1U : 0U};
    ++size_;
    ++(kind == Kind::first ? counts_.first : counts_.second);
  }

  // Drops from the old end what has aged `now - stamp >= window_ms`, window_ms >= 1.
  void drop(Instant now, std::uint64_t window_ms) {
    if (size_ == 0 || now.ms < window_ms) return;
    const std::uint64_t keep_from = now.ms - window_ms + 1;
    if (keep_from > keep_from_) keep_from_ = keep_from;
  }

  Counts counts() {
    flush();
    return counts_;
  }
  Counts counts() const { return counts_from(keep_from_); }

  // The counts without what has aged at `now`; changes nothing. Walks the aged buckets: for showing only.
  Counts counts_at(Instant now, std::uint64_t window_ms) const {
    const std::uint64_t keep_from = now.ms < window_ms ? 0 : now.ms - window_ms + 1;
    return counts_from(keep_from > keep_from_ ? keep_from : keep_from_);
  }

  // Empties it and gives the memory back.
  void clear() {
    ring_.reset();
    capacity_ = head_ = size_ = 0;
    newest_ = keep_from_ = 0;
    counts_ = {};
  }

  std::size_t memory_bytes() const { return std::size_t{capacity_} * sizeof(Bucket); }

 private:
  struct Bucket {
    std::uint64_t stamp;
    std::uint32_t first, second;
  };

  // False when the newest bucket is full.
  bool join_newest(Kind kind) {
    Bucket& newest = ring_[(head_ + size_ - 1) & (capacity_ - 1)];
    std::uint32_t& slot = kind == Kind::first ? newest.first : newest.second;
    if (slot == std::numeric_limits<std::uint32_t>::max()) return false;
    ++slot;
    ++(kind == Kind::first ? counts_.first : counts_.second);
    return true;
  }

  Counts counts_from(std::uint64_t keep_from) const {
    Counts left = counts_;
    for (std::uint32_t i = 0; i < size_; ++i) {
      const Bucket& bucket = ring_[(head_ + i) & (capacity_ - 1)];
      if (bucket.stamp >= keep_from) break;
      left.first -= bucket.first;
      left.second -= bucket.second;
    }
    return left;
  }

  // Carries out the drops. Out of line, so that an append stays a few instructions.
  [[gnu::noinline]] void flush() {
    if (newest_ < keep_from_) {
      head_ = size_ = 0;
      counts_ = {};
    }
    // In locals, written back once: members would be stored and loaded again for every bucket.
    std::uint32_t head = head_, left = size_;
    std::uint64_t first = 0, second = 0;
    while (left != 0 && ring_[head].stamp < keep_from_) {
      first += ring_[head].first;
      second += ring_[head].second;
      head = (head + 1) & (capacity_ - 1);
      --left;
    }
    head_ = head;
    size_ = left;
    counts_.first -= first;
    counts_.second -= second;
    keep_from_ = 0;
    if (size_ == 0) newest_ = 0;
  }

  // Flushing a sixteenth free pays for itself; less, and the ring doubles. So 60,000 buckets fit into 2^16
  // places.
  [[gnu::noinline]] void make_room() {
    flush();
    if (size_ >= capacity_ - capacity_ / 16) grow();
  }

  void grow() {
    const std::uint32_t capacity = capacity_ == 0 ? 16 : capacity_ * 2;
    std::unique_ptr<Bucket[]> wider(new Bucket[capacity]);
    for (std::uint32_t i = 0; i < size_; ++i) wider[i] = ring_[(head_ + i) & (capacity_ - 1)];
    ring_ = std::move(wider);
    capacity_ = capacity;
    head_ = 0;
  }

  std::unique_ptr<Bucket[]> ring_;
  std::uint32_t capacity_ = 0, head_ = 0, size_ = 0;  // capacity_: 0 or a power of two
  std::uint64_t newest_ = 0;                          // the newest stamp; 0 when empty
  std::uint64_t keep_from_ = 0;  // what is older has been dropped, though it may still be here; 0 when empty
  Counts counts_;
};

}  // namespace halfopen
