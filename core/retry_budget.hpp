// How many retries an upstream may make: one rolling window of requests and granted retries together, and the
// backoff before each retry. Thread-safe under one short mutex; time and luck are the caller's.
#pragma once

#include <cstdint>

#include "core/outcome.hpp"
#include "core/params.hpp"
#include "core/sync.hpp"
#include "core/time.hpp"
#include "core/window.hpp"

namespace halfopen {

// The backoff before the `retry`-th retry (from 1) without jitter: min(base * 2^(retry-1), max(cap, base)),
// ms.
std::uint64_t nominal_backoff_ms(std::uint64_t base_ms, std::uint64_t cap_ms, std::uint64_t retry) noexcept;

// With full jitter: floor(u * (nominal + 1)), u in [0, 1). Draws 0 … nominal.
std::uint64_t jittered_backoff_ms(std::uint64_t nominal_ms, double u) noexcept;

template <class Sync>
class alignas(64) BasicRetryBudget {
 public:
  // Enters one request: once, when its first attempt is admitted.
  void request(Instant now) noexcept {
    const Guard lock(mutex_);
    window_.drop(now, RETRY_WINDOW_MS);
    window_.append(now, BucketWindow::Kind::first);
  }

  // Grants and charges one retry in one step, when (retries + 1) * 100 <= percent * requests. So 10 % grants
  // nothing below 10 requests in the window. A grant is never refunded.
  bool reserve(Instant now, std::uint32_t percent) noexcept {
    const Guard lock(mutex_);
    window_.drop(now, RETRY_WINDOW_MS);
    const auto counts = window_.counts();
    if ((counts.second + 1) * 100 > percent * counts.first) return false;
    window_.append(now, BucketWindow::Kind::second);
    return true;
  }

  struct Snapshot {
    std::uint64_t requests = 0, retries = 0;  // as stored: what has aged leaves at the next operation
  };
  Snapshot snapshot() const noexcept {
    const Guard lock(mutex_);
    return {window_.counts().first, window_.counts().second};
  }

 private:
  mutable typename Sync::Mutex mutex_;
  BucketWindow window_;
};

using RetryBudget = BasicRetryBudget<Threads>;

// Why a retry was or was not made; asked in this order, stopping at the first no.
enum class RetryAnswer : std::uint8_t {
  granted,
  not_retryable,
  attempts_used_up,
  past_deadline,
  budget_denied
};

struct RetryDecision {
  RetryAnswer answer = RetryAnswer::not_retryable;
  std::uint64_t delay_ms = 0;  // granted: wait this long, then ask the breaker again
};

// Is this outcome one that the settings retry? Whether it was a failure is another question: 429 may be
// listed.
bool is_retryable(const RetryParams& params, Outcome outcome) noexcept;

// Does `elapsed_ns` since arrival plus the delay stay below the total deadline? No deadline: yes.
bool within_deadline(const RetryParams& params, std::uint64_t elapsed_ns, std::uint64_t delay_ms) noexcept;

// After the report of an attempt: shall there be another? `retries_made` counts retries so far; `draw()`
// gives u in [0, 1) and is called only when the answer depends on it; `elapsed_ns` is since the request's
// arrival, on the caller's finest clock.
template <class Sync, class Draw>
RetryDecision decide_retry(const RetryParams& params, BasicRetryBudget<Sync>& budget,
                           std::uint32_t retries_made, Outcome outcome, std::uint64_t elapsed_ns, Instant now,
                           Draw&& draw) noexcept {
  if (!is_retryable(params, outcome)) return {RetryAnswer::not_retryable, 0};
  if (retries_made >= params.attempts) return {RetryAnswer::attempts_used_up, 0};
  const std::uint64_t nominal =
      nominal_backoff_ms(params.backoff_base_ms, params.backoff_cap_ms, std::uint64_t{retries_made} + 1);
  const std::uint64_t delay = jittered_backoff_ms(nominal, draw());
  if (!within_deadline(params, elapsed_ns, delay)) return {RetryAnswer::past_deadline, 0};
  if (!budget.reserve(now, params.budget_percent)) return {RetryAnswer::budget_denied, 0};
  return {RetryAnswer::granted, delay};
}

}  // namespace halfopen
