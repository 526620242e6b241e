// Who takes the interrupts of a person: the first thread alone, which knows what is half-written.
#pragma once

#include <array>
#include <cerrno>
#include <csignal>

namespace halfopen::sim {

inline constexpr std::array INTERRUPTS = {SIGINT, SIGTERM, SIGHUP};

// While one of these lives, this thread takes no interrupt, nor does any thread started by it. Every thread
// but the first must be started so: the handler then runs between two steps of the thread that writes files.
class InterruptsBlocked {
 public:
  InterruptsBlocked() {
    sigset_t interrupts;
    sigemptyset(&interrupts);
    for (const int signal : INTERRUPTS) sigaddset(&interrupts, signal);
    pthread_sigmask(SIG_BLOCK, &interrupts, &before_);
  }
  ~InterruptsBlocked() {
    const int error = errno;  // a caller may yet want to say what went wrong
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  InterruptsBlocked(const InterruptsBlocked&) = delete;
  InterruptsBlocked& operator=(const InterruptsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace halfopen::sim
