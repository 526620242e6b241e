#include "sim/cli_sweep_output.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "sim/cli_output.hpp"

namespace halfopen::sim {

namespace {

volatile std::sig_atomic_t caught_signal = 0;

extern "C" void note_signal(int signal) {
  if (caught_signal != 0) ::_exit(128 + signal);
  caught_signal = signal;
}

std::string reason() { return std::generic_category().message(errno); }

bool held_by_another(int fd) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return ::fcntl(fd, F_SETLK, &lock) != 0 && (errno == EACCES || errno == EAGAIN);
}

}  // namespace

void catch_interrupts() {
  for (const int signal : {SIGINT, SIGTERM}) {
    if (std::signal(signal, note_signal) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

std::optional<int> interrupted() {
  if (caught_signal == 0) return std::nullopt;
  return 128 + caught_signal;
}

RowSink::~RowSink() {
  if (regular_) ::close(fd_);
}

bool RowSink::open(const std::string& path) {
  if (names_stdout(path)) {
    fd_ = STDOUT_FILENO;
    return true;
  }
  name_ = path;
  struct stat info {};
  const bool special = ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  fd_ = ::open(path.c_str(), (special ? O_WRONLY : O_RDWR | O_CREAT) | O_CLOEXEC, 0666);
  if (fd_ < 0) {
    say(fmt::format("halfopen: can't write to {}: {}", name_, reason()));
    return false;
  }
  regular_ = !special;
  if (regular_ && held_by_another(fd_)) {
    say(fmt::format("halfopen: {} is being written by another sweep; wait for it, or name another file",
                    name_));
    return false;
  }
  return true;
}

std::optional<std::string> RowSink::content() {
  std::string out;
  std::array<char, std::size_t{1} << 16> chunk{};
  for (;;) {
    const ssize_t got = ::pread(fd_, chunk.data(), chunk.size(), static_cast<off_t>(out.size()));
    if (got == 0) return out;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    out.append(chunk.data(), static_cast<std::size_t>(got));
  }
  say(fmt::format("halfopen: can't read {}: {}", name_, reason()));
  return std::nullopt;
}

void RowSink::keep(std::size_t bytes) {
  size_ = bytes;
  if (::ftruncate(fd_, static_cast<off_t>(bytes)) != 0 ||
      ::lseek(fd_, static_cast<off_t>(bytes), SEEK_SET) < 0) {
    fail();
  }
}

void RowSink::write(std::string_view lines) {
  const std::size_t all = lines.size();
  while (state_ == State::open && !lines.empty()) {
    const ssize_t written = ::write(fd_, lines.data(), lines.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail();
    lines.remove_prefix(static_cast<std::size_t>(written));
  }
  size_ += all;
}

void RowSink::fail() {
  state_ = errno == EPIPE ? State::reader_left : State::failed;
  if (state_ == State::failed) say(fmt::format("halfopen: can't write to {}: {}", name_, reason()));
  // A full disk has taken a part of the last lines.
  if (regular_ && ::ftruncate(fd_, static_cast<off_t>(size_)) != 0) return;
}

}  // namespace halfopen::sim
