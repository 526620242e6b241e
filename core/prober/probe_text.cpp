#include "core/prober/probe.hpp"

namespace halfopen {

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
