// A synchronisation policy on plain memory in which something may happen right before or after one of the
// operations, as by the hand of another thread: races that a stress test meets once a week, met every time.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "core/sync.hpp"

namespace halfopen::testing {

struct Meddled {
  // Each happens once, at the next fetch_add or strong compare-and-swap of any atomic.
  static inline std::function<void()> before_count, before_swap, after_swap;

  static void happen(std::function<void()>& what) {
    if (const auto once = std::exchange(what, nullptr)) once();
  }

  template <class T>
  class Atomic : public PlainAtomic<T> {
   public:
    using PlainAtomic<T>::PlainAtomic;

    T fetch_add(T by, std::memory_order order) {
      happen(before_count);
      return PlainAtomic<T>::fetch_add(by, order);
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                                 std::memory_order failure) {
      happen(before_swap);
      const bool swapped = PlainAtomic<T>::compare_exchange_strong(expected, desired, success, failure);
      happen(after_swap);
      return swapped;
    }
  };

  using Mutex = Single::Mutex;
};

}  // namespace halfopen::testing
