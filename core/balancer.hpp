// The four algorithms, each over "everybody but the excluded". None of them knows what a tracker is: the
// upstream asks the endpoints first and runs one of these on what is left (at least two candidates). Not
// thread-safe where they have state; the upstream holds the lock.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/params.hpp"

namespace halfopen {

inline constexpr std::uint32_t MAX_MEMBERS = 65536;  // of one upstream

// Which of n endpoints a pick must not choose. Lives on the stack, so that a pick allocates nothing; only the
// words that n needs are ever touched.
class Excluded {
 public:
  explicit Excluded(std::uint32_t n) : n_(n) {
    bits_[0] = 0;
    for (std::uint32_t i = 1; i < words(); ++i) bits_[i] = 0;
  }

  std::uint32_t size() const { return n_; }
  std::uint32_t count() const { return count_; }
  std::uint32_t candidates() const { return n_ - count_; }
  bool test(std::uint32_t i) const { return (bits_[i >> 6] >> (i & 63)) & 1; }
  void add(std::uint32_t i) {
    if (test(i)) return;
    bits_[i >> 6] |= std::uint64_t{1} << (i & 63);
    ++count_;
  }
  std::uint32_t words() const { return (n_ + 63) / 64; }
  const std::uint64_t* bits() const { return bits_.data(); }

  // The k-th candidate in set order, k < candidates().
  std::uint32_t nth_candidate(std::uint32_t k) const {
    if (count_ == 0) return k;
    std::uint32_t i = 0;
    for (;; ++i) {
      if (test(i)) continue;
      if (k == 0) return i;
      --k;
    }
  }

 private:
  std::uint32_t n_;
  std::uint32_t count_ = 0;
  std::array<std::uint64_t, MAX_MEMBERS / 64> bits_;
};

// Weights as a pick sees them: one for all, or one each.
struct Weights {
  const std::int64_t* each = nullptr;  // n of them; null: everybody weighs `equal`
  std::int64_t equal = 1;
};

// Smooth weighted round-robin (NGINX's): each candidate adds its weight to its running weight, the largest
// wins, the lowest index on ties, the winner pays the total. With weights 5/1/1: a a b a c a a.
//
// With equal weights adding the same to everybody changes no order, so the candidates stand in a queue sorted
// by (running weight, index) and a pick takes its head and puts it back from the tail: constant time in
// practice where the scan is linear. The running weights are the same to the last unit; a change of the
// candidates rebuilds the queue. tests/core/balancer_test.cpp holds the two against each other.
class SmoothRoundRobin {
 public:
  explicit SmoothRoundRobin(std::uint32_t n) : running_(n, 0) {
    queue_.reserve(n);  // so that no pick ever allocates
    queue_excluded_.reserve((n + 63) / 64);
  }

  std::uint32_t pick(const Weights& weights, const Excluded& excluded);

  // Whether the queue stands, with nobody excluded and these weights: then pick_from_queue() is what pick()
  // would do.
  bool queue_of_all(const Weights& weights) const {
    return queue_.size() == running_.size() && weights.each == nullptr && weights.equal == queue_weight_ &&
           lift_ <= LIFT_LIMIT;
  }
  std::uint32_t pick_from_queue();

  // The running weights by index, for a reload that reorders the same set.
  std::vector<std::int64_t> running_weights();
  void set_running_weights(std::vector<std::int64_t> running);

 private:
  static constexpr std::int64_t LIFT_LIMIT = std::int64_t{1}
                                             << 48;  // far from overflow; refolding there costs nothing

  bool queue_fits(std::int64_t weight, const Excluded& excluded) const;
  void rebuild_queue(std::int64_t weight, const Excluded& excluded);
  void dissolve_queue();  // puts the common lift back into the running weights
  std::uint32_t pick_by_scan(const Weights& weights, const Excluded& excluded);

  std::vector<std::int64_t> running_;  // of queued candidates: without `lift_`
  std::vector<std::uint32_t> queue_;   // ring of the candidates, next winner at head_; empty: no queue
  std::uint32_t head_ = 0;
  std::int64_t lift_ = 0;
  std::int64_t queue_weight_ = 0;
  std::uint32_t queue_excluded_count_ = 0;
  std::vector<std::uint64_t> queue_excluded_;
};

// Two distinct places among n >= 2 candidates in set order, from two random words.
std::pair<std::uint32_t, std::uint32_t> two_choices(std::uint64_t x0, std::uint64_t x1,
                                                    std::uint32_t n) noexcept;

// Consistent hashing over the full set: points 0 … 160 * weight - 1 an endpoint, at
// h(address bytes, port as 2 bytes big-endian, point as 8 bytes big-endian). 16 bytes a point.
class HashRing {
 public:
  HashRing() = default;
  explicit HashRing(const std::vector<EndpointConfig>& endpoints);

  // The owner of a key, walking past owners that are excluded. At least one endpoint must not be.
  std::uint32_t owner(std::string_view key, const Excluded& excluded) const noexcept;

 private:
  struct Point {
    std::uint64_t at;
    std::uint32_t owner;
  };
  std::vector<Point> points_;  // sorted; of equal points only the lowest index is kept
};

}  // namespace halfopen
