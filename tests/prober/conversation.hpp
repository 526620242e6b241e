// One accepted connection of a Server: its script, step by step.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <optional>
#include <string_view>

#include "tests/prober/server.hpp"
#include "tests/prober/sockets.hpp"

namespace halfopen::testing {

// What a conversation hears, for the server's record.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void hello(std::optional<std::string> asked_for, std::vector<std::string> protocols) = 0;
  virtual void secured() = 0;
  virtual void received(std::string_view bytes) = 0;
  virtual void left() = 0;
};

class Conversation {
 public:
  // Ends early when `stop` becomes readable or `deadline` has passed. `context`: null for plain text.
  Conversation(Fd socket, int stop, Clock::time_point deadline, SSL_CTX* context, Listener& listener);
  void run(const Script& script);

 private:
  bool shake_hands();
  bool step(const Step& step);
  bool read_request();
  bool receive();                     // some bytes; false: there is nobody, or no time, to receive from
  bool send(std::string_view bytes);  // all of them
  bool pause(Millis length);
  bool wait_for_socket(short events, Clock::time_point until);  // events 0: only for time to pass
  bool wait_for_ssl(int result);
  void close_as_it_should_be();

  Fd socket_;
  int stop_;
  Clock::time_point deadline_;
  std::unique_ptr<SSL, void (*)(SSL*)> ssl_{nullptr, SSL_free};
  Listener& listener_;
  std::string unread_;  // of the current request
  bool ended_ = false;  // by `stop` or the deadline, not by the client
};

// A context that shows `identity`, speaks http/1.1 to who offers it and tells the Listener in its app data
// of every hello.
std::shared_ptr<SSL_CTX> server_context(const Identity& identity);

}  // namespace halfopen::testing
