#include "sim/outcome_text.hpp"

namespace halfopen::sim {

std::string outcome_text(const Outcome& outcome, bool body_broke) {
  switch (outcome.transport) {
    case TransportError::connect_timeout: return "connect timeout";
    case TransportError::refused: return "refused";
    case TransportError::reset: return "reset";
    case TransportError::framing: return "bad framing";
    case TransportError::attempt_timeout: return "timeout";
    case TransportError::none: break;
  }
  const std::string status = std::to_string(outcome.status);
  return body_broke ? status + ", body broke off" : status;
}

std::string outcome_text(const Observation& seen) {
  if (seen.probe) return seen.probe_ok ? "probe ok" : "probe failed";
  return outcome_text(seen.outcome, seen.body_broke);
}

bool is_failure(const Observation& seen) {
  return seen.probe ? !seen.probe_ok : seen.body_broke || seen.outcome.is_failure();
}

const char* end_text(RequestEnd end) noexcept {
  switch (end) {
    case RequestEnd::ok: return "ok";
    case RequestEnd::failed: return "failed";
    case RequestEnd::fast_failed: return "fast-failed";
    case RequestEnd::abandoned: return "abandoned";
  }
  return "";
}

}  // namespace halfopen::sim
