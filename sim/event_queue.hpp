// What is to happen, by (time, kind, sequence): a total order, so two runs cannot disagree about simultaneous events.
// A four-ary heap of 24-byte entries; cancelling marks, and the marked are swept when they outnumber the living.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/check.hpp"
#include "sim/scenario.hpp"

namespace halfopen::sim {

// In the order in which they happen at one instant.
enum class EventKind : std::uint8_t {
  clock_step,
  reload,
  fault_boundary,
  completion,
  attempt_timeout,
  departure,
  probe,
  retry,
  arrival,
  sample,
};

// To cancel a scheduled event by. A default one refers to nothing.
struct EventId {
  std::uint32_t slot = UINT32_MAX;
  std::uint32_t stamp = 0;
};

class EventQueue {
 public:
  struct Next {
    Nanos at = NEVER;
    EventKind kind = EventKind::sample;
    std::uint64_t payload = 0;
  };

  bool empty() const { return heap_.empty(); }

  // The time of the next event and its kind; never asks about a cancelled one. Not when empty.
  Nanos next_time() const { return heap_[0].at; }
  EventKind next_kind() const { return static_cast<EventKind>(heap_[0].order >> KIND_SHIFT); }

  // Events of one kind at one instant come in the order of their scheduling …
  EventId schedule(Nanos at, EventKind kind, std::uint64_t payload) { return schedule(at, kind, payload, sequence_++); }

  // … or in the order of a sequence of the caller's (below 2^56), for kinds that have an order of their own.
  EventId schedule(Nanos at, EventKind kind, std::uint64_t payload, std::uint64_t sequence) {
    const std::uint32_t slot = take_slot(payload);
    const Entry entry{at, (static_cast<std::uint64_t>(kind) << KIND_SHIFT) | sequence, slot};
    heap_.push_back(entry);
    sift_up(heap_.size() - 1, entry);
    return {slot, slots_[slot].stamp};
  }

  // Removes and returns the next event. Not when empty.
  Next pop() {
    const Entry entry = heap_[0];
    const Next next{entry.at, static_cast<EventKind>(entry.order >> KIND_SHIFT), slots_[entry.slot].payload};
    free_slot(entry.slot);
    remove_top();
    drop_cancelled_top();
    return next;
  }

  // Harmless when the event has happened or was cancelled before.
  void cancel(EventId id) {
    if (id.slot >= slots_.size() || slots_[id.slot].stamp != id.stamp || !slots_[id.slot].pending) return;
    slots_[id.slot].pending = false;
    ++cancelled_;
    if (cancelled_ > heap_.size() / 2 + 64) sweep();
    drop_cancelled_top();
  }

  std::size_t size() const { return heap_.size() - cancelled_; }

 private:
  static constexpr int KIND_SHIFT = 56;

  struct Entry {
    Nanos at;
    std::uint64_t order;  // kind, then sequence
    std::uint32_t slot;
  };
  struct Slot {
    std::uint64_t payload = 0;
    std::uint32_t stamp = 0;
    std::uint32_t next_free = UINT32_MAX;
    bool pending = false;
  };

  static bool before(const Entry& a, const Entry& b) {
    __extension__ typedef unsigned __int128 Key;  // one comparison without a branch
    return ((Key{a.at} << 64) | a.order) < ((Key{b.at} << 64) | b.order);
  }

  std::uint32_t take_slot(std::uint64_t payload) {
    std::uint32_t slot = free_;
    if (slot == UINT32_MAX) {
      slot = static_cast<std::uint32_t>(slots_.size());
      HALFOPEN_CHECK(slot != UINT32_MAX);
      slots_.emplace_back();
    } else {
      free_ = slots_[slot].next_free;
    }
    slots_[slot].payload = payload;
    slots_[slot].pending = true;
    return slot;
  }

  void free_slot(std::uint32_t slot) {
    ++slots_[slot].stamp;
    slots_[slot].pending = false;
    slots_[slot].next_free = free_;
    free_ = slot;
  }

  void remove_top() {
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sift_down(0, last);
  }

  void drop_cancelled_top() {
    while (cancelled_ != 0 && !heap_.empty() && !slots_[heap_[0].slot].pending) {
      free_slot(heap_[0].slot);
      --cancelled_;
      remove_top();
    }
  }

  void sift_up(std::size_t hole, const Entry& entry) {
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / 4;
      if (!before(entry, heap_[parent])) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = entry;
  }

  // To the bottom along the least children, then up: the last entry of a heap belongs near the bottom.
  void sift_down(std::size_t hole, const Entry& entry) {
    const std::size_t size = heap_.size();
    for (;;) {
      const std::size_t first = hole * 4 + 1;
      if (first >= size) break;
      std::size_t least = first;
      const std::size_t end = first + 4 < size ? first + 4 : size;
      for (std::size_t child = first + 1; child < end; ++child) {
        least = before(heap_[child], heap_[least]) ? child : least;
      }
      if (!before(heap_[least], entry)) break;
      heap_[hole] = heap_[least];
      hole = least;
    }
    heap_[hole] = entry;
  }

  void sweep() {
    std::size_t kept = 0;
    for (const Entry& entry : heap_) {
      if (slots_[entry.slot].pending) heap_[kept++] = entry;
      else free_slot(entry.slot);
    }
    heap_.resize(kept);
    cancelled_ = 0;
    for (std::size_t i = kept / 4 + 1; i-- > 0;) {
      if (i < kept) sift_down(i, Entry{heap_[i]});
    }
  }

  std::vector<Entry> heap_;
  std::vector<Slot> slots_;
  std::uint32_t free_ = UINT32_MAX;
  std::size_t cancelled_ = 0;
  std::uint64_t sequence_ = 0;
};

}  // namespace halfopen::sim
