// The races of one word, one by one: a pick and a report that meet between reading the word and swapping it,
// a look at an upstream that meets its reload.
#include <doctest/doctest.h>

#include <string>

#include "core/breaker.hpp"
#include "core/endpoint_health.hpp"
#include "core/upstream.hpp"
#include "tests/core/event_log.hpp"
#include "tests/core/meddled.hpp"
#include "tests/core/upstreams.hpp"

namespace halfopen {
namespace {

using testing::Meddled;

struct HealthFixture {
  HealthParams params;
  testing::EventLog log;
  BasicEndpointHealth<Meddled> health{&log};
  Ticket ticket;

  HealthFixture() {
    params.consecutive_failures = 1;
    params.eject_ms = 100;
    params.half_open_probes = 2;
    report(1000, true);
    log.take();
  }
  void report(std::uint64_t now, bool failure) { health.report(params, Instant{now}, failure); }
  bool candidate(std::uint64_t now) { return health.is_candidate(params, Instant{now}); }
};

TEST_CASE_FIXTURE(HealthFixture,
                  "race: a slot taken under the report of a failed trial does not save the endpoint") {
  candidate(1100);
  log.take();
  Meddled::before_swap = [this] { CHECK(health.select(ticket)); };
  report(1100, true);
  CHECK(log.take() == "endpoint_ejected half_open_probe_failed");
  CHECK(health.snapshot().ejections == 2);
  CHECK(health.snapshot().slots == 0);
  health.give_back(ticket);
  CHECK(health.snapshot().slots == 0);
}

TEST_CASE_FIXTURE(HealthFixture,
                  "race: whoever meets the new ejection meets its until, not the expired one before") {
  candidate(1100);
  Meddled::after_swap = [this] {
    CHECK_FALSE(candidate(1100));
    CHECK_FALSE(health.is_available(Instant{1199}));
    CHECK(health.label(Instant{1199}) == HealthState::ejected);
    CHECK(health.is_available(Instant{1200}));
  };
  report(1100, true);
  CHECK_FALSE(Meddled::after_swap);
  CHECK(health.stored_state() == HealthState::ejected);
}

TEST_CASE_FIXTURE(HealthFixture, "race: two picks that meet one expired ejection end it once") {
  bool other = false;
  Meddled::before_swap = [&] { other = health.acquire(params, Instant{1100}); };
  CHECK(candidate(1100));
  CHECK(other);
  CHECK(log.take() == "endpoint_half_open");
  CHECK(health.snapshot().slots == 1);
}

TEST_CASE_FIXTURE(HealthFixture, "race: a pick that comes second to a success finds a healthy endpoint") {
  Meddled::before_swap = [this] { report(1100, false); };
  CHECK(candidate(1100));
  CHECK(log.take() == "endpoint_recovered fail_open");
  CHECK(health.stored_state() == HealthState::healthy);
}

TEST_CASE_FIXTURE(HealthFixture, "race: a success that comes second to a pick is told as a half-open one's") {
  Meddled::before_swap = [this] { candidate(1100); };
  report(1100, false);
  CHECK(log.take() == "endpoint_half_open, endpoint_recovered half_open_probe");
  CHECK(health.snapshot().generation == 2);
}

struct BreakerFixture {
  BreakerParams params;
  testing::EventLog log;
  BasicBreaker<Meddled> breaker{&log};

  BreakerFixture() {
    params.consecutive_failures = 1;
    params.open_ms = 100;
    params.half_open_probes = 2;
    report(1000, true);
    log.take();
  }
  void report(std::uint64_t now, bool failure) { breaker.report(params, Instant{now}, failure); }
  BreakerDecision check(std::uint64_t now) { return breaker.check(params, Instant{now}); }
};

TEST_CASE_FIXTURE(
    BreakerFixture,
    "race: a trial admitted under the report of a failed one does not keep the breaker half-open") {
  check(1100);
  log.take();
  Meddled::before_swap = [this] { CHECK(check(1100).allowed); };
  report(1100, true);
  CHECK(log.take() == "breaker_opened half_open_probe_failed");
  CHECK_FALSE(check(1199).allowed);
}

TEST_CASE_FIXTURE(BreakerFixture,
                  "race: whoever meets the new open period meets its until, not the expired one before") {
  check(1100);
  Meddled::after_swap = [this] { CHECK(check(1100).retry_after_ms == 100); };
  report(1100, true);
  CHECK_FALSE(Meddled::after_swap);
  CHECK(breaker.state() == BreakerState::open);
}

TEST_CASE_FIXTURE(BreakerFixture,
                  "race: two checks that meet one expired open period are two trials of one half-open") {
  bool other = false;
  Meddled::before_swap = [&] { other = check(1100).allowed; };
  CHECK(check(1100).allowed);
  CHECK(other);
  CHECK_FALSE(check(1100).allowed);
  CHECK(log.take() == "breaker_half_open");
}

TEST_CASE("race: a view that meets a reload is of one generation, configuration and endpoints") {
  BasicUpstream<Meddled> upstream(testing::upstream_of("ab"), Instant{1000});
  const auto reload = [&upstream] { upstream.reload(testing::upstream_of("cde"), Instant{1000}); };
  std::string first;
  SUBCASE("right before it looks") {
    first = "c:1";
    Meddled::before_count = reload;
  }
  SUBCASE("before it looks a second time, if it did") {
    first = "a:1";
    Meddled::before_count = [reload] { Meddled::before_count = reload; };
  }
  const auto view = upstream.view();
  Meddled::before_count = nullptr;
  REQUIRE(view.endpoints.size() == view.config->endpoints.size());
  for (std::size_t i = 0; i < view.endpoints.size(); ++i) {
    CHECK(view.endpoints[i].name == view.config->endpoints[i].name());
  }
  CHECK(view.endpoints[0].name == first);
}

}  // namespace
}  // namespace halfopen
