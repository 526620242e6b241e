#include "sim/cli_reader.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

namespace halfopen::sim {

namespace {

constexpr std::chrono::milliseconds LOOK{50};  // how often it is asked whether all is over
ReaderPatience* patience = nullptr;

// Whether a write would not block, asked for as long as LOOK. What is wrong with the stream the write tells.
bool takes(int fd) {
  pollfd stream{fd, POLLOUT, 0};
  const int ready = ::poll(&stream, 1, static_cast<int>(LOOK.count()));
  return ready > 0 || (ready < 0 && errno != EINTR);
}

}  // namespace

ReaderPatience::ReaderPatience(std::function<bool()> is_over) : is_over_(std::move(is_over)) {
  patience = this;
}

ReaderPatience::~ReaderPatience() { patience = nullptr; }

bool ReaderPatience::is_spent() {
  if (!is_over_()) return false;
  waited_ += LOOK;
  return waited_ > GRACE;
}

bool write_to_reader(int fd, std::string_view text) {
  while (!text.empty()) {
    if (patience != nullptr && !takes(fd)) {
      if (!patience->is_spent()) continue;
      errno = ETIMEDOUT;
      return false;
    }
    // A pipe that takes anything takes so much without blocking.
    const std::size_t piece =
        patience == nullptr ? text.size() : std::min<std::size_t>(text.size(), PIPE_BUF);
    const ssize_t written = ::write(fd, text.data(), piece);
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
      if (patience != nullptr) patience->waited_ = {};
    } else if (errno == EAGAIN) {
      // Somebody who shares the stream wants no write to block.
      if (patience == nullptr) takes(fd);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace halfopen::sim
