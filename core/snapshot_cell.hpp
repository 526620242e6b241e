// A cell that holds one immutable snapshot, swapped whole, read without locks and without allocation.
//
// std::atomic<std::shared_ptr> is a spin lock on g++ 12, and copying a shared_ptr out of a plain one races
// with the swap. This is differential reference counting instead: one word holds the pointer and the number
// of readers that ever took it, so taking a snapshot is one fetch_add that both reads the pointer and
// protects it, and giving it back is one fetch_sub on the snapshot itself. That pin is the very reference a
// dispatch needs to keep its tracker and parameters alive until its report, so nothing is paid twice.
// Rejected: hazard pointers (a store with a full fence and a re-check, then still a reference for the
// dispatch); epochs or RCU (a dispatch lives for seconds, and one stuck request would hold back all
// reclamation).
//
// The word: pointer >> 6 in the upper 42 bits (snapshots are 64-byte aligned and user space is 48 bits wide,
// which is checked), takers in the lower 22. The count is moved into the snapshot long before it can
// overflow.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "core/check.hpp"

namespace halfopen {

// What a snapshot must derive from.
template <class Sync>
struct alignas(64) SnapshotBase {
  // BIAS while current; then takers - returners. The last to leave deletes it. Written by every attempt, so
  // it has a cache line to itself: what derives from this is read by every attempt and must not be torn away
  // with it.
  typename Sync::template Atomic<std::int64_t> references{std::int64_t{1} << 60};
  char padding[64 - sizeof(typename Sync::template Atomic<std::int64_t>)];
};

template <class Sync, class Snapshot>
class SnapshotCell {
 public:
  // A pin: the snapshot lives at least as long. Move-only.
  class Pin {
   public:
    Pin() = default;
    Pin(Pin&& other) noexcept : snapshot_(std::exchange(other.snapshot_, nullptr)) {}
    Pin& operator=(Pin&& other) noexcept {
      if (this != &other) {
        reset();
        snapshot_ = std::exchange(other.snapshot_, nullptr);
      }
      return *this;
    }
    ~Pin() { reset(); }

    void reset() noexcept {
      if (snapshot_ != nullptr) drop(std::exchange(snapshot_, nullptr), 1);
    }
    Snapshot* operator->() const noexcept { return snapshot_; }
    Snapshot& operator*() const noexcept { return *snapshot_; }
    explicit operator bool() const noexcept { return snapshot_ != nullptr; }

   private:
    friend class SnapshotCell;
    explicit Pin(Snapshot* snapshot) noexcept : snapshot_(snapshot) {}
    Snapshot* snapshot_ = nullptr;
  };

  // Takes ownership of a heap-allocated snapshot.
  explicit SnapshotCell(Snapshot* first) noexcept : word_(pack(first)) {}
  ~SnapshotCell() { retire(word_.load(std::memory_order_acquire)); }
  SnapshotCell(const SnapshotCell&) = delete;
  SnapshotCell& operator=(const SnapshotCell&) = delete;

  // The current snapshot, pinned. Lock-free, no allocation.
  Pin pin() noexcept {
    const std::uint64_t before = word_.fetch_add(1, std::memory_order_acq_rel);
    Snapshot* const snapshot = unpack(before);
    if ((before & COUNT_MASK) > FOLD_FROM) fold(snapshot);
    return Pin(snapshot);
  }

  // Swaps in the next one and takes ownership of it. Callers of replace must not overlap.
  void replace(Snapshot* next) noexcept { retire(word_.exchange(pack(next), std::memory_order_acq_rel)); }

 private:
  static constexpr int COUNT_BITS = 22;
  static constexpr std::uint64_t COUNT_MASK = (std::uint64_t{1} << COUNT_BITS) - 1;
  static constexpr std::uint64_t FOLD_FROM = std::uint64_t{1} << (COUNT_BITS - 1);
  static constexpr std::int64_t BIAS = std::int64_t{1} << 60;

  static std::uint64_t pack(Snapshot* snapshot) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(snapshot);
    HALFOPEN_CHECK((address & 63) == 0 && (std::uint64_t{address} >> 48) == 0);
    return (std::uint64_t{address} >> 6) << COUNT_BITS;
  }
  static Snapshot* unpack(std::uint64_t word) noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): pointer and count share the word, which is the scheme
    return reinterpret_cast<Snapshot*>(static_cast<std::uintptr_t>((word >> COUNT_BITS) << 6));
  }

  static void drop(Snapshot* snapshot, std::int64_t by) noexcept {
    if (snapshot->references.fetch_sub(by, std::memory_order_acq_rel) == by) delete snapshot;
  }

  // No longer current: from now on its references are those of its takers alone.
  static void retire(std::uint64_t word) noexcept {
    drop(unpack(word), BIAS - static_cast<std::int64_t>(word & COUNT_MASK));
  }

  // Moves the takers' count into the snapshot. The caller holds a pin, so the snapshot cannot go away; the
  // count is added before the word is lowered, so that it is never too small in between.
  void fold(Snapshot* snapshot) noexcept {
    std::uint64_t word = word_.load(std::memory_order_acquire);
    while (unpack(word) == snapshot && (word & COUNT_MASK) > FOLD_FROM) {
      const auto takers = static_cast<std::int64_t>(word & COUNT_MASK);
      snapshot->references.fetch_add(takers, std::memory_order_acq_rel);
      if (word_.compare_exchange_strong(word, pack(snapshot), std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
        return;
      }
      // Not the last ones: the caller's pin is among the rest.
      snapshot->references.fetch_sub(takers, std::memory_order_acq_rel);
    }
  }

  typename Sync::template Atomic<std::uint64_t> word_;
};

}  // namespace halfopen
