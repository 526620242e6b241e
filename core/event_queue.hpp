// The ready-made sink: a bounded queue between the machines and whoever logs, counts or publishes. Handing an
// event over never blocks and allocates nothing; when the queue is full the event is dropped and counted.
//
// Any number of threads may offer and take at once. A ring of cells, each with a sequence number that says
// whose turn it is (the design of D. Vyukov's bounded queue); a cell that is being written delays only its
// own reader.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/event.hpp"

namespace halfopen {

class BoundedEventQueue final : public EventSink {
 public:
  // Room for at least `capacity` events; rounded up to a power of two, at least 2.
  explicit BoundedEventQueue(std::size_t capacity)
      : mask_(std::bit_ceil(capacity < 2 ? std::size_t{2} : capacity) - 1), cells_(new Cell[mask_ + 1]) {
    for (std::size_t i = 0; i <= mask_; ++i) cells_[i].turn.store(i, std::memory_order_relaxed);
  }

  void offer(const Event& event) noexcept override {
    std::size_t place = tail_.load(std::memory_order_relaxed);
    for (;;) {
      Cell& cell = cells_[place & mask_];
      const std::size_t turn = cell.turn.load(std::memory_order_acquire);
      if (turn == place) {
        if (!tail_.compare_exchange_weak(place, place + 1, std::memory_order_relaxed)) continue;
        cell.event = event;
        cell.turn.store(place + 1, std::memory_order_release);
        return;
      }
      if (turn < place) {  // still holds the event of one round ago: full
        dropped_.fetch_add(1, std::memory_order_relaxed);
        return;
      }
      place = tail_.load(std::memory_order_relaxed);
    }
  }

  // The oldest event, or false when there is none (or its writer is still at it).
  bool take(Event& event) noexcept {
    std::size_t place = head_.load(std::memory_order_relaxed);
    for (;;) {
      Cell& cell = cells_[place & mask_];
      const std::size_t turn = cell.turn.load(std::memory_order_acquire);
      if (turn == place + 1) {
        if (!head_.compare_exchange_weak(place, place + 1, std::memory_order_relaxed)) continue;
        event = std::move(cell.event);
        cell.turn.store(place + mask_ + 1, std::memory_order_release);
        return true;
      }
      if (turn <= place) return false;
      place = head_.load(std::memory_order_relaxed);
    }
  }

  std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }
  std::size_t capacity() const noexcept { return mask_ + 1; }

 private:
  struct alignas(64) Cell {
    std::atomic<std::size_t> turn{0};
    Event event;
  };

  std::size_t mask_;
  std::unique_ptr<Cell[]> cells_;
  alignas(64) std::atomic<std::size_t> tail_{0};
  alignas(64) std::atomic<std::size_t> head_{0};
  alignas(64) std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace halfopen
