#include "tests/prober/sockets.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <thread>
#include <utility>

// Only there with the sanitizer that has it.
extern "C" void __ubsan_handle_dynamic_type_cache_miss_abort() __attribute__((weak));

namespace halfopen::testing {
namespace {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

SocketAddress socket_address(const std::string& address, std::uint16_t port) {
  SocketAddress made;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (inet_pton(AF_INET, address.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&made.storage, &v4, made.length = sizeof v4);
  } else if (inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::memcpy(&made.storage, &v6, made.length = sizeof v6);
  } else {
    throw std::system_error(EINVAL, std::generic_category(), address);
  }
  return made;
}

std::size_t entries_of(const char* folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    close();
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

void Fd::close() noexcept {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

Fd bound_socket(const std::string& address, std::uint16_t port) {
  const SocketAddress to = socket_address(address, port);
  const int family = to.get()->sa_family;
  Fd made(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) fail("socket");
  const int on = 1;
  if (setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0) fail("SO_REUSEADDR");
  if (family == AF_INET6 && setsockopt(made.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) != 0) {
    fail("IPV6_V6ONLY");
  }
  if (::bind(made.get(), to.get(), to.length) != 0) fail("bind");
  return made;
}

std::uint16_t port_of(const Fd& socket) {
  SocketAddress bound;
  bound.length = sizeof bound.storage;
  if (getsockname(socket.get(), bound.get(), &bound.length) != 0) fail("getsockname");
  if (bound.get()->sa_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in*>(&bound.storage)->sin_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in6*>(&bound.storage)->sin6_port);
}

bool has_address(const std::string& address) {
  try {
    bound_socket(address, 0);
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

std::vector<Port> same_port_on(const std::vector<std::string>& addresses) {
  for (int tries = 0;; ++tries) {
    std::vector<Port> all;
    try {
      for (const std::string& address : addresses) all.emplace_back(address, all.empty() ? 0 : all[0].port());
      return all;
    } catch (const std::system_error& problem) {
      // Somebody else has that port on one of the addresses: another one.
      if (problem.code().value() != EADDRINUSE || tries == 100) throw;
    }
  }
}

BlackHole::BlackHole(const std::string& address, std::uint16_t port)
    : port_(address, port), listener_(bound_socket(address, port_.port())) {
  if (::listen(listener_.get(), 0) != 0) fail("listen");
  const SocketAddress to = socket_address(address, port_.port());
  for (bool full = false; !full;) {
    Fd& next =
        waiting_.emplace_back(::socket(to.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!next) fail("socket");
    if (::connect(next.get(), to.get(), to.length) != 0 && errno != EINPROGRESS) fail("connect");
    // Loopback connects within the call that asks for it: who is not connected after this long was dropped.
    pollfd connected{next.get(), POLLOUT, 0};
    full = ::poll(&connected, 1, 50) == 0;
    if (waiting_.size() > 100) fail("no backlog fills up here");
  }
}

bool files_may_run_out() { return __ubsan_handle_dynamic_type_cache_miss_abort == nullptr; }

FewFiles::FewFiles(std::size_t more) {
  if (getrlimit(RLIMIT_NOFILE, &before_) != 0) fail("getrlimit");
  rlimit now = before_;
  now.rlim_cur = 0;
  for (std::size_t free = 0;; ++now.rlim_cur) {
    const bool taken = ::fcntl(static_cast<int>(now.rlim_cur), F_GETFD) >= 0;
    if (!taken && free++ == more) break;
  }
  if (setrlimit(RLIMIT_NOFILE, &now) != 0) fail("setrlimit");
}

FewFiles::~FewFiles() { setrlimit(RLIMIT_NOFILE, &before_); }

std::size_t open_files() { return entries_of("/proc/self/fd") - 1; }  // without the one that reads the folder
std::size_t threads() {
  // The thread sanitizer adds one of its own to the first that a program makes.
  static const bool made_one = (std::thread([] {}).join(), true);
  static_cast<void>(made_one);
  return entries_of("/proc/self/task");
}

bool comes_down_to(std::size_t (*count)(), std::size_t wanted) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(10);
  while (count() > wanted && Clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return count() <= wanted;
}

}  // namespace halfopen::testing
