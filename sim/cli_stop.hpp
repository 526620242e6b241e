// An interrupt as a request to come to an end, for commands that wait for the world outside: what has been
// seen by then is still told.
#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

#include "sim/interrupts.hpp"

namespace halfopen::sim {

// While it lives, the first interrupt requests a stop, and the third leaves at once, as the first does
// otherwise: whoever waits for a reader that does not read can still be ended. The second is let pass,
// because timeout(1) sends each twice. When it is over interrupts are ignored: what is left is to leave, with
// the status that is known by then. For the first thread, which starts all others while this lives or with
// interrupts blocked.
class StopOnInterrupt {
 public:
  // With `on_hangup` a SIGHUP is no interrupt but a call of it, on the thread beside; even where nohup has it
  // ignored, which only wants that it does not end us.
  explicit StopOnInterrupt(std::function<void()> on_hangup = {});
  ~StopOnInterrupt();
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;

  // Its callbacks run on a thread beside, with interrupts blocked.
  std::stop_token token() const { return source_.get_token(); }

  // Which one came, or 0. 128 + its number is the exit status.
  int signal() const { return signal_; }

 private:
  void wait_for_them();

  std::function<void()> on_hangup_;
  InterruptsBlocked blocked_;
  sigset_t awaited_{};
  int first_ = 0;  // of those awaited; 0: all are ignored
  std::atomic<int> signal_ = 0;
  std::atomic<bool> over_ = false;
  std::stop_source source_;
  std::optional<std::thread> waiter_;
};

}  // namespace halfopen::sim
