#include "sim/cli_stop.hpp"

#include <csignal>
#include <utility>

namespace halfopen::sim {

namespace {

constexpr int LEAVE_AT = 3;

}  // namespace

StopOnInterrupt::StopOnInterrupt(std::function<void()> on_hangup) : on_hangup_(std::move(on_hangup)) {
  sigemptyset(&awaited_);
  for (const int signal : INTERRUPTS) {
    // A blocked signal is handed to whoever awaits it even if it is ignored, as nohup has it.
    struct sigaction now {};
    const bool is_call = signal == SIGHUP && on_hangup_;
    if (!is_call && (sigaction(signal, nullptr, &now) != 0 || now.sa_handler == SIG_IGN)) continue;
    sigaddset(&awaited_, signal);
    if (first_ == 0) first_ = signal;
  }
  if (first_ != 0) waiter_.emplace([this] { wait_for_them(); });
}

StopOnInterrupt::~StopOnInterrupt() {
  if (!waiter_) return;
  over_ = true;
  pthread_kill(waiter_->native_handle(), first_);  // to that thread alone, which takes it as the end
  waiter_->join();
  // One that waits to be delivered, or comes yet, wants the end that has come: systemd sends SIGHUP after
  // SIGTERM, and it would take the place of the exit status.
  for (const int signal : INTERRUPTS) {
    if (sigismember(&awaited_, signal) == 1) std::signal(signal, SIG_IGN);
  }
}

void StopOnInterrupt::wait_for_them() {
  for (int seen = 0;;) {
    int signal = 0;
    sigwait(&awaited_, &signal);  // fails for no set that holds signals alone
    if (over_) return;
    if (signal == SIGHUP && on_hangup_) {
      on_hangup_();
      continue;
    }
    if (++seen == 1) {
      signal_ = signal;
      source_.request_stop();
    } else if (seen == LEAVE_AT) {
      pthread_sigmask(SIG_UNBLOCK, &awaited_, nullptr);
      raise(signal);  // in this thread, whose handler does not return
    }
  }
}

}  // namespace halfopen::sim
