// How one attempt ended, at the instant its response headers resolved.
#pragma once

#include <cstdint>

namespace halfopen {

// What went wrong below HTTP. `none` means that a status line arrived.
enum class TransportError : std::uint8_t { none, connect_timeout, refused, reset, framing, attempt_timeout };

// A transport error, or an HTTP status (100 … 599).
struct Outcome {
  std::uint16_t status = 200;
  TransportError transport = TransportError::none;

  static constexpr Outcome http(std::uint16_t status) { return {status, TransportError::none}; }
  static constexpr Outcome error(TransportError kind) { return {0, kind}; }

  // The one notion of failure that ejection and breaker share: a transport error or a status >= 500.
  // 408 and 429 describe the caller or queueing pressure, so they are successes (seed 000).
  constexpr bool is_failure() const { return transport != TransportError::none || status >= 500; }
};

}  // namespace halfopen
