// The other end of the probes that probes.cpp measures: many listening ports on 127.0.0.1, all served by one
// process of its own, which answers each connection's request with 200 at once and closes it. And the bare
// system calls of a probe, for the yardstick.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace halfopen::bench {

inline int checked(int answer, const char* call) {
  if (answer < 0) throw std::system_error(errno, std::generic_category(), call);
  return answer;
}

// Throws a sentence where even the hard limit is too low.
inline void raise_descriptor_limit(std::size_t needed) {
  rlimit limit{};
  checked(::getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
  if (limit.rlim_max < needed) {
    throw std::runtime_error("this needs " + std::to_string(needed) +
                             " file descriptors, and the hard limit is " + std::to_string(limit.rlim_max) +
                             "; raise it (ulimit -Hn), or take fewer endpoints");
  }
  limit.rlim_cur = limit.rlim_max;
  checked(::setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
}

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

class LoopbackServer {
 public:
  // Forks: to be made before the first thread.
  explicit LoopbackServer(std::size_t ports) {
    for (std::size_t i = 0; i < ports; ++i) listen_on_another_port();
    child_ = checked(::fork(), "fork");
    if (child_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // whatever becomes of the measuring process
      ::alarm(LIFE_S);
      serve();
    }
    for (const int listener : listeners_) ::close(listener);
  }
  ~LoopbackServer() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  const std::vector<std::uint16_t>& ports() const { return ports_; }

 private:
  static constexpr unsigned LIFE_S = 300;
  static constexpr std::string_view ANSWER =
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

  void listen_on_another_port() {
    const int listener = checked(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket");
    listeners_.push_back(listener);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    checked(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), "bind");
    checked(::listen(listener, 64), "listen");
    checked(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
    ports_.push_back(ntohs(address.sin_port));
  }

  [[noreturn]] void serve() const {
    const int poll = ::epoll_create1(EPOLL_CLOEXEC);
    for (const int listener : listeners_) wait_for(poll, listener, LISTENS);
    std::array<epoll_event, 256> ready;
    for (;;) {
      const int count = ::epoll_wait(poll, ready.data(), static_cast<int>(ready.size()), -1);
      for (int i = 0; i < count; ++i) {
        const std::uint64_t data = ready[static_cast<std::size_t>(i)].data.u64;
        const int socket = static_cast<int>(data & ~LISTENS);
        if (data & LISTENS) {
          accept_all(poll, socket);
        } else {
          answer(socket);
        }
      }
    }
  }

  static void accept_all(int poll, int listener) {
    for (;;) {
      const int connection = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (connection < 0) return;
      wait_for(poll, connection, 0);
    }
  }

  // A request of a probe is one small segment: it comes whole.
  static void answer(int connection) {
    std::array<char, 4096> request;
    if (::recv(connection, request.data(), request.size(), 0) > 0) {
      ::send(connection, ANSWER.data(), ANSWER.size(), MSG_NOSIGNAL);
    }
    ::close(connection);
  }

  static void wait_for(int poll, int socket, std::uint64_t kind) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = static_cast<std::uint64_t>(socket) | kind;
    ::epoll_ctl(poll, EPOLL_CTL_ADD, socket, &event);
  }

  static constexpr std::uint64_t LISTENS = std::uint64_t{1} << 32;

  std::vector<int> listeners_;
  std::vector<std::uint16_t> ports_;
  int child_ = 0;
};

// What no probe can do without, waiting in the calls themselves.
inline void bare_probe(std::uint16_t port) {
  static constexpr std::string_view REQUEST =
      "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
  std::array<char, 4096> answer;
  const sockaddr_in address = loopback(port);
  const int socket = checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  checked(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), "connect");
  checked(static_cast<int>(::send(socket, REQUEST.data(), REQUEST.size(), MSG_NOSIGNAL)), "send");
  const auto got = checked(static_cast<int>(::recv(socket, answer.data(), answer.size(), 0)), "recv");
  ::close(socket);
  if (got == 0) throw std::runtime_error("the loopback server closed without an answer");
}

}  // namespace halfopen::bench
