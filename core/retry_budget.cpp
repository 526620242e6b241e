#include "core/retry_budget.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halfopen {
namespace {

constexpr std::uint64_t MAX = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t NANOS_PER_MS = 1'000'000;

std::uint64_t saturating_shift(std::uint64_t value, std::uint64_t by) noexcept {
  if (value == 0) return 0;
  return by >= 64 || value > (MAX >> by) ? MAX : value << by;
}

}  // namespace

std::uint64_t nominal_backoff_ms(std::uint64_t base_ms, std::uint64_t cap_ms, std::uint64_t retry) noexcept {
  return std::min(saturating_shift(base_ms, retry - 1), std::max(cap_ms, base_ms));
}

std::uint64_t jittered_backoff_ms(std::uint64_t nominal_ms, double u) noexcept {
  const double drawn = std::floor(u * (static_cast<double>(nominal_ms) + 1));
  return drawn >= 18446744073709551616.0 ? MAX : static_cast<std::uint64_t>(drawn);
}

bool is_retryable(const RetryParams& params, Outcome outcome) noexcept {
  if (outcome.transport != TransportError::none) return params.retry_transport;
  return outcome.status < params.retry_statuses.size() && params.retry_statuses[outcome.status];
}

bool within_deadline(const RetryParams& params, std::uint64_t elapsed_ns, std::uint64_t delay_ms) noexcept {
  if (!params.total_deadline_ms) return true;
  if (delay_ms >= *params.total_deadline_ms) return false;
  // Asked this way round nothing can wrap, whatever an unvalidated caller set.
  const std::uint64_t left_ms = *params.total_deadline_ms - delay_ms;
  return left_ms > MAX / NANOS_PER_MS || elapsed_ns < left_ms * NANOS_PER_MS;
}

template class BasicRetryBudget<Threads>;
template class BasicRetryBudget<Single>;

}  // namespace halfopen
