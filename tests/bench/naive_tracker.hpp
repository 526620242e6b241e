// What halfopen's windows are compared with: a tracker that keeps one list entry an observation and counts
// the whole list again on every failure. The obvious way, and what many gateways ship.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

#include "core/params.hpp"
#include "core/time.hpp"

namespace halfopen::bench {

class NaiveTracker {
 public:
  // Returns whether the failure rules are met.
  bool report(const HealthParams& params, Instant now, bool failure) {
    const std::lock_guard lock(mutex_);
    observations_.push_back({now, failure});
    while ((now - observations_.front().at).ms >= params.window_ms) observations_.pop_front();
    streak_ = failure ? streak_ + 1 : 0;
    if (!failure) return false;
    if (streak_ >= params.consecutive_failures) return true;
    if (observations_.size() < params.failure_min_volume) return false;
    const auto failures = std::count_if(observations_.begin(), observations_.end(),
                                        [](const Observation& seen) { return seen.failure; });
    return static_cast<double>(failures) / static_cast<double>(observations_.size()) >= params.failure_ratio;
  }

  // What the entries take, without what the list itself adds.
  std::size_t window_bytes() const { return observations_.size() * sizeof(Observation); }

 private:
  struct Observation {
    Instant at;
    bool failure;
  };

  std::mutex mutex_;
  std::uint32_t streak_ = 0;
  std::deque<Observation> observations_;
};

}  // namespace halfopen::bench
