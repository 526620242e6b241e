// Loopback for tests of the prober: addresses nobody answers on in the ways there are of not answering, and
// what the process holds open. Everything closes in destructors; whatever fails throws std::system_error.
#pragma once

#include <sys/resource.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace halfopen::testing {

// A file descriptor, closed once.
class Fd {
 public:
  explicit Fd(int number = -1) : number_(number) {}
  Fd(Fd&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Fd& operator=(Fd&& other) noexcept;
  ~Fd() { close(); }
  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  void close() noexcept;

 private:
  int number_;
};

// A TCP socket of this address's family ("127.0.0.2", "::1"), bound to it, not blocking, not listening.
// Several may be bound to one port as long as none listens.
Fd bound_socket(const std::string& address, std::uint16_t port);
std::uint16_t port_of(const Fd& socket);

// Whether the machine has this address: IPv6 may be switched off.
bool has_address(const std::string& address);

// An address and port that are this test's: who connects is refused at once, until somebody listens there.
class Port {
 public:
  explicit Port(const std::string& address = "127.0.0.1", std::uint16_t port = 0)
      : address_(address), socket_(bound_socket(address, port)), port_(port_of(socket_)) {}

  const std::string& address() const { return address_; }
  std::uint16_t port() const { return port_; }

 private:
  std::string address_;
  Fd socket_;
  std::uint16_t port_;
};

// One port on each of several addresses.
std::vector<Port> same_port_on(const std::vector<std::string>& addresses);

// Who connects gets no answer: a listener whose backlog is full drops what comes, the portable way on
// loopback. It stays full for as long as this lives.
class BlackHole {
 public:
  explicit BlackHole(const std::string& address = "127.0.0.1", std::uint16_t port = 0);
  std::uint16_t port() const { return port_.port(); }

 private:
  Port port_;
  Fd listener_;
  std::vector<Fd> waiting_;
};

// Not with a sanitizer that opens a pipe to look at an object, and takes it for a broken one if it cannot.
bool files_may_run_out();

// While it lives, this process may open `more` further files and no others.
class FewFiles {
 public:
  explicit FewFiles(std::size_t more);
  ~FewFiles();
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;

 private:
  rlimit before_{};
};

// What this process has now.
std::size_t open_files();
std::size_t threads();

// Whether a count comes down to what it was; ten seconds, as detached threads end a moment later.
bool comes_down_to(std::size_t (*count)(), std::size_t wanted);

}  // namespace halfopen::testing
