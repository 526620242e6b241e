// Makes things on several threads and hands them over one by one, in order, on the calling thread: what comes
// out does not depend on how many threads there are or which of them is faster.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "sim/interrupts.hpp"

namespace halfopen::sim {

// Where makers put and the caller takes. All members may be called from any thread.
template <class T>
class OrderedSlots {
 public:
  // At most `ahead` things wait for one that takes longer: the rest of memory is the simulations'.
  OrderedSlots(std::uint64_t count, std::size_t ahead) : slots_(ahead), end_(count) {}

  // The next index to make, once there is room for it; none when there is no more to do.
  std::optional<std::uint64_t> take() {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [this] { return stopped_ || next_ >= end_ || next_ < delivered_ + slots_.size(); });
    if (stopped_ || next_ >= end_) return std::nullopt;
    return next_++;
  }

  void put(std::uint64_t index, T&& thing) {
    const std::lock_guard lock(mutex_);
    slots_[index % slots_.size()] = std::move(thing);
    if (index == delivered_) ready_.notify_one();
  }

  // Nothing from `index` on will be handed over. Indices are taken in order, so all before it still come.
  void fail(std::uint64_t index, std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (index >= end_) return;
    end_ = index;
    error_ = std::move(error);
    ready_.notify_one();
    room_.notify_all();
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    room_.notify_all();
  }

  // All that is next in order, after waiting for it for a moment; possibly nothing. False: that was all.
  // Throws what a maker threw, once everything before it has been handed over.
  bool next(std::vector<T>& batch, std::chrono::milliseconds moment) {
    batch.clear();
    std::unique_lock lock(mutex_);
    ready_.wait_for(lock, moment, [this] { return at_end() || slot().has_value(); });
    while (!at_end() && slot().has_value()) {
      batch.push_back(std::move(*slot()));
      slot().reset();
      ++delivered_;
    }
    if (!batch.empty()) room_.notify_all();
    if (batch.empty() && at_end() && error_) std::rethrow_exception(error_);
    return !batch.empty() || !at_end();
  }

 private:
  bool at_end() const { return delivered_ >= end_; }
  std::optional<T>& slot() { return slots_[delivered_ % slots_.size()]; }

  std::mutex mutex_;
  std::condition_variable room_, ready_;
  std::vector<std::optional<T>> slots_;  // a ring: index modulo its size
  std::uint64_t end_, next_ = 0, delivered_ = 0;
  bool stopped_ = false;
  std::exception_ptr error_;
};

// How many threads "as many as there are processors" (0) is.
inline unsigned thread_count(unsigned wanted) {
  if (wanted > 0) return wanted;
  const unsigned processors = std::thread::hardware_concurrency();
  return processors > 0 ? processors : 1;
}

// `make_maker()` is called once in each thread and answers a callable `T(std::uint64_t index)`, which is that
// thread's own. `hand_over(T&&)` gets the things of 0 … count - 1 on the calling thread. `pause()` is called
// there too, whenever nothing more is ready and at least ten times a second unless hand_over takes longer;
// false ends it all. Returns when every maker has finished what it had begun; throws what the first of them
// threw, in the order of indices.
template <class T, class MakeMaker, class HandOver>
void in_order(std::uint64_t count, unsigned threads, MakeMaker make_maker, HandOver hand_over,
              const std::function<bool()>& pause) {
  constexpr std::size_t AHEAD = 4096;
  constexpr std::chrono::milliseconds MOMENT{50};
  OrderedSlots<T> slots(count, AHEAD);
  const auto work = [&slots, &make_maker] {
    std::optional<std::uint64_t> index = slots.take();
    if (!index) return;
    try {
      auto make = make_maker();
      for (; index; index = slots.take()) slots.put(*index, make(*index));
    } catch (...) {
      slots.fail(*index, std::current_exception());
    }
  };
  std::vector<std::jthread> workers;
  struct Stopper {  // before the threads are joined, whatever is thrown
    OrderedSlots<T>& slots;
    ~Stopper() { slots.stop(); }
  } const stopper{slots};
  {
    const InterruptsBlocked in_the_workers;
    for (std::uint64_t n = 0; n < thread_count(threads) && n < count; ++n) {
      try {
        workers.emplace_back(work);
      } catch (const std::system_error&) {
        if (workers.empty()) throw;  // fewer threads than wanted are enough
        break;
      }
    }
  }
  std::vector<T> batch;
  while (slots.next(batch, MOMENT)) {
    for (T& thing : batch) hand_over(std::move(thing));
    if (pause && !pause()) return;
  }
}

}  // namespace halfopen::sim
