// What the tests of the prober have in common: targets, verdicts as short texts, how late a machine may be.
#pragma once

#include <chrono>
#include <cstdint>
#include <latch>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <utility>
#include <vector>

#include "core/prober/probe.hpp"
#include "tests/prober/server.hpp"

namespace halfopen::testing {

// For probes that are to end by themselves: nothing in a test takes so long.
inline constexpr std::uint64_t LONG_MS = 15'000;
// How much later than planned a thing may happen on two busy cores under a sanitizer. Nothing that a test
// tells apart by an upper bound comes sooner than this.
inline constexpr Millis SLACK{5'000};

inline ProbeTarget target_at(const std::string& address, std::uint16_t port,
                             std::uint64_t timeout_ms = LONG_MS) {
  ProbeTarget target;
  target.address = address;
  target.port = port;
  target.timeout_ms = timeout_ms;
  return target;
}

inline ProbeTarget target_at(const Server& server, std::uint64_t timeout_ms = LONG_MS) {
  return target_at("127.0.0.1", server.port(), timeout_ms);
}

// For names: these addresses, whatever is asked.
inline Resolve found(std::vector<std::string> addresses) {
  return [addresses = std::move(addresses)](const std::string&) { return Addresses{addresses, ""}; };
}

// A look-up that hangs until its gate's destructor opens it. Who waits there owns a share of
// it, as whoever asked may be gone.
class Gate {
 public:
  Gate() = default;
  ~Gate() { state_->opened.count_down(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  Resolve resolve() const {
    return [state = state_](const std::string&) {
      state->waiting.release();
      state->opened.wait();
      return Addresses{{"127.0.0.1"}, ""};
    };
  }
  bool wait_until_asked() const { return state_->waiting.try_acquire_for(std::chrono::seconds(10)); }

 private:
  struct State {
    std::latch opened{1};
    std::counting_semaphore<> waiting{0};
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

// "ok 200", "status 503", "refused".
inline std::string told(const ProbeReport& report) {
  std::string text = to_string(report.end);
  if (report.status != 0) text += " " + std::to_string(report.status);
  return text;
}

// The phases that have a time: "look_up connect tls response".
inline std::string phases(const ProbeReport& report) {
  std::string text;
  const auto add = [&text](const std::optional<ProbeTime>& phase, const char* name) {
    if (phase) text += (text.empty() ? "" : " ") + std::string(name);
  };
  add(report.look_up, "look_up");
  add(report.connect, "connect");
  add(report.tls, "tls");
  add(report.response, "response");
  return text;
}

// Whether it lasted the time limit it had, and not much longer.
inline bool took(const ProbeReport& report, std::uint64_t limit_ms) {
  return report.total >= Millis(limit_ms) && report.total < Millis(limit_ms) + SLACK;
}

inline std::string at(const std::string& address, std::uint16_t port) {
  return (address.find(':') == std::string::npos ? address : "[" + address + "]") + ":" +
         std::to_string(port);
}

}  // namespace halfopen::testing
