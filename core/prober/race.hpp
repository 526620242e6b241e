// Connecting to the first of several addresses that answers: RFC 8305, section 5. An internal of the prober.
#pragma once

#include <asio.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <system_error>
#include <vector>

namespace halfopen {

// Asio's errors know nothing of std::errc, and ours are compared with both.
bool is_errno(const std::error_code& error, std::errc which) noexcept;

// This side ran out of something: such an error says nothing about who should have answered. Whatever else
// keeps a connection from being made is the endpoint's failure, a refusal by some firewall between included.
bool is_local_trouble(const std::error_code& error) noexcept;

// The connection was made, and the endpoint broke it before this side came to look.
bool was_made(const std::error_code& error) noexcept;

class Race : public std::enable_shared_from_this<Race> {
 public:
  using Tcp = asio::ip::tcp;
  // The connected socket; or, at once, that it was_made(); or, after all have failed, the most telling of the
  // errors: a refusal before no route before local trouble.
  using Done = std::function<void(const std::error_code&, Tcp::socket)>;

  // `addresses` in the order to try them, at least one. `delay` 0: each only after the one before has failed.
  Race(asio::io_context& context, std::vector<Tcp::endpoint> addresses, std::chrono::milliseconds delay,
       Done done)
      : context_(context),
        addresses_(std::move(addresses)),
        delay_(delay),
        done_(std::move(done)),
        next_due_(context) {}

  void start() { begin_next(); }
  void cancel();  // nobody is told anything more

 private:
  template <class Act>
  auto step(Act act);
  void begin_next();
  void connected(std::size_t which, std::error_code error);
  void finish(const std::error_code& error, Tcp::socket winner);

  asio::io_context& context_;
  std::vector<Tcp::endpoint> addresses_;
  std::chrono::milliseconds delay_;
  Done done_;
  asio::steady_timer next_due_;
  std::vector<Tcp::socket> attempts_;  // the i-th goes to the i-th address
  std::size_t under_way_ = 0;
  std::error_code worst_;
};

}  // namespace halfopen
