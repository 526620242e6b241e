// What is to happen, by (time, kind, sequence): a total order, so two runs cannot disagree about simultaneous
// events.
//
// Events of the near future stand in a wheel of buckets, unsorted; the bucket that is due is sorted and
// drained. What is too far for the wheel, or comes into the bucket that is being drained, waits in a four-ary
// heap beside it, and the next event is the lesser of the two. So an event costs a constant where a heap
// alone costs its depth. The width of a bucket follows the traffic; it changes the speed and never the order.
//
// Most events cannot be cancelled and cost nothing for it; the others have a slot that cancelling marks, and
// the marked are swept when they outnumber the living.
#pragma once

#include <algorithm>
#include <array>
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
    std::uint32_t payload = 0;
  };

  EventQueue() { heads_.fill(NONE); }

  bool empty() const { return size_ == 0; }

  // How many there are; cancelled ones count until they are swept.
  std::size_t size() const { return size_; }

  // The time of the next event and its kind; never those of a cancelled one. Not when empty.
  Nanos next_time() const { return top_.at; }
  EventKind next_kind() const { return kind_of(top_); }

  // Events of one kind at one instant come in the order of their scheduling …
  void schedule(Nanos at, EventKind kind, std::uint32_t payload) {
    push(at, order(kind, sequence_++), payload, NONE);
  }

  // … or in the order of a sequence of the caller's (below 2^56), for kinds that have an order of their own.
  void schedule(Nanos at, EventKind kind, std::uint32_t payload, std::uint64_t sequence) {
    push(at, order(kind, sequence), payload, NONE);
  }

  // The same, for an event that may be called off.
  EventId schedule_cancellable(Nanos at, EventKind kind, std::uint32_t payload) {
    const std::uint32_t slot = take_slot();
    push(at, order(kind, sequence_++), payload, slot);
    return {slot, slots_[slot].stamp};
  }

  // Removes and returns the next event. Not when empty.
  Next pop() {
    const Next next{top_.at, kind_of(top_), top_.payload};
    if (top_.slot != NONE) free_slot(top_.slot);
    --size_;
    take_top();
    return next;
  }

  // Harmless when the event has happened or was cancelled before.
  void cancel(EventId id) {
    if (id.slot >= slots_.size() || slots_[id.slot].stamp != id.stamp || !slots_[id.slot].pending) return;
    slots_[id.slot].pending = false;
    ++cancelled_;
    if (cancelled_ > size_ / 2 + 64)
      rebuild(shift_);
    else if (top_.slot == id.slot)
      skip_cancelled();
  }

 private:
  static constexpr int KIND_SHIFT = 56;
  static constexpr std::uint32_t NONE = UINT32_MAX;
  static constexpr std::uint32_t BUCKETS = 2048;
  static constexpr int FIRST_SHIFT = 17;  // buckets of 131 us, a wheel of 268 ms

  struct Entry {
    Nanos at = NEVER;
    std::uint64_t order = 0;  // kind, then sequence
    std::uint32_t payload = 0;
    std::uint32_t slot = NONE;  // NONE: cannot be cancelled
  };
  struct Node {
    Entry entry;
    std::uint32_t next;
  };
  struct Slot {
    std::uint32_t stamp = 0;
    std::uint32_t next_free = NONE;
    bool pending = false;
  };

  static constexpr std::uint64_t order(EventKind kind, std::uint64_t sequence) {
    return (static_cast<std::uint64_t>(kind) << KIND_SHIFT) | sequence;
  }
  static EventKind kind_of(const Entry& entry) { return static_cast<EventKind>(entry.order >> KIND_SHIFT); }

  static bool before(Nanos at, std::uint64_t order, const Entry& other) {
    __extension__ typedef unsigned __int128 Key;  // one comparison without a branch
    return ((Key{at} << 64) | order) < ((Key{other.at} << 64) | other.order);
  }
  static bool before(const Entry& a, const Entry& b) { return before(a.at, a.order, b); }

  std::uint64_t bucket_of(Nanos at) const { return at >> shift_; }
  bool cancelled(const Entry& entry) const { return entry.slot != NONE && !slots_[entry.slot].pending; }

  std::uint32_t take_slot() {
    std::uint32_t slot = free_slot_;
    if (slot == NONE) {
      slot = static_cast<std::uint32_t>(slots_.size());
      HALFOPEN_CHECK(slot != NONE);
      slots_.emplace_back();
    } else {
      free_slot_ = slots_[slot].next_free;
    }
    slots_[slot].pending = true;
    return slot;
  }

  void free_slot(std::uint32_t slot) {
    ++slots_[slot].stamp;
    slots_[slot].pending = false;
    slots_[slot].next_free = free_slot_;
    free_slot_ = slot;
  }

  // Scalars, not an Entry: one that was stored by its members and is loaded whole a moment later stalls.
  [[gnu::always_inline]] void push(Nanos at, std::uint64_t order, std::uint32_t payload, std::uint32_t slot) {
    if (size_++ == 0) {
      top_ = {at, order, payload, slot};
      current_ = std::max(current_, bucket_of(at));
    } else if (before(at, order, top_)) {
      push_heap(top_);
      top_ = {at, order, payload, slot};
    } else {
      place(at, order, payload, slot);
    }
    if (++pushes_ == REVIEW_AFTER) [[unlikely]]
      review();
  }

  void place(Nanos at, std::uint64_t order, std::uint32_t payload, std::uint32_t slot) {
    const std::uint64_t bucket = bucket_of(at);
    if (bucket > current_ && bucket - current_ < BUCKETS) {
      put_in_wheel(bucket, at, order, payload, slot);
    } else {
      ++(bucket > current_ ? far_ : late_);
      push_heap({at, order, payload, slot});
    }
  }

  void put_in_wheel(std::uint64_t bucket, Nanos at, std::uint64_t order, std::uint32_t payload,
                    std::uint32_t slot) {
    std::uint32_t number = free_node_;
    if (number == NONE) {
      number = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
    } else {
      free_node_ = nodes_[number].next;
    }
    const auto bin = static_cast<std::uint32_t>(bucket % BUCKETS);
    Node& node = nodes_[number];
    node.entry.at = at;
    node.entry.order = order;
    node.entry.payload = payload;
    node.entry.slot = slot;
    node.next = heads_[bin];
    heads_[bin] = number;
    occupied_[bin / 64] |= std::uint64_t{1} << (bin % 64);
    ++in_wheel_;
    if (bucket < next_bucket_) next_bucket_ = bucket;
  }

  // The next event leaves its place and becomes top_.
  void take_top() {
    if (!due_.empty() && (heap_.empty() || before(due_.back(), heap_[0]))) {
      top_ = due_.back();
      due_.pop_back();
    } else {
      take_from_elsewhere();
    }
    if (cancelled_ != 0) skip_cancelled();
  }

  void skip_cancelled() {
    while (size_ != 0 && cancelled_ != 0 && cancelled(top_)) {
      free_slot(top_.slot);
      --cancelled_;
      --size_;
      take_from_elsewhere();
    }
  }

  void take_from_elsewhere();  // the lesser of the due bucket's, the wheel's and the heap's first
  bool take_from_wheel();
  std::uint64_t first_occupied() const;
  void review();  // are the buckets too wide or too narrow?
  void rebuild(int shift);

  void push_heap(const Entry& entry);
  void pop_heap();
  void sift_down(std::size_t hole, const Entry& entry);

  static constexpr std::uint32_t REVIEW_AFTER = 4096;
  static constexpr std::uint64_t NO_BUCKET = ~std::uint64_t{0};

  Entry top_;                // the next event, in none of the places below
  std::size_t size_ = 0;     // top_ included
  std::vector<Entry> due_;   // of bucket current_, the next one last
  std::vector<Entry> heap_;  // late and far ones
  std::uint64_t current_ = 0;
  std::uint64_t next_bucket_ = NO_BUCKET;  // first occupied of the wheel
  int shift_ = FIRST_SHIFT;
  std::size_t in_wheel_ = 0;
  std::array<std::uint32_t, BUCKETS> heads_;
  std::array<std::uint64_t, BUCKETS / 64> occupied_{};
  std::vector<Node> nodes_;
  std::uint32_t free_node_ = NONE;
  std::vector<Slot> slots_;
  std::uint32_t free_slot_ = NONE;
  std::size_t cancelled_ = 0;
  std::uint64_t sequence_ = 0;
  // Since the last review.
  std::uint32_t pushes_ = 0, far_ = 0, late_ = 0, loads_ = 0, loaded_ = 0;
};

}  // namespace halfopen::sim
