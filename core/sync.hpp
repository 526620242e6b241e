// The synchronisation policies. Every machine is written once over one of them:
//   Threads  real atomics and a real mutex: what a gateway ships;
//   Single   the same verbs on plain memory: what the simulator runs, and a single-threaded event loop may.
// A policy offers Atomic<T> (load, store, exchange, fetch_add, fetch_sub, compare_exchange_*) and Mutex
// (lock, unlock). tests/property/sync_differential_test.cpp shows that both give the same answers.
#pragma once

#include <atomic>
#include <cstdint>

namespace halfopen {

// A mutex of one word: uncontended it costs one compare-and-swap and one exchange, contended it sleeps in
// the kernel through std::atomic::wait. A std::mutex costs two library calls where this costs none, and the
// critical sections here are tens of nanoseconds; a pure spin lock would burn a whole time slice when its
// holder is descheduled.
class WordMutex {
 public:
  void lock() noexcept {
    std::uint32_t expected = FREE;
    if (word_.compare_exchange_strong(expected, HELD, std::memory_order_acquire, std::memory_order_relaxed))
      return;
    lock_contended();
  }

  void unlock() noexcept {
    if (word_.exchange(FREE, std::memory_order_release) == WAITED_FOR) word_.notify_one();
  }

 private:
  static constexpr std::uint32_t FREE = 0, HELD = 1, WAITED_FOR = 2;

  // A holder is in for tens of nanoseconds, so waiting a while is far cheaper than the kernel, for both; only
  // a holder that was descheduled is worth sleeping for.
  void lock_contended() noexcept {
    for (int round = 0; round < SPIN_ROUNDS; ++round) {
      for (int pause = 0; pause < (round < 6 ? 1 << round : 64); ++pause) relax();
      std::uint32_t expected = FREE;
      if (word_.load(std::memory_order_relaxed) == FREE &&
          word_.compare_exchange_strong(expected, HELD, std::memory_order_acquire,
                                        std::memory_order_relaxed)) {
        return;
      }
    }
    while (word_.exchange(WAITED_FOR, std::memory_order_acquire) != FREE) {
      word_.wait(WAITED_FOR, std::memory_order_relaxed);
    }
  }

  // Tells the processor that this is a waiting loop.
  static void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  static constexpr int SPIN_ROUNDS = 200;  // some tens of microseconds

  std::atomic<std::uint32_t> word_{FREE};
};

struct Threads {
  template <class T>
  using Atomic = std::atomic<T>;
  using Mutex = WordMutex;
};

// Plain memory under the verbs of std::atomic. Not thread-safe, which is its point.
template <class T>
class PlainAtomic {
 public:
  constexpr PlainAtomic() noexcept = default;
  constexpr PlainAtomic(T value) noexcept : value_(value) {}  // NOLINT(google-explicit-constructor)
  PlainAtomic(const PlainAtomic&) = delete;
  PlainAtomic& operator=(const PlainAtomic&) = delete;

  T load(std::memory_order = std::memory_order_seq_cst) const noexcept { return value_; }
  void store(T value, std::memory_order = std::memory_order_seq_cst) noexcept { value_ = value; }

  T exchange(T value, std::memory_order = std::memory_order_seq_cst) noexcept {
    const T before = value_;
    value_ = value;
    return before;
  }
  T fetch_add(T by, std::memory_order = std::memory_order_seq_cst) noexcept {
    const T before = value_;
    value_ = static_cast<T>(value_ + by);
    return before;
  }
  T fetch_sub(T by, std::memory_order = std::memory_order_seq_cst) noexcept {
    const T before = value_;
    value_ = static_cast<T>(value_ - by);
    return before;
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order = std::memory_order_seq_cst,
                               std::memory_order = std::memory_order_seq_cst) noexcept {
    if (value_ != expected) {
      expected = value_;
      return false;
    }
    value_ = desired;
    return true;
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success = std::memory_order_seq_cst,
                             std::memory_order failure = std::memory_order_seq_cst) noexcept {
    return compare_exchange_strong(expected, desired, success, failure);
  }

 private:
  T value_{};
};

struct Single {
  template <class T>
  using Atomic = PlainAtomic<T>;
  struct Mutex {
    void lock() noexcept {}
    void unlock() noexcept {}
  };
};

// Holds a policy's mutex for a scope. std::lock_guard would do; this one needs no <mutex>.
template <class Mutex>
class Guard {
 public:
  explicit Guard(Mutex& mutex) noexcept : mutex_(mutex) { mutex_.lock(); }
  ~Guard() { mutex_.unlock(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace halfopen
