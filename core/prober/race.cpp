#include "core/prober/race.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

namespace halfopen {
namespace {

int how_telling(const std::error_code& error) noexcept {
  if (!error) return 0;
  if (is_local_trouble(error)) return 1;
  return is_errno(error, std::errc::connection_refused) ? 3 : 2;
}

// As socket.open() does, but no child of a gateway that forks and executes inherits it.
void open(Race::Tcp::socket& socket, const Race::Tcp& protocol, std::error_code& error) {
  const int handle = ::socket(protocol.family(), protocol.type() | SOCK_CLOEXEC, protocol.protocol());
  if (handle < 0) {
    error = {errno, asio::error::get_system_category()};
    return;
  }
  socket.assign(protocol, handle, error);
  if (error) ::close(handle);
}

// A port that nobody listens on may connect to itself, if the kernel happens to choose it as its own
// (a simultaneous open). That is nobody's answer.
bool met_itself(const Race::Tcp::socket& socket, const Race::Tcp::endpoint& address) {
  std::error_code error;
  return socket.local_endpoint(error) == address && !error;
}

}  // namespace

bool is_errno(const std::error_code& error, std::errc which) noexcept {
  const bool counts_errno =
      error.category() == asio::error::get_system_category() || error.category() == std::generic_category();
  return counts_errno && error.value() == static_cast<int>(which);
}

bool is_local_trouble(const std::error_code& error) noexcept {
  constexpr std::errc TROUBLES[] = {
      std::errc::too_many_files_open,
      std::errc::too_many_files_open_in_system,
      std::errc::no_buffer_space,
      std::errc::not_enough_memory,
      std::errc::no_space_on_device,              // of epoll's watches
      std::errc::address_not_available,           // no port left to connect from
      std::errc::resource_unavailable_try_again,  // the same, in other words
  };
  return std::any_of(std::begin(TROUBLES), std::end(TROUBLES),
                     [&error](std::errc trouble) { return is_errno(error, trouble); });
}

bool was_made(const std::error_code& error) noexcept {
  return is_errno(error, std::errc::connection_reset) || is_errno(error, std::errc::broken_pipe);
}

// A handler that keeps this alive and ends the race where memory runs out.
template <class Act>
auto Race::step(Act act) {
  return [self = shared_from_this(), act = std::move(act)](const std::error_code& error) {
    if (!self->done_) return;  // decided or cancelled
    try {
      act(*self, error);
    } catch (...) {
      self->finish(std::make_error_code(std::errc::not_enough_memory), Tcp::socket(self->context_));
    }
  };
}

void Race::begin_next() {
  const std::size_t which = attempts_.size();
  const Tcp::endpoint& address = addresses_[which];
  Tcp::socket& socket = attempts_.emplace_back(context_);
  ++under_way_;
  std::error_code error;
  open(socket, address.protocol(), error);
  const auto decided =
      step([which](Race& race, const std::error_code& result) { race.connected(which, result); });
  if (error) {
    asio::post(context_, [decided, error] { decided(error); });
  } else {
    socket.async_connect(address, decided);
  }
  if (delay_.count() == 0 || attempts_.size() >= addresses_.size()) return;
  next_due_.expires_after(delay_);
  next_due_.async_wait(step([which](Race& race, const std::error_code& cancelled) {
    // Not if the next one has begun meanwhile: a failure begins it at once, and cannot recall a timer that
    // has gone off in the same turn.
    if (!cancelled && race.attempts_.size() == which + 1) race.begin_next();
  }));
}

void Race::connected(std::size_t which, std::error_code error) {
  --under_way_;
  if (!error && met_itself(attempts_[which], addresses_[which])) {
    error = std::make_error_code(std::errc::connection_refused);
  }
  if (!error || was_made(error)) return finish(error, std::move(attempts_[which]));
  std::error_code ignored;
  attempts_[which].close(ignored);
  if (how_telling(error) > how_telling(worst_)) worst_ = error;
  if (attempts_.size() < addresses_.size()) {
    next_due_.cancel();  // the next one does not wait once this one has failed
    begin_next();
  } else if (under_way_ == 0) {
    finish(worst_, Tcp::socket(context_));
  }
}

void Race::finish(const std::error_code& error, Tcp::socket winner) {
  const Done done = std::exchange(done_, nullptr);
  cancel();
  done(error, std::move(winner));
}

void Race::cancel() {
  done_ = nullptr;
  next_due_.cancel();
  std::error_code ignored;
  for (Tcp::socket& socket : attempts_) socket.close(ignored);
}

}  // namespace halfopen
