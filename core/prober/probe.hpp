// One direct probe of one endpoint over real sockets: its own connection, past balancer and pools (seed 001).
// What is asked and what counts as a success is core's (status_line.hpp); this reads clocks and opens
// sockets.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/params.hpp"

namespace halfopen {

// How a probe ended. Only `ok` is a success; `not_made` is no verdict at all.
enum class ProbeEnd : std::uint8_t {
  ok,               // http: a 2xx status line; tcp: connected
  status,           // a status line that is not 2xx
  name_lookup,      // the name could not be resolved, or not in time
  refused,          // nobody listens
  unreachable,      // no route, or another error of connecting
  connect_timeout,  // no connection in time
  tls,              // the handshake failed: certificate, name, protocol
  reset,            // the connection broke before a whole status line
  truncated,        // it was closed before a whole status line
  malformed,        // what came is no status line of HTTP/1.x
  too_long,         // 4,096 bytes without a line end
  timeout,          // connected, but no whole status line (or no TLS) in time
  not_made,         // this side could not make it (no file descriptor left, unreadable CA file): nothing was
                    // learnt about the endpoint
  cancelled,        // the caller stopped it: nothing was learnt either
};

// "ok", "connect_timeout", …: as operators read them.
const char* to_string(ProbeEnd end) noexcept;

using ProbeTime = std::chrono::nanoseconds;

struct ProbeReport {
  ProbeEnd end = ProbeEnd::not_made;
  unsigned status = 0;  // of the status line, if one came
  std::string detail;   // a few words more where there are any: "certificate has expired"
  std::string peer;  // "127.0.0.1:8080", "[::1]:8080": the address that was connected to; empty if none was
  // How long each phase took, as far as the probe came; a phase that it did not need, or did not end, has
  // none.
  std::optional<ProbeTime> look_up, connect, tls, response;
  ProbeTime total{};  // from the start to the verdict

  bool ok() const noexcept { return end == ProbeEnd::ok; }
  // Whether it says anything about the endpoint.
  bool is_verdict() const noexcept { return end != ProbeEnd::not_made && end != ProbeEnd::cancelled; }
};

// What a look-up found: IP addresses as text ("127.0.0.1", "::1"), best first; or none, and why.
struct Addresses {
  std::vector<std::string> found;
  std::string problem;  // only read when nothing was found
};

// How names become addresses. Called on a thread of its own for each look-up that is under way, because it
// may block; never for a literal address. It may still be running when whoever asked is gone: it must own
// what it uses. An exception that leaves it makes the probe `not_made`.
using Resolve = std::function<Addresses(const std::string& host)>;

// getaddrinfo: both families, in the order of RFC 6724.
Addresses resolve_by_system(const std::string& host);

// What is probed and how.
struct ProbeTarget {
  std::string address;  // name, IPv4 or IPv6 literal without brackets
  std::uint16_t port = 0;
  ProbeKind kind = ProbeKind::http;
  std::string path = "/healthz";    // begins with '/', no blanks or control characters
  std::uint64_t timeout_ms = 2000;  // over look-up, connect, TLS and response; 1 … 10^12
  std::uint64_t happy_eyeballs_ms =
      250;                      // RFC 8305's attempt delay; 0: addresses in order, one after the other
  bool tls = false;             // kind http alone: towards https and http2 upstreams
  std::string trusted_ca_file;  // PEM; empty: the trust roots of the system

  bool speaks_tls() const noexcept { return tls && kind == ProbeKind::http; }

  // The target of an endpoint that an upstream with active_health lists.
  static ProbeTarget of(const UpstreamConfig& upstream, const EndpointConfig& endpoint);
};

// Probes, and returns when the verdict is in: after timeout_ms at the latest, counted from when
// trusted_ca_file has been read. Thread-safe; what cannot be had for it, files, threads or memory, makes it
// `not_made`. `stop` ends it early, as `cancelled`. A look-up that hangs leaves its thread behind until it
// ends.
ProbeReport probe_once(const ProbeTarget& target, const Resolve& resolve = resolve_by_system,
                       std::stop_token stop = {});

}  // namespace halfopen
