#include "sim/event_queue.hpp"

#include <algorithm>
#include <bit>

namespace halfopen::sim {

void EventQueue::take_from_elsewhere() {
  if (size_ == 0) {
    top_ = Entry{};
    return;
  }
  // The next bucket is opened when nothing is due before it, and no earlier: what still comes in before it
  // would all go through the heap.
  if (due_.empty() && in_wheel_ != 0 && (heap_.empty() || bucket_of(heap_[0].at) >= next_bucket_)) {
    if (take_from_wheel()) return;
  }
  if (!due_.empty() && (heap_.empty() || before(due_.back(), heap_[0]))) {
    top_ = due_.back();
    due_.pop_back();
    return;
  }
  top_ = heap_[0];
  pop_heap();
  // An idle wheel follows the time, or all that comes would be too far for it.
  if (in_wheel_ == 0 && due_.empty()) current_ = std::max(current_, bucket_of(top_.at));
}

// Opens the next bucket. True if it held just the next event, which then went straight to top_.
bool EventQueue::take_from_wheel() {
  current_ = next_bucket_;
  const auto bin = static_cast<std::uint32_t>(current_ % BUCKETS);
  std::uint32_t node = heads_[bin];
  heads_[bin] = NONE;
  occupied_[bin / 64] &= ~(std::uint64_t{1} << (bin % 64));
  ++loads_;
  std::uint32_t loaded = 0;
  const bool alone = nodes_[node].next == NONE && (heap_.empty() || before(nodes_[node].entry, heap_[0]));
  if (alone) top_ = nodes_[node].entry;
  while (node != NONE) {
    if (!alone) due_.push_back(nodes_[node].entry);
    const std::uint32_t next = nodes_[node].next;
    nodes_[node].next = free_node_;
    free_node_ = node;
    node = next;
    ++loaded;
  }
  in_wheel_ -= loaded;
  loaded_ += loaded;
  next_bucket_ = in_wheel_ == 0 ? NO_BUCKET : first_occupied();
  if (loaded > 1)
    std::sort(due_.begin(), due_.end(), [](const Entry& a, const Entry& b) { return before(b, a); });
  return alone;
}

// The first occupied bucket after current_; there is one.
std::uint64_t EventQueue::first_occupied() const {
  const std::uint64_t from = current_ + 1;
  const auto start = static_cast<std::uint32_t>(from % BUCKETS);
  std::uint64_t word = occupied_[start / 64] >> (start % 64);
  if (word != 0) return from + static_cast<std::uint64_t>(std::countr_zero(word));
  std::uint64_t skipped = 64 - start % 64;
  for (std::uint32_t i = start / 64 + 1;; ++i) {
    word = occupied_[i % (BUCKETS / 64)];
    if (word != 0) return from + skipped + static_cast<std::uint64_t>(std::countr_zero(word));
    skipped += 64;
  }
}

void EventQueue::review() {
  const std::uint32_t eighth = pushes_ / 8;
  const std::uint32_t per_load = loads_ == 0 ? 0 : loaded_ / loads_;
  int shift = shift_;
  if ((late_ > eighth || per_load > 8) && shift_ > 6)
    --shift;
  else if (far_ > eighth && per_load < 4 && shift_ < 40)
    ++shift;
  pushes_ = far_ = late_ = loads_ = loaded_ = 0;
  // Rebuilding costs the size; a queue larger than what a review saw waits its turn.
  if (shift != shift_ && size_ <= std::size_t{REVIEW_AFTER} * 4) rebuild(shift);
}

void EventQueue::rebuild(int shift) {
  std::vector<Entry> all(heap_);
  all.insert(all.end(), due_.begin(), due_.end());
  for (std::uint32_t& head : heads_) {
    for (std::uint32_t node = head; node != NONE; node = nodes_[node].next) all.push_back(nodes_[node].entry);
    head = NONE;
  }
  if (size_ != 0) all.push_back(top_);
  const std::uint64_t now = size_ != 0 ? top_.at : 0;
  occupied_.fill(0);
  nodes_.clear();
  free_node_ = NONE;
  heap_.clear();
  due_.clear();
  in_wheel_ = size_ = 0;
  next_bucket_ = NO_BUCKET;
  shift_ = shift;
  current_ = bucket_of(now);
  cancelled_ = 0;
  for (const Entry& entry : all) {
    if (cancelled(entry)) {
      free_slot(entry.slot);
      continue;
    }
    ++size_;
    place(entry.at, entry.order, entry.payload, entry.slot);
  }
  pushes_ = far_ = late_ = loads_ = loaded_ = 0;
  take_from_elsewhere();
}

void EventQueue::push_heap(const Entry& entry) {
  heap_.push_back(entry);
  std::size_t hole = heap_.size() - 1;
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / 4;
    if (!before(entry, heap_[parent])) break;
    heap_[hole] = heap_[parent];
    hole = parent;
  }
  heap_[hole] = entry;
}

void EventQueue::pop_heap() {
  const Entry last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) sift_down(0, last);
}

void EventQueue::sift_down(std::size_t hole, const Entry& entry) {
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

}  // namespace halfopen::sim
