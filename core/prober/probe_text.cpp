#include "core/prober/probe_machine.hpp"
#include "core/validate.hpp"

namespace halfopen {
std::string wrong_with(const ProbeTarget& target) {
  constexpr std::uint64_t LONGEST_MS = 1'000'000'000'000;
  if (std::string wrong = wrong_with_address(target.address); !wrong.empty()) return wrong;
  if (target.port == 0) return "the port must be 1 … 65535";
  if (target.timeout_ms == 0 || target.timeout_ms > LONGEST_MS || target.happy_eyeballs_ms > LONGEST_MS)
    return "timeout_ms must be 1 … 10^12, happy_eyeballs_ms 0 … 10^12";
  return target.kind == ProbeKind::http ? wrong_with_path(target.path) : "";
}

const char* to_string(ProbeEnd end) noexcept {
  switch (end) {
    case ProbeEnd::ok: return "ok";
    case ProbeEnd::status: return "status";
    case ProbeEnd::name_lookup: return "name_lookup";
    case ProbeEnd::refused: return "refused";
    case ProbeEnd::unreachable: return "unreachable";
    case ProbeEnd::connect_timeout: return "connect_timeout";
    case ProbeEnd::tls: return "tls";
    case ProbeEnd::reset: return "reset";
    case ProbeEnd::truncated: return "truncated";
    case ProbeEnd::malformed: return "malformed";
    case ProbeEnd::too_long: return "too_long";
    case ProbeEnd::timeout: return "timeout";
    case ProbeEnd::not_made: return "not_made";
    case ProbeEnd::cancelled: return "cancelled";
  }
  return "";
}

ProbeTarget ProbeTarget::of(const UpstreamConfig& upstream, const EndpointConfig& endpoint) {
  ProbeTarget target;
  target.address = endpoint.address;
  target.port = endpoint.port;
  target.happy_eyeballs_ms = upstream.timeouts.happy_eyeballs_ms;
  target.tls = upstream.protocol != Protocol::http1;
  target.trusted_ca_file = upstream.trusted_ca_file;
  if (upstream.active_health) {
    target.kind = upstream.active_health->kind;
    target.path = upstream.active_health->path;
    target.timeout_ms = upstream.active_health->timeout_ms;
  }
  return target;
}

}  // namespace halfopen
