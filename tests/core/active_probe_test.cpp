#include "core/active_probe.hpp"

#include <doctest/doctest.h>

#include "core/endpoint_health.hpp"
#include "tests/core/event_log.hpp"

namespace halfopen {
namespace {

struct Fixture {
  HealthParams passive;
  ActiveParams active;
  testing::EventLog log;
  EndpointHealth health{&log};

  Fixture() {
    passive.eject_ms = 100;
    active.success_threshold = 2;
    active.failure_threshold = 3;
  }
  ActiveProbe loop() const { return ActiveProbe(active, passive, health.snapshot().ejections); }
  void fail_traffic(std::uint64_t now, int times) {
    for (int i = 0; i < times; ++i) health.report(passive, Instant{now}, true);
  }
  void verdicts(ActiveProbe& probe, std::uint64_t now, bool ok, int times = 1) {
    for (int i = 0; i < times; ++i) probe.verdict(health, Instant{now}, ok);
  }
};

TEST_CASE_FIXTURE(Fixture, "active probe: the third failed probe in a row ejects, by the active threshold") {
  ActiveProbe probe = loop();
  verdicts(probe, 1000, false, 2);
  CHECK(health.stored_state() == HealthState::healthy);
  verdicts(probe, 1000, false);
  CHECK(log.take() == "endpoint_ejected consecutive_failures");
  CHECK(health.snapshot().until.ms == 1100);
  CHECK(health.snapshot().window_total == 0);
}

TEST_CASE_FIXTURE(Fixture, "active probe: the ratio rule is switched off for probes") {
  const HealthParams params = probe_report_params(passive, active);
  CHECK(params.consecutive_failures == 3);
  CHECK(params.failure_ratio == 1.0);
  CHECK(params.failure_min_volume == UINT32_MAX);
  CHECK(params.eject_ms == passive.eject_ms);
  CHECK(params.window_ms == passive.window_ms);
  CHECK(params.half_open_probes == passive.half_open_probes);
  for (int i = 0; i < 10; ++i) fail_traffic(1000, 1), health.report(passive, Instant{1000}, false);
  log.take();
  ActiveProbe probe = loop();
  verdicts(probe, 1000, false);
  CHECK(log.take().empty());
}

TEST_CASE_FIXTURE(Fixture,
                  "active probe: fewer successes than the threshold never re-admit, the threshold does") {
  ActiveProbe probe = loop();
  fail_traffic(1000, 5);
  log.take();
  verdicts(probe, 1010, true);
  CHECK(health.stored_state() == HealthState::ejected);
  verdicts(probe, 1020, true);
  REQUIRE(log.events.size() == 1);
  CHECK(log.events[0].because.successes == 2);
  CHECK(log.events[0].because.threshold == 2);
  CHECK(log.take() == "endpoint_recovered active_probe");
}

TEST_CASE_FIXTURE(Fixture,
                  "active probe: successes from before an ejection are no evidence that it is over") {
  ActiveProbe probe = loop();
  verdicts(probe, 900, true, 5);
  CHECK(probe.success_streak() == 5);
  fail_traffic(1000, 5);
  verdicts(probe, 1010, true);
  CHECK(probe.success_streak() == 1);
  CHECK(health.stored_state() == HealthState::ejected);
  fail_traffic(1020, 3);  // no new ejection: the streak stands
  verdicts(probe, 1030, true);
  CHECK(health.stored_state() == HealthState::healthy);
}

TEST_CASE_FIXTURE(Fixture,
                  "active probe: a loop that starts on an ejected endpoint needs its whole threshold") {
  fail_traffic(1000, 5);
  ActiveProbe probe = loop();
  verdicts(probe, 1010, true);
  CHECK(probe.success_streak() == 1);
  CHECK(health.stored_state() == HealthState::ejected);
  verdicts(probe, 1010, true);
  CHECK(health.stored_state() == HealthState::healthy);
}

TEST_CASE_FIXTURE(
    Fixture, "active probe: below the threshold a success only resets a healthy endpoint's failure streak") {
  active.success_threshold = 10;
  ActiveProbe probe = loop();
  fail_traffic(1000, 4);
  verdicts(probe, 1000, true);
  CHECK(health.snapshot().streak == 0);
  CHECK(health.snapshot().window_total == 4);
  CHECK(log.take().empty());
}

TEST_CASE_FIXTURE(Fixture, "active probe: a failure starts the success streak again") {
  ActiveProbe probe = loop();
  fail_traffic(1000, 5);
  verdicts(probe, 1010, true), verdicts(probe, 1010, false), verdicts(probe, 1010, true);
  CHECK(health.stored_state() == HealthState::ejected);
  verdicts(probe, 1010, true);
  CHECK(health.stored_state() == HealthState::healthy);
}

TEST_CASE_FIXTURE(Fixture,
                  "active probe: half-open, one failed probe ejects and one success short changes nothing") {
  ActiveProbe probe = loop();
  fail_traffic(1000, 5);
  health.is_candidate(passive, Instant{1100});
  log.take();
  verdicts(probe, 1100, true);
  CHECK(health.stored_state() == HealthState::half_open);
  verdicts(probe, 1110, false);
  CHECK(log.take() == "endpoint_ejected half_open_probe_failed");
  CHECK(health.snapshot().until.ms == 1210);
}

TEST_CASE_FIXTURE(Fixture, "active probe: the sleep is the interval and a whole part of the jitter") {
  active.interval_ms = 5000;
  active.jitter_ms = 500;
  CHECK(loop().sleep_ms(0) == 5000);
  CHECK(loop().sleep_ms(0.5) == 5250);
  CHECK(loop().sleep_ms(1 - 0x1p-53) == 5499);
  active.jitter_ms = 0;
  CHECK(loop().sleep_ms(1 - 0x1p-53) == 5000);
  CHECK(loop().interval_ms() == 5000);
}

TEST_CASE_FIXTURE(
    Fixture, "active probe: the third exception in a row ends the loop, a verdict between starts again") {
  ActiveProbe probe = loop();
  CHECK(probe.iteration_threw());
  CHECK(probe.iteration_threw());
  verdicts(probe, 1000, true);
  CHECK(probe.iteration_threw());
  CHECK(probe.iteration_threw());
  CHECK_FALSE(probe.iteration_threw());
}

TEST_CASE_FIXTURE(Fixture, "active probe: a verdict on an endpoint that left changes nothing") {
  ActiveProbe probe = loop();
  health.detach();
  verdicts(probe, 1000, false, 5);
  CHECK(health.stored_state() == HealthState::healthy);
  CHECK(log.take().empty());
}

}  // namespace
}  // namespace halfopen
