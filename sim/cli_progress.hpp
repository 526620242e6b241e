// How far long runs are: one line on a terminal's standard error, from the third second on, some four times a
// second, gone at the end. Elsewhere it costs nothing and says nothing.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sim/scenario.hpp"

namespace halfopen::sim {

class Progress {
 public:
  // `label` is the beginning of the line: "run x.json". `total` is the virtual time of all runs together.
  // Made and destroyed by the thread that writes; runs may begin and end in any thread.
  Progress(std::string_view label, Nanos total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // One run under way, of that much virtual time; all of it counts as done when this ends.
  class Run {
   public:
    Run(Progress& progress, Nanos duration);
    ~Run();
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    std::atomic<Nanos>* reached() { return &reached_; }  // for RunHooks

   private:
    friend class Progress;
    Progress& progress_;
    Nanos duration_;
    std::atomic<Nanos> reached_{0};
  };

 private:
  void watch(std::size_t width);
  std::string line(std::size_t width) const;

  std::string label_;
  Nanos total_;
  std::mutex lock_;
  std::condition_variable ended_;
  bool end_ = false;
  Nanos done_ = 0;
  std::vector<Run*> running_;
  std::thread watcher_;  // only where somebody could see the line
};

// Their sum. Saturates.
Nanos total_duration(const std::vector<Nanos>& durations);

// "x.json" or "3 scenarios", for a label.
std::string some_files(const std::vector<std::string>& files);

}  // namespace halfopen::sim
