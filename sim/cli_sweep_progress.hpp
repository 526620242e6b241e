// How far a long sweep is, on a terminal: one line of standard error that is written over and at last erased.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

namespace halfopen::sim {

class SweepProgress {
 public:
  // Shows nothing unless `wanted` and standard error is a terminal.
  explicit SweepProgress(bool wanted);
  SweepProgress(const SweepProgress&) = delete;
  SweepProgress& operator=(const SweepProgress&) = delete;
  ~SweepProgress();

  // `done` of `total` runs. Called often, from one thread; writes twice a second, from two seconds on.
  void show(std::uint64_t done, std::uint64_t total);
  void erase();

 private:
  void count_time();

  bool shown_ = false;
  std::uint64_t shown_at_ = 0;
  std::atomic<std::uint64_t> ticks_{0};  // half seconds since the beginning
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::optional<std::jthread> timer_;
};

}  // namespace halfopen::sim
