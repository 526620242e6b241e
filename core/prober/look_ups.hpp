// Name look-ups that may block for as long as they like, on threads of their own: there is no way to end a
// getaddrinfo, so a probe that runs out of time leaves its look-up behind. A look-up of a name that is
// already under way is shared, so a resolver that hangs for ever costs one thread a name, MAX_THREADS at
// most.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/prober/probe.hpp"

namespace halfopen {

// The families take turns, beginning with that of the first address; within a family the order stays (RFC
// 8305, section 4, with a First Address Family Count of 1).
std::vector<std::string> interleaved(const std::vector<std::string>& addresses);

class LookUps {
 public:
  // On the look-up's thread; the exception is what left the resolver, or null.
  using Done = std::function<void(const Addresses&, std::exception_ptr)>;

  explicit LookUps(Resolve resolve);
  ~LookUps();  // waits for nobody; who is still looking up ends by itself, and its Done is dropped

  LookUps(const LookUps&) = delete;
  LookUps& operator=(const LookUps&) = delete;

  // More names than this at once wait for one another.
  static constexpr std::size_t MAX_THREADS = 512;

  // `asker`: who waits; once it is gone, `done` is dropped. Thread-safe. Throws std::system_error where there
  // is no thread to be had and none at work already.
  void start(const std::string& host, std::weak_ptr<const void> asker, Done done);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace halfopen
