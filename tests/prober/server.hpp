// A loopback server that does what its script says, connection by connection, and remembers what it was
// asked. It runs on threads of its own; every wait in it ends with its destructor, and each connection after
// Options::limit. All members may be called from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/prober/certificates.hpp"

namespace halfopen::testing {

using Clock = std::chrono::steady_clock;
using Millis = std::chrono::milliseconds;

// What a server does next with a connection.
struct Step {
  enum class Kind : std::uint8_t {
    read_request,  // up to the blank line
    send,          // all of `text` at once; with a pause, a byte at a time and the pause between them
    wait,          // for the pause
    stall,         // reads on, and says nothing, until the client leaves
    never_read,    // the same without reading
    drop,          // closes without a word: of TLS neither
    reset,         // so that the client reads "connection reset"
  };
  Kind kind;
  std::string text{};
  Millis pause{0};
};

// At its end the connection is closed as it should be.
using Script = std::vector<Step>;

inline Step read_request() { return {Step::Kind::read_request}; }
inline Step send(std::string text) { return {Step::Kind::send, std::move(text)}; }
inline Step send_bytewise(std::string text, Millis pause) {
  return {Step::Kind::send, std::move(text), pause};
}
inline Step wait_for(Millis pause) { return {Step::Kind::wait, "", pause}; }
inline Step stall() { return {Step::Kind::stall}; }
inline Step never_read() { return {Step::Kind::never_read}; }
inline Step drop() { return {Step::Kind::drop}; }
inline Step reset() { return {Step::Kind::reset}; }

inline Script answer_with(const std::string& text) { return {read_request(), send(text)}; }
Script answer(unsigned status);  // with a short body

// What one connection brought.
struct Visit {
  Clock::time_point at;                   // when it was accepted
  std::string received;                   // all of it, as deciphered
  bool secured = false;                   // the TLS handshake was completed
  std::optional<std::string> asked_for;   // the server name in its hello
  std::vector<std::string> protocols;     // what it offered to speak: ALPN
  std::optional<Clock::time_point> left;  // when it was seen to have gone, by itself
};

class Server {
 public:
  struct Options {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;              // 0: any; otherwise one that the test holds as a Port
    std::optional<Identity> identity{};  // then it speaks TLS
    Millis limit{20'000};                // of one connection
  };

  // The n-th connection gets the n-th script, and all further ones the last.
  Server(std::vector<Script> scripts, Options options);
  explicit Server(std::vector<Script> scripts) : Server(std::move(scripts), Options{}) {}
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;

  // Connections from now on all get this one.
  void from_now_on(Script script);

  // Who connects is refused, the port stays this server's; and back.
  void stop_listening();
  void listen_again();

  std::vector<Visit> visits() const;  // in the order they were accepted
  std::size_t count() const;

  // Waits, ten seconds at most, and answers whether it came to that.
  bool wait_until(const std::function<bool(const std::vector<Visit>&)>& so) const;
  bool wait_for_visits(std::size_t n) const;
  bool wait_until_idle() const;  // no connection open and none of their threads there

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halfopen::testing
