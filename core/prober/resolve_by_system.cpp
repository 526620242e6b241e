#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <memory>
#include <new>

#include "core/prober/probe.hpp"

namespace halfopen {

Addresses resolve_by_system(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int problem = getaddrinfo(host.c_str(), nullptr, &hints, &list);
  Addresses addresses;
  if (problem == EAI_MEMORY) throw std::bad_alloc();
  if (problem != 0) {
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
