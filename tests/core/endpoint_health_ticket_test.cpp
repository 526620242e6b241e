// What a tracker does with the ticket of a pick: slots that return, reports that are late, bodies that break
// off.
#include <doctest/doctest.h>

#include "core/endpoint_health.hpp"
#include "tests/core/event_log.hpp"

namespace halfopen {
namespace {

struct Fixture {
  HealthParams params;
  testing::EventLog log;
  EndpointHealth health{&log};

  Fixture() {
    params.consecutive_failures = 3;
    params.eject_ms = 100;
    params.half_open_probes = 2;
  }
  Ticket pick(std::uint64_t now) {
    REQUIRE(health.is_candidate(params, Instant{now}));
    Ticket ticket;
    REQUIRE(health.select(ticket));
    return ticket;
  }
  void eject(std::uint64_t now) {
    for (int i = 0; i < 3; ++i) health.report(params, Instant{now}, true);
    log.take();
  }
  bool report(Ticket ticket, std::uint64_t now, bool failure, LateReports policy = LateReports::count) {
    return health.report(params, Instant{now}, failure, ticket, policy);
  }
  std::uint32_t slots() const { return health.snapshot().slots; }
};

TEST_CASE_FIXTURE(
    Fixture, "endpoint health: an abandoned trial gives its slot back, once and no more than were granted") {
  eject(1000);
  const Ticket trial = pick(1100);
  CHECK(trial.took_slot());
  CHECK(slots() == 1);
  health.give_back(trial);
  CHECK(slots() == 2);
  health.give_back(trial);
  CHECK(slots() == 2);
}

TEST_CASE_FIXTURE(Fixture,
                  "endpoint health: a pick of a healthy endpoint and a fail-open pick hold no slot") {
  const Ticket healthy = pick(1000);
  CHECK_FALSE(healthy.took_slot());
  eject(1000);
  const Ticket fail_open = health.ticket_without_slot();
  CHECK_FALSE(fail_open.took_slot());
  const Ticket trial = pick(1100);
  health.give_back(healthy);
  health.give_back(fail_open);
  CHECK(slots() == 1);
  health.give_back(trial);
  CHECK(slots() == 2);
}

TEST_CASE_FIXTURE(Fixture, "endpoint health: a slot of an earlier half-open does not return to a later one") {
  eject(1000);
  const Ticket before = pick(1100);
  report(pick(1100), 1100, true);  // ejected again until 1200
  health.give_back(before);
  CHECK(health.stored_state() == HealthState::ejected);
  pick(1200);
  CHECK(slots() == 1);
  health.give_back(before);
  CHECK(slots() == 1);
}

TEST_CASE_FIXTURE(Fixture,
                  "endpoint health: a slot that comes back after the recovery is lost without harm") {
  eject(1000);
  const Ticket abandoned = pick(1100);
  report(pick(1100), 1100, false);
  health.give_back(abandoned);
  CHECK(health.stored_state() == HealthState::healthy);
  CHECK(health.snapshot().slots == 0);
}

TEST_CASE_FIXTURE(Fixture, "endpoint health: no slot and no ejected endpoint can be selected") {
  eject(1000);
  Ticket ticket;
  CHECK_FALSE(health.select(ticket));
  pick(1100), pick(1100);
  CHECK_FALSE(health.select(ticket));
}

TEST_CASE_FIXTURE(Fixture, "endpoint health: a late success counts and is called late in either state") {
  const Ticket early = pick(1000);
  eject(1000);
  SUBCASE("ejected") { CHECK(report(early, 1050, false)); }
  SUBCASE("half-open") {
    pick(1100);
    log.take();
    CHECK(report(early, 1100, false));
  }
  CHECK(log.take() == "endpoint_recovered late_report");
}

TEST_CASE_FIXTURE(Fixture, "endpoint health: a late failure settles a half-open attempt") {
  const Ticket early = pick(1000);
  eject(1000);
  pick(1100);
  log.take();
  CHECK(report(early, 1100, true));
  CHECK(log.take() == "endpoint_ejected half_open_probe_failed");
}

TEST_CASE_FIXTURE(Fixture, "endpoint health: a report from under an ejection is late after the recovery") {
  eject(1000);
  const Ticket first = pick(1100), second = pick(1100);
  CHECK(report(first, 1110, false, LateReports::ignore));
  CHECK_FALSE(report(second, 1120, true, LateReports::ignore));
  CHECK(health.snapshot().streak == 0);
  CHECK(health.snapshot().window_total == 0);
}

TEST_CASE_FIXTURE(Fixture,
                  "endpoint health: an ignored late report changes neither state nor streak nor window") {
  const Ticket early = pick(1000);
  eject(1000);
  bool failure = false;
  SUBCASE("a success") { failure = false; }
  SUBCASE("a failure") { failure = true; }
  CHECK_FALSE(report(early, 1050, failure, LateReports::ignore));
  CHECK(health.snapshot().streak == 0);
  CHECK(health.snapshot().window_total == 0);
  CHECK(health.stored_state() == HealthState::ejected);
  pick(1100);
  log.take();
  CHECK_FALSE(report(early, 1100, failure, LateReports::ignore));
  CHECK(health.stored_state() == HealthState::half_open);
  CHECK(slots() == 1);
  CHECK(log.take().empty());
}

TEST_CASE_FIXTURE(
    Fixture, "endpoint health: half-open keeps the generation, so a fail-open report there is not late") {
  eject(1000);
  const Ticket fail_open = health.ticket_without_slot();
  pick(1100);
  log.take();
  CHECK(report(fail_open, 1100, false, LateReports::ignore));
  CHECK(log.take() == "endpoint_recovered half_open_probe");
}

TEST_CASE_FIXTURE(
    Fixture, "endpoint health: a body that breaks off is one more failure and not late by its own headers") {
  eject(1000);
  const Ticket trial = pick(1100);
  EndpointHealth::BodyTicket body;
  REQUIRE(health.report_headers(params, Instant{1100}, false, trial, LateReports::ignore, body));
  CHECK(health.stored_state() == HealthState::healthy);
  CHECK(health.report_broken_body(params, Instant{1110}, body, LateReports::ignore));
  CHECK(health.snapshot().streak == 1);
  CHECK(health.snapshot().window_failures == 1);
}

TEST_CASE_FIXTURE(Fixture,
                  "endpoint health: a body is late when its headers were, or when the endpoint moved since") {
  const Ticket ticket = pick(1000);
  EndpointHealth::BodyTicket body;
  SUBCASE("moved since") {
    CHECK(health.report_headers(params, Instant{1000}, false, ticket, LateReports::ignore, body));
    eject(1010);
  }
  SUBCASE("headers already late") {
    eject(1000);
    CHECK_FALSE(health.report_headers(params, Instant{1010}, false, ticket, LateReports::ignore, body));
  }
  SUBCASE("headers late, counted, and the endpoint as they left it") {
    eject(1000);
    CHECK(health.report_headers(params, Instant{1010}, false, ticket, LateReports::count, body));
    CHECK(health.stored_state() == HealthState::healthy);
  }
  const auto before = health.snapshot();
  CHECK_FALSE(health.report_broken_body(params, Instant{1020}, body, LateReports::ignore));
  CHECK(health.snapshot().streak == before.streak);
  CHECK(health.snapshot().window_total == before.window_total);
}

TEST_CASE_FIXTURE(
    Fixture,
    "endpoint health: bodies that always break off never reach a streak of two, but eject by ratio") {
  params.consecutive_failures = 2;
  params.failure_min_volume = 20;
  for (int i = 0; i < 9; ++i) {
    EndpointHealth::BodyTicket body;
    health.report_headers(params, Instant{1000}, false, pick(1000), LateReports::count, body);
    health.report_broken_body(params, Instant{1000}, body, LateReports::count);
    REQUIRE(health.snapshot().streak == 1);
  }
  EndpointHealth::BodyTicket body;
  health.report_headers(params, Instant{1000}, false, pick(1000), LateReports::count, body);
  CHECK(log.take().empty());
  health.report_broken_body(params, Instant{1000}, body, LateReports::count);
  CHECK(log.take() == "endpoint_ejected failure_ratio");
}

TEST_CASE_FIXTURE(Fixture, "endpoint health: a tracker whose endpoint left hears and says nothing") {
  const Ticket ticket = pick(1000);
  health.report(params, Instant{1000}, true);
  health.detach();
  CHECK(health.snapshot().window_bytes == 0);
  for (int i = 0; i < 5; ++i) CHECK(report(ticket, 1000, true, LateReports::ignore));
  health.report_probe(params, Instant{1000}, true);
  CHECK(health.stored_state() == HealthState::healthy);
  CHECK(health.snapshot().window_total == 0);
  CHECK(health.snapshot().streak == 1);
  CHECK(log.take().empty());
}

}  // namespace
}  // namespace halfopen
