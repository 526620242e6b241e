// Threads of a library inside somebody's program: they take no signal that is sent to the process, which
// stays its own threads' business. What a thread brings upon itself (a crash) still meets the program's
// handlers.
#pragma once

#include <csignal>
#include <thread>
#include <utility>

namespace halfopen {

// Throws std::system_error where there is no thread to be had.
template <class Work>
std::thread quiet_thread(Work&& work) {
  struct Mask {
    sigset_t before{};
    Mask() {
      sigset_t all;
      sigfillset(&all);
      for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF})
        sigdelset(&all, own);
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~Mask() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  };
  const Mask masked;
  return std::thread(std::forward<Work>(work));
}

}  // namespace halfopen
