#include "core/retry_budget.hpp"

#include <doctest/doctest.h>

namespace halfopen {
namespace {

constexpr std::uint64_t NS_PER_MS = 1'000'000;

struct Fixture {
  RetryBudget budget;
  void requests(std::uint64_t now, int times) {
    for (int i = 0; i < times; ++i) budget.request(Instant{now});
  }
  bool reserve(std::uint64_t now, std::uint32_t percent = 10) {
    return budget.reserve(Instant{now}, percent);
  }
};

TEST_CASE_FIXTURE(Fixture, "retry budget: ten per cent grants nothing below ten requests, then one") {
  requests(1000, 9);
  CHECK_FALSE(reserve(1000));
  requests(1000, 1);
  CHECK(reserve(1000));
  CHECK_FALSE(reserve(1000));
  requests(1000, 9);
  CHECK_FALSE(reserve(1000));
  requests(1000, 1);
  CHECK(reserve(1000));
  CHECK(budget.snapshot().requests == 20);
  CHECK(budget.snapshot().retries == 2);
}

TEST_CASE_FIXTURE(Fixture,
                  "retry budget: a refusal charges nothing, a hundred per cent allows a retry a request") {
  CHECK_FALSE(reserve(1000, 100));
  requests(1000, 2);
  CHECK(reserve(1000, 100));
  CHECK(reserve(1000, 100));
  CHECK_FALSE(reserve(1000, 100));
  CHECK(budget.snapshot().retries == 2);
}

TEST_CASE_FIXTURE(Fixture,
                  "retry budget: requests and retries leave after ten seconds, not a millisecond before") {
  requests(1000, 10);
  CHECK(reserve(1000));
  SUBCASE("one millisecond before") {
    CHECK_FALSE(reserve(10999));
    CHECK(budget.snapshot().requests == 10);
  }
  SUBCASE("at ten seconds") {
    requests(11000, 10);
    CHECK(budget.snapshot().requests == 10);
    CHECK(budget.snapshot().retries == 0);
    CHECK(reserve(11000));
  }
}

TEST_CASE_FIXTURE(Fixture, "retry budget: asking drops what has aged, also when it is refused") {
  requests(1000, 10);
  CHECK_FALSE(reserve(11000));
  CHECK(budget.snapshot().requests == 0);
}

TEST_CASE_FIXTURE(Fixture,
                  "retry budget: a request and a retry of one clock that stepped back age together") {
  requests(1000, 10);
  CHECK(reserve(500));
  CHECK_FALSE(reserve(10999));
  requests(11000, 10);
  CHECK(reserve(11000));
}

TEST_CASE("backoff: doubles from the base up to the cap") {
  CHECK(nominal_backoff_ms(25, 250, 1) == 25);
  CHECK(nominal_backoff_ms(25, 250, 2) == 50);
  CHECK(nominal_backoff_ms(25, 250, 4) == 200);
  CHECK(nominal_backoff_ms(25, 250, 5) == 250);
  CHECK(nominal_backoff_ms(25, 250, 1000) == 250);
}

TEST_CASE("backoff: a cap below the base counts as the base, and nothing overflows") {
  CHECK(nominal_backoff_ms(300, 250, 1) == 300);
  CHECK(nominal_backoff_ms(300, 250, 7) == 300);
  CHECK(nominal_backoff_ms(0, 250, 64) == 0);
  CHECK(nominal_backoff_ms(1, UINT64_MAX, 64) == std::uint64_t{1} << 63);
  CHECK(nominal_backoff_ms(1, UINT64_MAX, 65) == UINT64_MAX);
  CHECK(nominal_backoff_ms(3, UINT64_MAX, 64) == UINT64_MAX);
  CHECK(nominal_backoff_ms(UINT64_MAX, 0, UINT64_MAX) == UINT64_MAX);
}

TEST_CASE("backoff: full jitter draws from 0 to the nominal, both included") {
  constexpr double ALMOST_ONE = 1 - 0x1p-53;
  CHECK(jittered_backoff_ms(25, 0) == 0);
  CHECK(jittered_backoff_ms(25, ALMOST_ONE) == 25);
  CHECK(jittered_backoff_ms(25, 0.5) == 13);
  CHECK(jittered_backoff_ms(0, ALMOST_ONE) == 0);
  CHECK(jittered_backoff_ms(UINT64_MAX, 0) == 0);
  CHECK(jittered_backoff_ms(UINT64_MAX, ALMOST_ONE) > UINT64_MAX / 2);
}

TEST_CASE("retry: what is retryable is another question than what is a failure") {
  RetryParams params;
  CHECK(is_retryable(params, Outcome::http(502)));
  CHECK(is_retryable(params, Outcome::http(504)));
  CHECK_FALSE(is_retryable(params, Outcome::http(500)));
  CHECK_FALSE(is_retryable(params, Outcome::http(429)));
  CHECK_FALSE(is_retryable(params, Outcome::http(600)));  // beyond any set
  params.retry_statuses.set(429);
  CHECK(is_retryable(params, Outcome::http(429)));
  CHECK(is_retryable(params, Outcome::error(TransportError::reset)));
  params.retry_transport = false;
  CHECK_FALSE(is_retryable(params, Outcome::error(TransportError::reset)));
}

TEST_CASE("retry: the deadline is missed when the delay ends at it, on the nanosecond") {
  RetryParams params;
  CHECK(within_deadline(params, UINT64_MAX, UINT64_MAX));
  params.total_deadline_ms = 100;
  CHECK(within_deadline(params, 75 * NS_PER_MS - 1, 25));
  CHECK_FALSE(within_deadline(params, 75 * NS_PER_MS, 25));
  CHECK_FALSE(within_deadline(params, 0, 100));
  CHECK(within_deadline(params, 0, 99));
  CHECK_FALSE(within_deadline(params, 100 * NS_PER_MS, 0));
  CHECK(within_deadline(params, 100 * NS_PER_MS - 1, 0));
}

TEST_CASE("retry: deadlines beyond any configuration do not wrap around") {
  RetryParams params;
  params.total_deadline_ms = UINT64_MAX;
  CHECK(within_deadline(params, UINT64_MAX, 1));
  CHECK_FALSE(within_deadline(params, 0, UINT64_MAX));
  CHECK_FALSE(within_deadline(params, NS_PER_MS, UINT64_MAX - 1));
  CHECK(within_deadline(params, NS_PER_MS - 1, UINT64_MAX - 1));
  params.total_deadline_ms = UINT64_MAX / NS_PER_MS;
  CHECK_FALSE(within_deadline(params, UINT64_MAX, UINT64_MAX / NS_PER_MS - 1));
}

TEST_CASE_FIXTURE(Fixture, "retry: four questions in order, each asked only if the ones before said yes") {
  RetryParams params;
  params.attempts = 2;
  params.total_deadline_ms = 100;
  int draws = 0;
  double u = 0;
  const auto draw = [&] { return ++draws, u; };
  const auto ask = [&](Outcome outcome, std::uint32_t made, std::uint64_t elapsed_ms) {
    return decide_retry(params, budget, made, outcome, elapsed_ms * NS_PER_MS, Instant{1000}, draw);
  };
  CHECK(ask(Outcome::http(200), 0, 0).answer == RetryAnswer::not_retryable);
  CHECK(ask(Outcome::http(503), 2, 0).answer == RetryAnswer::attempts_used_up);
  CHECK(draws == 0);
  CHECK(ask(Outcome::http(503), 0, 100).answer == RetryAnswer::past_deadline);
  CHECK(draws == 1);
  CHECK(ask(Outcome::http(503), 0, 99).answer == RetryAnswer::budget_denied);
  requests(1000, 10);
  CHECK(ask(Outcome::http(503), 0, 100).answer == RetryAnswer::past_deadline);
  CHECK(budget.snapshot().retries == 0);  // nobody before the fourth question charges
  u = 0.5;
  const RetryDecision second = ask(Outcome::http(503), 1, 0);
  CHECK(second.answer == RetryAnswer::granted);
  CHECK(second.delay_ms == 25);  // of 0 ... 50
  CHECK(budget.snapshot().retries == 1);
}

}  // namespace
}  // namespace halfopen
