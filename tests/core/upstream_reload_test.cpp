// What a reload keeps, what it drops, and what becomes of attempts that live through it.
#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "core/upstream.hpp"
#include "tests/core/event_log.hpp"
#include "tests/core/upstreams.hpp"

namespace halfopen {
namespace {

using testing::dispatch;
using testing::eject;
using testing::endpoint;
using testing::serve;
using testing::upstream_of;

struct Fixture {
  testing::EventLog log;
  UpstreamConfig config = upstream_of("abc");
  Upstream upstream{config, Instant{1000}, &log};

  void reload(std::uint64_t now = 1000) { upstream.reload(config, Instant{now}); }
  HealthState state(std::size_t index) const { return upstream.endpoints()[index].tracker->stored_state(); }
};

TEST_CASE_FIXTURE(Fixture,
                  "reload: tracker and in-flight stay with address and port, not with the position") {
  const auto open = dispatch(upstream, 1000);
  eject(upstream, 1, 1000);
  log.take();
  config.endpoints = {endpoint("c"), endpoint("b"), endpoint("a")};
  reload();
  const auto views = upstream.endpoints();
  CHECK(views[2].name == "a:1");
  CHECK(views[2].in_flight == 1);
  CHECK(views[0].in_flight == 0);
  CHECK(state(1) == HealthState::ejected);
  CHECK(log.take().empty());
  config.endpoints[1].port = 2;
  reload();
  CHECK(state(1) == HealthState::healthy);
}

TEST_CASE_FIXTURE(Fixture,
                  "reload: a view stays what it was, and each shows the order and settings of its own") {
  const auto before = upstream.view();
  config.endpoints = {endpoint("c"), endpoint("d")};
  config.active_health.emplace();
  reload();
  const auto after = upstream.view();
  REQUIRE(before.endpoints.size() == 3);
  CHECK(before.endpoints[2].name == before.config->endpoints[2].name());
  CHECK_FALSE(before.config->active_health);
  REQUIRE(after.endpoints.size() == 2);
  CHECK(after.endpoints[0].name == after.config->endpoints[0].name());
  CHECK(after.config->active_health);
  CHECK(after.config == upstream.config());
  CHECK(after.endpoints[0].tracker == before.endpoints[2].tracker);
  CHECK(after.endpoints[1].tracker);
}

TEST_CASE_FIXTURE(Fixture, "reload: a standing until and slot count stay as they are") {
  eject(upstream, 0, 1000);
  config.health->eject_ms = 1;
  config.health->half_open_probes = 5;
  reload(1001);
  CHECK(serve(upstream, 1099, 4) == "bcbc");
  { const auto abandoned = dispatch(upstream, 1100); }
  CHECK(state(0) == HealthState::half_open);
  config.health->half_open_probes = 9;
  reload(1100);
  CHECK(upstream.endpoints()[0].tracker->snapshot().slots == 5);
}

TEST_CASE_FIXTURE(
    Fixture, "reload: reports for a removed endpoint change and say nothing, but the breaker hears them") {
  config.breaker = testing::quick_breaker();
  config.late_reports = LateReports::ignore;
  reload();
  const auto removed = upstream.endpoints()[0].tracker;
  auto one = dispatch(upstream, 1000);
  eject(upstream, 0, 1000);  // so that the report is a late one as well
  log.take();
  config.endpoints = {endpoint("b"), endpoint("c")};
  reload();
  auto body = one.report(Instant{1000}, Outcome::http(500));
  body.broken(Instant{1000});
  CHECK(upstream.breaker()->snapshot(Instant{1000}).window_failures == 1);
  CHECK(upstream.late_reports_ignored() == 0);
  CHECK(removed->snapshot().window_total == 0);
  CHECK(removed->stored_state() == HealthState::ejected);
  CHECK(log.take().empty());
}

TEST_CASE_FIXTURE(Fixture,
                  "reload: a re-added endpoint is fresh, and old dispatches count down the old one") {
  auto old = dispatch(upstream, 1000);
  REQUIRE(old.endpoint() == "a:1");
  eject(upstream, 0, 1000);
  config.endpoints = {endpoint("b"), endpoint("c")};
  reload();
  config.endpoints = {endpoint("a"), endpoint("b"), endpoint("c")};
  reload();
  CHECK(state(0) == HealthState::healthy);
  CHECK(upstream.endpoints()[0].in_flight == 0);
  auto fresh = dispatch(upstream, 1000);
  CHECK(fresh.endpoint() == "a:1");
  old.report(Instant{1000}, Outcome::http(500));
  CHECK(upstream.endpoints()[0].in_flight == 1);
  CHECK(upstream.endpoints()[0].tracker->snapshot().window_total == 0);
}

TEST_CASE_FIXTURE(Fixture, "reload: without health the trackers go, with health again they are fresh") {
  auto old = dispatch(upstream, 1000);
  eject(upstream, 0, 1000);
  eject(upstream, 1, 1000);
  log.take();
  config.health.reset();
  reload();
  CHECK(serve(upstream, 1000, 3) == "bca");  // the running weights were kept
  config.health = testing::quick_health();
  reload();
  CHECK(serve(upstream, 1000, 3) == "bca");
  old.report(Instant{1000}, Outcome::http(500));
  CHECK(upstream.endpoints()[0].in_flight == 0);
  CHECK(upstream.endpoints()[0].tracker->snapshot().window_failures == 0);
  eject(upstream, 2, 1000);
  CHECK(serve(upstream, 1000, 4) == "bbab");
  CHECK(log.take() == "c:1 endpoint_ejected consecutive_failures");
}

TEST_CASE_FIXTURE(Fixture,
                  "reload: an admission from before health went and came hides nobody's end of ejection") {
  auto before = upstream.admit(Instant{1000}, AttemptKind::retry);
  config.health.reset();
  reload();
  config.health = testing::quick_health();
  reload();
  eject(upstream, 1, 1000);
  before.pick(Instant{1000});  // looks at the trackers of its own generation
  CHECK(serve(upstream, 1100, 6).find('b') != std::string::npos);
  CHECK(state(1) == HealthState::healthy);
}

TEST_CASE_FIXTURE(Fixture, "reload: without breaker its state goes, and its admissions reach no later one") {
  config.breaker = testing::quick_breaker();
  reload();
  const auto first = upstream.breaker();
  auto one = dispatch(upstream, 1000), two = dispatch(upstream, 1000);
  config.breaker->open_ms = 5000;
  reload();
  CHECK(upstream.breaker() == first);  // other settings, the same breaker
  config.breaker.reset();
  reload();
  CHECK(upstream.admit(Instant{1000}, AttemptKind::first).allowed());
  config.breaker = testing::quick_breaker();
  reload();
  one.report(Instant{1000}, Outcome::http(500));
  two.report(Instant{1000}, Outcome::http(500));
  CHECK(first->state() == BreakerState::closed);
  CHECK(upstream.breaker() != first);
  CHECK(upstream.breaker()->snapshot(Instant{1000}).window_total == 0);
  CHECK(log.take().empty());
}

TEST_CASE_FIXTURE(Fixture, "reload: an attempt reports by the settings of its admission") {
  config.breaker = testing::quick_breaker();
  reload();
  auto old_one = dispatch(upstream, 1000), old_two = dispatch(upstream, 1000);
  config.breaker->consecutive_failures = 100;
  config.health->consecutive_failures = 100;
  reload();
  old_one.report(Instant{1000}, Outcome::http(500));
  CHECK(upstream.breaker()->state() == BreakerState::closed);
  old_two.report(Instant{1000}, Outcome::http(500));
  CHECK(upstream.breaker()->state() == BreakerState::open);
  CHECK(upstream.breaker()->snapshot(Instant{1000}).until.ms == 1100);
}

TEST_CASE_FIXTURE(Fixture,
                  "reload: running weights stay with the same weights, in any order, and else start at 0") {
  CHECK(serve(upstream, 1000, 1) == "a");
  SUBCASE("the same set") {
    reload();
    CHECK(serve(upstream, 1000, 3) == "bca");
  }
  SUBCASE("the same set in another order") {
    config.endpoints = {endpoint("c"), endpoint("a"), endpoint("b")};
    reload();
    CHECK(serve(upstream, 1000, 3) == "cbc");  // a has still to wait its turn
  }
  SUBCASE("another weight") {
    config.endpoints[2].weight = 2;
    reload();
    CHECK(serve(upstream, 1000, 4) == "cabc");
  }
  SUBCASE("another algorithm and back") {
    config.load_balancer = Algorithm::least_requests;
    reload();
    config.load_balancer = Algorithm::round_robin;
    reload();
    CHECK(serve(upstream, 1000, 3) == "abc");
  }
  SUBCASE("another endpoint") {
    config.endpoints[1].address = "d";
    reload();
    CHECK(serve(upstream, 1000, 3) == "adc");
  }
}

TEST_CASE_FIXTURE(Fixture, "reload: weights that moved to other addresses are another set") {
  config.endpoints = {endpoint("a", 1), endpoint("b", 3)};
  reload();
  CHECK(serve(upstream, 1000, 1) == "b");
  config.endpoints = {endpoint("a", 3), endpoint("b", 1)};
  reload();
  CHECK(serve(upstream, 1000, 4) == "aaba");
}

int share(Upstream& upstream, std::uint64_t now, char address, int picks) {
  int count = 0;
  for (const char served : serve(upstream, now, picks)) count += served == address;
  return count;
}

TEST_CASE_FIXTURE(
    Fixture,
    "slow start: an address that a reload adds ramps up from a thousandth, the first ones never do") {
  config.endpoints = {endpoint("a")};
  config.slow_start_ms = 1000;
  Upstream slow(config, Instant{1000});
  CHECK(slow.endpoints().size() == 1);
  config.endpoints = {endpoint("a"), endpoint("b")};
  slow.reload(config, Instant{1000});
  CHECK(share(slow, 1000, 'b', 1001) == 1);
  CHECK(share(slow, 1250, 'b', 1250) == 250);
  CHECK(share(slow, 1999, 'b', 1999) == 999);
  CHECK(serve(slow, 2000, 4).find("bb") == std::string::npos);
  CHECK(share(slow, 2000, 'b', 1000) == 500);
}

TEST_CASE_FIXTURE(
    Fixture, "slow start: elapsed time is not below 0, and the entry is noted while it is switched off") {
  config.endpoints.push_back(endpoint("d"));
  reload(5000);
  CHECK(share(upstream, 5000, 'd', 8) == 2);
  config.slow_start_ms = 1000;
  reload(5100);
  CHECK(share(upstream, 4000, 'd', 3001) <= 2);  // before its entry: a thousandth
  CHECK(share(upstream, 5500, 'd', 3500) == 500);
}

TEST_CASE_FIXTURE(Fixture, "slow start: a return from ejection is no entry, a re-added address is one") {
  config.slow_start_ms = 1000;
  reload();
  eject(upstream, 0, 1000);
  CHECK(share(upstream, 1100, 'a', 300) == 100);
  config.endpoints = {endpoint("b"), endpoint("c")};
  reload(2000);
  config.endpoints = {endpoint("a"), endpoint("b"), endpoint("c")};
  reload(2000);
  CHECK(share(upstream, 2000, 'a', 2001) == 1);
}

TEST_CASE_FIXTURE(Fixture, "reload: handles live on when the upstream itself is gone") {
  Upstream::Dispatch orphan;
  Upstream::Body body;
  {
    Upstream mortal(config, Instant{1000}, &log);
    orphan = dispatch(mortal, 1000);
    body = dispatch(mortal, 1000).report(Instant{1000}, Outcome::http(200));
  }
  body.broken(Instant{1000});
  CHECK(orphan.endpoint() == "a:1");
  orphan.report(Instant{1000}, Outcome::http(500));
  CHECK(log.take().empty());
}

}  // namespace
}  // namespace halfopen
