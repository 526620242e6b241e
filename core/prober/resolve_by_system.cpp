#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <new>
#include <system_error>
#include <vector>

#include "core/prober/probe.hpp"

namespace halfopen {
namespace {

// A look-up has several files open at once: hosts, resolv.conf, sockets.
constexpr int FILES_OF_A_LOOK_UP = 4;

// getaddrinfo tells a process that has run out of file descriptors the same as one whose name server is
// silent. The first says nothing about the name.
void throw_if_files_are_short() {
  std::vector<int> spare;
  int problem = 0;
  while (problem == 0 && spare.size() < FILES_OF_A_LOOK_UP) {
    const int file = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (file < 0) problem = errno;
    if (file >= 0) spare.push_back(file);
  }
  for (const int file : spare) ::close(file);
  if (problem != 0) throw std::system_error(problem, std::generic_category(), "no look-up");
}

}  // namespace

Addresses resolve_by_system(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int problem = getaddrinfo(host.c_str(), nullptr, &hints, &list);
  Addresses addresses;
  if (problem == EAI_MEMORY) throw std::bad_alloc();
  if (problem != 0) {
    throw_if_files_are_short();
    addresses.problem = gai_strerror(problem);
    return addresses;
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(list, freeaddrinfo);
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    char text[NI_MAXHOST];
    // A link-local address keeps its zone this way ("fe80::1%eth0"), which inet_ntop would drop.
    if (getnameinfo(entry->ai_addr, entry->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0) {
      addresses.found.emplace_back(text);
    }
  }
  if (addresses.found.empty()) addresses.problem = "the name has no address";
  return addresses;
}

}  // namespace halfopen
