#include "core/endpoint_health.hpp"

#include <doctest/doctest.h>

#include <memory>

#include "tests/core/event_log.hpp"

namespace halfopen {
namespace {

// 3 in a row, or half of 6; out for 100 ms, two trials.
HealthParams small() {
  HealthParams params;
  params.window_ms = 1000;
  params.consecutive_failures = 3;
  params.failure_ratio = 0.5;
  params.failure_min_volume = 6;
  params.eject_ms = 100;
  params.half_open_probes = 2;
  return params;
}

struct Fixture {
  HealthParams params = small();
  testing::EventLog log;
  EndpointHealth health{&log};

  void report(std::uint64_t now, bool failure) { health.report(params, Instant{now}, failure); }
  void fail(std::uint64_t now, int times = 1) {
    for (int i = 0; i < times; ++i) report(now, true);
  }
  void succeed(std::uint64_t now, int times = 1) {
    for (int i = 0; i < times; ++i) report(now, false);
  }
  bool candidate(std::uint64_t now) { return health.is_candidate(params, Instant{now}); }
  void eject(std::uint64_t now) { fail(now, 3), log.take(); }
  void half_open(std::uint64_t now) { eject(now - 100), candidate(now), log.take(); }
  HealthState state() const { return health.stored_state(); }
};

TEST_CASE_FIXTURE(Fixture, "endpoint health: the third failure in a row ejects, the second does not") {
  fail(1000, 2);
  CHECK(state() == HealthState::healthy);
  fail(1001);
  CHECK(state() == HealthState::ejected);
  CHECK(health.snapshot().until.ms == 1101);
  CHECK(health.snapshot().ejections == 1);
  CHECK(log.take() == "endpoint_ejected consecutive_failures");
}

TEST_CASE_FIXTURE(Fixture, "endpoint health: a success starts the streak again") {
  fail(1000, 2);
  succeed(1000);
  fail(1000, 2);
  CHECK(state() == HealthState::healthy);
  CHECK(health.snapshot().streak == 2);
}

TEST_CASE_FIXTURE(Fixture,
                  "endpoint health: the ratio ejects from the minimal volume on, reached and not exceeded") {
  params.consecutive_failures = 100;
  succeed(1000, 3);
  fail(1000, 2);  // five: two short in ratio, one short in volume
  CHECK(state() == HealthState::healthy);
  fail(1000);  // three of six
  CHECK(state() == HealthState::ejected);
  REQUIRE(log.events.size() == 1);
  const Because& because = log.events[0].because;
  CHECK(because.volume == 6);
  CHECK(because.failures == 3);
  CHECK(because.streak == 3);
  CHECK(because.limit == 0.5);
  CHECK(because.for_ms == 100);
  CHECK(log.take() == "endpoint_ejected failure_ratio");
}

TEST_CASE_FIXTURE(Fixture, "endpoint health: below the minimal volume failures alone do not eject") {
  params.consecutive_failures = 100;
  fail(1000, 5);
  CHECK(state() == HealthState::healthy);
  fail(1000);
  CHECK(state() == HealthState::ejected);
}

TEST_CASE_FIXTURE(Fixture, "endpoint health: seven of a hundred reach a ratio of 0.07") {
  params.consecutive_failures = 100;
  params.failure_ratio = 0.07;
  params.failure_min_volume = 100;
  succeed(1000, 93);
  fail(1000, 6);
  CHECK(state() == HealthState::healthy);
  fail(1000);
  CHECK(state() == HealthState::ejected);
}

TEST_CASE_FIXTURE(
    Fixture, "endpoint health: a success that completes the volume does not eject, the next failure does") {
  params.consecutive_failures = 100;
  succeed(1000, 2);
  fail(1000, 3);
  succeed(1000);  // three of six
  CHECK(state() == HealthState::healthy);
  fail(1000);
  CHECK(state() == HealthState::ejected);
}

TEST_CASE_FIXTURE(Fixture, "endpoint health: when both rules hold the streak is named") {
  succeed(1000, 3);
  fail(1000, 3);
  CHECK(log.take() == "endpoint_ejected consecutive_failures");
}

TEST_CASE_FIXTURE(Fixture, "endpoint health: what is window_ms old is judged no more") {
  params.consecutive_failures = 100;
  fail(1000, 5);
  SUBCASE("one millisecond before, the sixth ejects") {
    fail(1999);
    CHECK(state() == HealthState::ejected);
  }
  SUBCASE("at window_ms it is the first") {
    fail(2000);
    CHECK(state() == HealthState::healthy);
    CHECK(health.snapshot().window_total == 1);
    CHECK(health.snapshot().streak == 6);
  }
}

TEST_CASE_FIXTURE(Fixture, "endpoint health: an ejection ends at until, when the next pick asks") {
  eject(1000);
  CHECK(health.snapshot().window_total == 0);
  CHECK(health.snapshot().window_bytes == 0);
  CHECK(health.snapshot().streak == 0);
  CHECK_FALSE(candidate(1099));
  CHECK_FALSE(health.is_available(Instant{1099}));
  CHECK(health.label(Instant{1099}) == HealthState::ejected);
  CHECK(health.is_available(Instant{1100}));
  CHECK(health.label(Instant{1100}) == HealthState::half_open);
  CHECK(state() == HealthState::ejected);  // asking for the label moved nothing
  CHECK(log.take().empty());
  CHECK(candidate(1100));
  CHECK(state() == HealthState::half_open);
  CHECK(health.snapshot().slots == 2);
  CHECK(log.take() == "endpoint_half_open");
  CHECK(candidate(1));  // half-open it stays, wherever the clock goes
  CHECK(log.take().empty());
}

TEST_CASE_FIXTURE(
    Fixture, "endpoint health: asking takes no slot, consuming takes one, without slots it is no candidate") {
  CHECK_FALSE(health.consume_probe());  // healthy
  eject(1000);
  CHECK_FALSE(health.consume_probe());  // ejected
  for (int i = 0; i < 10; ++i) CHECK(candidate(1100));
  CHECK(health.snapshot().slots == 2);
  CHECK(health.consume_probe());
  CHECK(candidate(1100));
  CHECK(health.consume_probe());
  CHECK_FALSE(health.consume_probe());
  CHECK_FALSE(candidate(1100));
  CHECK_FALSE(health.is_available(Instant{1100}));
  CHECK(health.label(Instant{1100}) == HealthState::half_open);
}

TEST_CASE_FIXTURE(Fixture, "endpoint health: acquire asks and takes in one step") {
  CHECK(health.acquire(params, Instant{1000}));
  eject(1000);
  CHECK_FALSE(health.acquire(params, Instant{1099}));
  CHECK(health.acquire(params, Instant{1100}));
  CHECK(health.acquire(params, Instant{1100}));
  CHECK_FALSE(health.acquire(params, Instant{1100}));
}

TEST_CASE_FIXTURE(Fixture, "endpoint health: a failed trial ejects for a whole eject_ms again") {
  half_open(1100);
  fail(1150);
  CHECK(log.take() == "endpoint_ejected half_open_probe_failed");
  CHECK(health.snapshot().ejections == 2);
  CHECK(health.snapshot().window_total == 0);
  CHECK(health.snapshot().streak == 0);
  CHECK_FALSE(candidate(1249));
  CHECK(candidate(1250));
}

TEST_CASE_FIXTURE(Fixture,
                  "endpoint health: a successful trial recovers with an empty window and no streak") {
  half_open(1100);
  succeed(1150);
  CHECK(log.take() == "endpoint_recovered half_open_probe");
  CHECK(state() == HealthState::healthy);
  CHECK(health.snapshot().window_total == 0);
  CHECK(health.snapshot().window_bytes == 0);
  CHECK(health.snapshot().ejections == 1);
  CHECK(health.snapshot().generation == 2);
  fail(1150, 2);
  CHECK(state() == HealthState::healthy);
}

TEST_CASE_FIXTURE(
    Fixture, "endpoint health: a failure never extends an ejection, also an expired one that met no pick") {
  eject(1000);
  fail(1050, 2);
  fail(1300, 2);
  CHECK(state() == HealthState::ejected);
  CHECK(health.snapshot().until.ms == 1100);
  CHECK(health.snapshot().streak == 4);
  CHECK(health.snapshot().window_total == 4);
  CHECK(log.take().empty());
}

TEST_CASE_FIXTURE(
    Fixture, "endpoint health: a success on an ejected endpoint recovers it by fail-open, expired or not") {
  eject(1000);
  SUBCASE("standing") { succeed(1050); }
  SUBCASE("expired, but met by no pick") { succeed(1100); }
  CHECK(log.take() == "endpoint_recovered fail_open");
  CHECK(candidate(1000));
}

TEST_CASE_FIXTURE(
    Fixture, "endpoint health: a probe judges as traffic does, but neither enters the window nor prunes it") {
  fail(1000);
  health.report_probe(params, Instant{5000}, true);
  CHECK(health.snapshot().window_total == 1);
  CHECK(health.snapshot().streak == 2);
  health.report_probe(params, Instant{5000}, false);
  CHECK(health.snapshot().streak == 0);
  for (int i = 0; i < 3; ++i) health.report_probe(params, Instant{5000}, true);
  CHECK(log.take() == "endpoint_ejected consecutive_failures");
  health.report_probe(params, Instant{5050}, false);
  CHECK(log.take() == "endpoint_recovered active_probe");
  half_open(9000);
  health.report_probe(params, Instant{9000}, true);
  CHECK(log.take() == "endpoint_ejected half_open_probe_failed");
}

TEST_CASE_FIXTURE(Fixture, "endpoint health: a probe's failure looks at the window as stored, aged or not") {
  params.consecutive_failures = 100;
  fail(1000, 5);
  succeed(1000);
  health.report_probe(params, Instant{900000}, true);
  CHECK(log.take() == "endpoint_ejected failure_ratio");
}

TEST_CASE_FIXTURE(Fixture, "endpoint health: an ejection longer than time itself does not wrap around") {
  params.eject_ms = UINT64_MAX;
  fail(1000, 3);
  CHECK_FALSE(candidate(UINT64_MAX - 1));
  CHECK(candidate(UINT64_MAX));
}

TEST_CASE_FIXTURE(Fixture,
                  "endpoint health: other settings leave a standing until and slot count as they are") {
  eject(1000);
  params.eject_ms = 1;
  CHECK_FALSE(candidate(1099));
  CHECK(candidate(1100));
  params.half_open_probes = 9;
  CHECK(candidate(1100));
  CHECK(health.snapshot().slots == 2);
}

}  // namespace
}  // namespace halfopen
