#include "core/breaker.hpp"

#include <doctest/doctest.h>

#include "tests/core/event_log.hpp"

namespace halfopen {
namespace {

// 3 in a row, or half of 6; open for 100 ms, two trials.
struct Fixture {
  BreakerParams params;
  testing::EventLog log;
  Breaker breaker{&log};

  Fixture() {
    params.consecutive_failures = 3;
    params.error_ratio = 0.5;
    params.error_volume = 6;
    params.open_ms = 100;
    params.half_open_probes = 2;
  }
  void report(std::uint64_t now, bool failure, int times = 1) {
    for (int i = 0; i < times; ++i) breaker.report(params, Instant{now}, failure);
  }
  BreakerDecision check(std::uint64_t now) { return breaker.check(params, Instant{now}); }
  void open(std::uint64_t now) { report(now, true, 3), log.take(); }
  Breaker::Snapshot at(std::uint64_t now) const { return breaker.snapshot(Instant{now}); }
};

TEST_CASE_FIXTURE(Fixture, "breaker: the third failure in a row opens it, the second does not") {
  report(1000, true, 2);
  CHECK(check(1000).allowed);
  report(1001, true);
  CHECK(breaker.state() == BreakerState::open);
  CHECK(at(1001).until.ms == 1101);
  CHECK(log.take() == "breaker_opened consecutive_failures");
}

TEST_CASE_FIXTURE(Fixture, "breaker: a success between two failures starts the streak again") {
  report(1000, true, 2), report(1000, false), report(1000, true, 2);
  CHECK(breaker.state() == BreakerState::closed);
  CHECK(at(1000).streak == 2);
}

TEST_CASE_FIXTURE(Fixture, "breaker: the ratio opens it from the volume on, reached and not exceeded") {
  params.consecutive_failures = 100;
  report(1000, false, 3), report(1000, true, 2);
  CHECK(breaker.state() == BreakerState::closed);
  report(1000, true);
  REQUIRE(log.events.size() == 1);
  CHECK(log.events[0].because.volume == 6);
  CHECK(log.events[0].because.failures == 3);
  CHECK(log.take() == "breaker_opened error_ratio");
}

TEST_CASE_FIXTURE(Fixture, "breaker: seven errors of a hundred reach a ratio of 0.07") {
  params.consecutive_failures = 100;
  params.error_ratio = 0.07;
  params.error_volume = 100;
  report(1000, false, 93), report(1000, true, 6);
  CHECK(breaker.state() == BreakerState::closed);
  report(1000, true);
  CHECK(breaker.state() == BreakerState::open);
}

TEST_CASE_FIXTURE(Fixture, "breaker: a success that completes the volume does not open it") {
  params.consecutive_failures = 100;
  report(1000, false, 2), report(1000, true, 3), report(1000, false);
  CHECK(breaker.state() == BreakerState::closed);
  report(1000, true);
  CHECK(breaker.state() == BreakerState::open);
}

TEST_CASE_FIXTURE(Fixture, "breaker: an observation is judged until it is a minute old") {
  params.consecutive_failures = 100;
  report(1000, true, 5);
  SUBCASE("one millisecond before, the sixth opens") {
    CHECK(at(60999).window_total == 5);
    report(60999, true);
    CHECK(breaker.state() == BreakerState::open);
  }
  SUBCASE("at a minute it is the first") {
    CHECK(at(61000).window_total == 0);
    CHECK(at(1000).window_total == 5);  // showing dropped nothing
    report(61000, true);
    CHECK(breaker.state() == BreakerState::closed);
    CHECK(at(1000).window_total == 1);  // the report did
  }
}

TEST_CASE_FIXTURE(Fixture,
                  "breaker: open it rejects with what is left, and until is the first trial's instant") {
  open(1000);
  CHECK_FALSE(check(1000).allowed);
  CHECK(check(1000).retry_after_ms == 100);
  CHECK(check(1099).retry_after_ms == 1);
  CHECK_FALSE(check(1099).allowed);
  CHECK(breaker.state() == BreakerState::open);
  const BreakerDecision trial = check(1100);
  CHECK(trial.allowed);
  CHECK(trial.ticket.took_slot());
  CHECK(breaker.state() == BreakerState::half_open);
  CHECK(at(1100).slots == 1);
  CHECK(log.take() == "breaker_half_open");
}

TEST_CASE_FIXTURE(Fixture, "breaker: it stays open until a check, however late") {
  open(1000);
  CHECK(at(999999).state == BreakerState::open);
  report(999999, false);
  CHECK(at(999999).state == BreakerState::open);
  CHECK(log.take().empty());
}

TEST_CASE_FIXTURE(Fixture,
                  "breaker: half-open it admits as many trials as granted, then rejects for a second") {
  open(1000);
  CHECK(check(1100).allowed);
  CHECK(check(1100).allowed);
  const BreakerDecision refused = check(1100);
  CHECK_FALSE(refused.allowed);
  CHECK(refused.retry_after_ms == 1000);
  CHECK(refused.retry_after_s() == 1);
}

TEST_CASE_FIXTURE(Fixture, "breaker: opening keeps window and streak, closing empties both") {
  open(1000);
  CHECK(at(1000).window_failures == 3);
  report(1010, true);
  CHECK(at(1010).window_failures == 4);
  CHECK(at(1010).until.ms == 1100);  // a failure while open moves nothing
  check(1100);
  log.take();
  report(1100, false);
  CHECK(log.take() == "breaker_closed");
  CHECK(at(1100).window_total == 0);
  CHECK(at(1100).window_bytes == 0);
  report(1100, true, 2);
  CHECK(breaker.state() == BreakerState::closed);
}

TEST_CASE_FIXTURE(Fixture, "breaker: a failed trial opens it for a whole open_ms again") {
  open(1000);
  check(1100);
  log.take();
  report(1150, true);
  CHECK(log.take() == "breaker_opened half_open_probe_failed");
  CHECK(at(1150).openings == 2);
  CHECK(check(1249).retry_after_ms == 1);
  CHECK(check(1250).allowed);
}

TEST_CASE_FIXTURE(Fixture, "breaker: any report settles a half-open breaker, also one admitted long before") {
  const BreakerDecision early = check(1000);
  CHECK(early.allowed);
  open(1000);
  check(1100);
  log.take();
  report(1100, false);
  CHECK(log.take() == "breaker_closed");
}

TEST_CASE_FIXTURE(Fixture,
                  "breaker: an abandoned trial gives its slot back, once and never to a later half-open") {
  const BreakerDecision early = check(1000);
  open(1000);
  const BreakerDecision first = check(1100);
  CHECK(at(1100).slots == 1);
  breaker.give_back(early.ticket);
  CHECK(at(1100).slots == 1);
  breaker.give_back(first.ticket);
  CHECK(at(1100).slots == 2);
  breaker.give_back(first.ticket);
  CHECK(at(1100).slots == 2);
  const BreakerDecision again = check(1100);
  report(1100, true);
  check(1200);
  CHECK(at(1200).slots == 1);
  breaker.give_back(again.ticket);
  CHECK(at(1200).slots == 1);
}

TEST_CASE("breaker: Retry-After is whole seconds, rounded up, at least one") {
  const auto seconds = [](std::uint64_t ms) { return BreakerDecision{false, {}, ms}.retry_after_s(); };
  CHECK(seconds(0) == 1);
  CHECK(seconds(1) == 1);
  CHECK(seconds(999) == 1);
  CHECK(seconds(1000) == 1);
  CHECK(seconds(1001) == 2);
  CHECK(seconds(29999) == 30);
  CHECK(seconds(30000) == 30);
  CHECK(seconds(UINT64_MAX) == UINT64_MAX / 1000 + 1);
}

TEST_CASE_FIXTURE(Fixture, "breaker: dropped, it hears no report, says nothing and holds nobody up") {
  open(1000);
  breaker.detach();
  for (int i = 0; i < 3; ++i) CHECK(check(1001).allowed);
  report(1100, false);
  CHECK(breaker.state() == BreakerState::open);
  CHECK(at(1100).window_bytes == 0);
  CHECK(log.take().empty());
}

TEST_CASE_FIXTURE(Fixture, "breaker: an open period longer than time itself does not wrap around") {
  params.open_ms = UINT64_MAX;
  open(1000);
  CHECK(check(UINT64_MAX - 1).retry_after_ms == 1);
  CHECK(check(UINT64_MAX).allowed);
}

}  // namespace
}  // namespace halfopen
