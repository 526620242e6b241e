#include "sim/event_queue.hpp"

#include <algorithm>
#include <bit>

namespace halfopen::sim {

void EventQueue::choose_top() {
  // The next bucket is sorted when nothing is due before it, and not earlier: what still comes in before it
  // would all go through the heap.
  while (due_.empty() && in_wheel_ != 0 && (heap_.empty() || bucket_of(heap_[0].at) >= next_bucket_)) load_due();
  if (due_.empty() && heap_.empty()) {
    top_ = Entry{};
    return;
  }
  top_from_heap_ = due_.empty() || (!heap_.empty() && before(heap_[0], due_.back()));
  top_ = top_from_heap_ ? heap_[0] : due_.back();
  // An idle wheel follows the time, or all that comes would be too far for it.
  if (in_wheel_ == 0 && due_.empty()) current_ = std::max(current_, bucket_of(top_.at));
}

void EventQueue::load_due() {
  current_ = next_bucket_;
  const auto place = static_cast<std::uint32_t>(current_ % BUCKETS);
  for (std::uint32_t node = heads_[place]; node != NONE;) {
    due_.push_back(nodes_[node].entry);
    const std::uint32_t next = nodes_[node].next;
    nodes_[node].next = free_node_;
    free_node_ = node;
    node = next;
  }
  heads_[place] = NONE;
  occupied_[place / 64] &= ~(std::uint64_t{1} << (place % 64));
  in_wheel_ -= due_.size();
  ++loads_;
  loaded_ += static_cast<std::uint32_t>(due_.size());
  if (due_.size() > 1) {
    std::sort(due_.begin(), due_.end(), [](const Entry& a, const Entry& b) { return before(b, a); });
  }
  next_bucket_ = in_wheel_ == 0 ? NO_BUCKET : first_occupied();
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
  if ((late_ > eighth || per_load > 8) && shift_ > 6) --shift;
  else if (far_ > eighth && per_load < 4 && shift_ < 40) ++shift;
  pushes_ = far_ = late_ = loads_ = loaded_ = 0;
  // Rebuilding costs the size; a queue larger than what a review saw waits its turn.
  if (shift != shift_ && size_ <= REVIEW_AFTER * 4) rebuild(shift);
}

void EventQueue::rebuild(int shift) {
  std::vector<Entry> all(heap_);
  all.insert(all.end(), due_.begin(), due_.end());
  for (std::uint32_t& head : heads_) {
    for (std::uint32_t node = head; node != NONE; node = nodes_[node].next) all.push_back(nodes_[node].entry);
    head = NONE;
  }
  occupied_.fill(0);
  nodes_.clear();
  free_node_ = NONE;
  heap_.clear();
  due_.clear();
  in_wheel_ = size_ = 0;
  next_bucket_ = NO_BUCKET;
  shift_ = shift;
  current_ = top_.at == NEVER ? 0 : bucket_of(top_.at);
  cancelled_ = 0;
  for (const Entry& entry : all) {
    if (cancelled(entry)) {
      free_slot(entry.slot);
      continue;
    }
    ++size_;
    place(entry);
  }
  pushes_ = far_ = late_ = loads_ = loaded_ = 0;
  choose_top();
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
