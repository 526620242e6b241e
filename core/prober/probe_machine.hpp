// One probe from its look-up to its verdict, on somebody's event loop. An internal of the prober.
#pragma once

#include <array>
#include <asio.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <system_error>

#include "core/prober/look_ups.hpp"
#include "core/prober/probe.hpp"
#include "core/prober/race.hpp"
#include "core/prober/tls.hpp"
#include "core/status_line.hpp"

namespace halfopen {

// What an exception says, on one line.
std::string sentence_of(const std::exception_ptr& thrown);

// Why no probe of this target can be made, as a sentence; empty where one can. What validate() refuses of an
// endpoint must not reach a request or a certificate's check by way of the library either.
std::string wrong_with(const ProbeTarget& target);

// What it needs of its surroundings, which outlive it.
struct ProbeRoom {
  std::shared_ptr<asio::io_context> context;  // shared with look-ups that answer late
  LookUps* look_ups;
};

class Probe : public std::enable_shared_from_this<Probe> {
 public:
  using Done = std::function<void(ProbeReport)>;  // once, on the loop's thread; never from within start()

  // `target` must outlive it. `tls`: for a target that asks for it.
  Probe(const ProbeRoom& room, const ProbeTarget& target, TlsContext tls, Done done);

  void start();
  void cancel();  // nobody is told anything more
  void stop();    // ends now, as `cancelled`

 private:
  using Tcp = asio::ip::tcp;
  using Clock = std::chrono::steady_clock;
  enum class Phase : std::uint8_t { look_up, connect, tls, response };

  // A handler that keeps this alive, is silent once the verdict is in, and turns an exception into
  // `not_made`.
  template <class Act>
  auto step(Act act);
  template <class Stream>
  void ask(Stream& stream);
  template <class Stream>
  void read(Stream& stream);

  void look_up();
  void looked_up(const Addresses& addresses, const std::exception_ptr& thrown);
  void connect(const std::vector<std::string>& addresses);
  void connected(const std::error_code& error, Tcp::socket socket);
  void shake_hands();
  void arrived(std::size_t bytes);
  void broke(const std::error_code& error);
  void out_of_time();
  ProbeTime phase_ended(Phase next);
  void finish(ProbeEnd end, std::string detail = {});
  void close();

  asio::io_context& context_;
  // Weak: what the loop still has to do keeps its probe alive, which must not keep the loop alive in turn.
  std::weak_ptr<asio::io_context> shared_context_;
  LookUps& look_ups_;
  const ProbeTarget& target_;
  TlsContext tls_;
  Done done_;
  asio::steady_timer deadline_;
  std::shared_ptr<Race> race_;
  Tcp::socket socket_;
  std::unique_ptr<asio::ssl::stream<Tcp::socket>> secure_;
  std::string request_;
  std::array<char, 1024> buffer_;  // NOLINT: filled by the socket
  std::error_code asking_;         // how sending the request ended
  StatusLineReader line_;
  ProbeReport report_;
  Phase phase_ = Phase::look_up;
  Clock::time_point began_, phase_began_;
};

}  // namespace halfopen
