// One attempt after another on one configuration; what reloads change is in upstream_reload_test.cpp.
#include "core/upstream.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "tests/core/event_log.hpp"
#include "tests/core/upstreams.hpp"

namespace halfopen {
namespace {

using testing::dispatch;
using testing::eject;
using testing::serve;
using testing::upstream_of;

std::uint32_t in_flight(const Upstream& upstream, std::size_t index) {
  return upstream.endpoints()[index].in_flight;
}
std::uint32_t slots(const Upstream& upstream, std::size_t index) {
  return upstream.endpoints()[index].tracker->snapshot().slots;
}

TEST_CASE("upstream: in-flight goes up at the pick and down at headers, not at the end of the body") {
  Upstream upstream(upstream_of("ab"), Instant{1000});
  auto admission = upstream.admit(Instant{1000}, AttemptKind::first);
  CHECK(in_flight(upstream, 0) == 0);
  auto attempt = admission.pick(Instant{1000});
  CHECK(attempt.endpoint() == "a:1");
  CHECK(attempt.index() == 0);
  CHECK(in_flight(upstream, 0) == 1);
  auto body = attempt.report(Instant{1000}, Outcome::http(200));
  CHECK_FALSE(attempt);
  CHECK(in_flight(upstream, 0) == 0);
  body.broken(Instant{1000});
  CHECK(in_flight(upstream, 0) == 0);
  CHECK(upstream.endpoints()[0].tracker->snapshot().window_total == 2);
}

TEST_CASE("upstream: an abandoned attempt observes nothing and gives back its count and both its slots") {
  UpstreamConfig config = upstream_of("a");
  config.breaker = testing::quick_breaker();
  Upstream upstream(config, Instant{1000});
  CHECK(serve(upstream, 1000, 2, 500) == "aa");  // ejects a and opens the breaker
  {
    const auto trial = dispatch(upstream, 1100);
    REQUIRE(trial.is_trial());
    CHECK(slots(upstream, 0) == 0);
    CHECK(in_flight(upstream, 0) == 1);
    CHECK(upstream.breaker()->snapshot(Instant{1100}).slots == 0);
    CHECK_FALSE(upstream.admit(Instant{1100}, AttemptKind::retry).allowed());
  }
  CHECK(slots(upstream, 0) == 1);
  CHECK(in_flight(upstream, 0) == 0);
  CHECK(upstream.breaker()->snapshot(Instant{1100}).slots == 1);
  CHECK(upstream.endpoints()[0].tracker->snapshot().window_total == 0);
  CHECK(upstream.breaker()->snapshot(Instant{1100}).window_total == 2);
}

TEST_CASE("upstream: an admission that never picks gives its trial slot back") {
  UpstreamConfig config = upstream_of("a");
  config.breaker = testing::quick_breaker();
  Upstream upstream(config, Instant{1000});
  serve(upstream, 1000, 2, 500);
  { CHECK(upstream.admit(Instant{1100}, AttemptKind::retry).allowed()); }
  CHECK(upstream.breaker()->snapshot(Instant{1100}).slots == 1);
  auto first = upstream.admit(Instant{1100}, AttemptKind::retry);
  auto moved = std::move(first);
  CHECK(upstream.breaker()->snapshot(Instant{1100}).slots == 0);
}

TEST_CASE("upstream: a handle that is overwritten abandons what it held") {
  Upstream upstream(upstream_of("ab"), Instant{1000});
  auto attempt = dispatch(upstream, 1000);
  attempt = dispatch(upstream, 1000);
  CHECK(attempt.endpoint() == "b:1");
  CHECK(in_flight(upstream, 0) == 0);
  CHECK(in_flight(upstream, 1) == 1);
  attempt = {};
  CHECK(in_flight(upstream, 1) == 0);
}

TEST_CASE("upstream: a thousand abandoned trials do not wedge endpoint or breaker") {
  UpstreamConfig config = upstream_of("ab");
  config.breaker = testing::quick_breaker();
  Upstream upstream(config, Instant{1000});
  eject(upstream, 0, 1000);
  eject(upstream, 1, 1000);
  serve(upstream, 1000, 2, 500);
  REQUIRE(upstream.breaker()->state() == BreakerState::open);
  int trials = 0;
  for (int i = 0; i < 1000; ++i) trials += dispatch(upstream, 1100).is_trial();
  CHECK(trials == 1000);
  CHECK(serve(upstream, 1100, 4) == "abab");
  CHECK(upstream.breaker()->state() == BreakerState::closed);
}

TEST_CASE("upstream: slots are spent by the selected endpoint only") {
  Upstream upstream(upstream_of("abc"), Instant{1000});
  eject(upstream, 1, 1000);
  eject(upstream, 2, 1000);
  const auto healthy = dispatch(upstream, 1100);  // b and c were asked and became half-open
  CHECK(healthy.endpoint() == "a:1");
  CHECK(slots(upstream, 1) == 1);
  CHECK(slots(upstream, 2) == 1);
  const auto second = dispatch(upstream, 1100), third = dispatch(upstream, 1100),
             fourth = dispatch(upstream, 1100);
  CHECK(second.is_trial());
  CHECK(third.is_trial());
  CHECK(fourth.endpoint() == "a:1");
}

TEST_CASE("upstream: without a candidate everybody serves, which is no trial and settles whatever it meets") {
  testing::EventLog log;
  Upstream upstream(upstream_of("ab"), Instant{1000}, &log);
  eject(upstream, 0, 1000);
  eject(upstream, 1, 1000);
  log.take();
  auto attempt = dispatch(upstream, 1050);
  CHECK(attempt.endpoint() == "a:1");
  CHECK(attempt.fail_open());
  CHECK_FALSE(attempt.is_trial());
  CHECK(upstream.fail_open_picks() == 1);
  CHECK(log.take().empty());
  attempt.report(Instant{1050}, Outcome::http(200));
  CHECK(log.take() == "a:1 endpoint_recovered fail_open");
  CHECK(serve(upstream, 1050, 2) == "aa");
  CHECK(upstream.fail_open_picks() == 1);
}

TEST_CASE("upstream: fail-open begins also when one is half-open without slots, and takes none of it") {
  Upstream upstream(upstream_of("ab"), Instant{1000});
  eject(upstream, 0, 1000);
  eject(upstream, 1, 1050);
  const auto trial = dispatch(upstream, 1100);
  CHECK(trial.is_trial());
  const auto beside = dispatch(upstream, 1100);
  CHECK(beside.fail_open());
  CHECK(beside.endpoint() == "a:1");
  CHECK(slots(upstream, 0) == 0);
  CHECK(upstream.endpoints()[1].tracker->stored_state() == HealthState::ejected);
}

TEST_CASE("upstream: a single candidate is taken without running the algorithm") {
  Upstream upstream(upstream_of("abc"), Instant{1000});
  CHECK(serve(upstream, 1000, 1) == "a");
  eject(upstream, 1, 1000);
  eject(upstream, 2, 1000);
  CHECK(serve(upstream, 1000, 5) == "aaaaa");
  CHECK(serve(upstream, 1100, 5) == "bcabc");  // as if those five had not been
}

TEST_CASE("upstream: an empty set picks nobody, enters the budget and holds no trial slot") {
  UpstreamConfig config = upstream_of("");
  config.breaker = testing::quick_breaker();
  Upstream upstream(config, Instant{1000});
  upstream.breaker()->report(testing::quick_breaker(), Instant{1000}, true);
  upstream.breaker()->report(testing::quick_breaker(), Instant{1000}, true);
  {
    auto admission = upstream.admit(Instant{1100}, AttemptKind::first);
    CHECK(admission.allowed());
    CHECK_FALSE(admission.pick(Instant{1100}));
  }
  CHECK(upstream.budget()->snapshot().requests == 1);
  CHECK(upstream.breaker()->snapshot(Instant{1100}).slots == 1);
}

TEST_CASE("upstream: only an admitted first attempt enters the retry budget") {
  UpstreamConfig config = upstream_of("a");
  config.breaker = testing::quick_breaker();
  Upstream upstream(config, Instant{1000});
  upstream.admit(Instant{1000}, AttemptKind::first);
  upstream.admit(Instant{1000}, AttemptKind::retry);
  serve(upstream, 1000, 2, 500);
  const auto refused = upstream.admit(Instant{1001}, AttemptKind::first);
  CHECK_FALSE(refused.allowed());
  CHECK(refused.decision().retry_after_ms == 99);
  CHECK(upstream.budget()->snapshot().requests == 1);
}

TEST_CASE("upstream: least requests takes the fewest in flight, the lowest index on ties") {
  Upstream upstream(upstream_of("abc", Algorithm::least_requests), Instant{1000});
  std::vector<Upstream::Dispatch> open;
  for (int i = 0; i < 4; ++i) open.push_back(dispatch(upstream, 1000));
  CHECK(open[0].endpoint() == "a:1");
  CHECK(open[1].endpoint() == "b:1");
  CHECK(open[2].endpoint() == "c:1");
  CHECK(open[3].endpoint() == "a:1");
  open[2].abandon();
  CHECK(serve(upstream, 1000, 3) == "ccc");
}

TEST_CASE("upstream: random takes the less loaded of two candidates, the lower index on ties") {
  Upstream upstream(upstream_of("abcd", Algorithm::random), Instant{1000});
  const PickInput b_and_d{{}, std::uint64_t{3} << 62, std::uint64_t{1} << 63};  // places 3 and 1
  CHECK(serve(upstream, 1000, 1, 200, b_and_d) == "b");
  const auto busy = dispatch(upstream, 1000, b_and_d);
  CHECK(serve(upstream, 1000, 1, 200, b_and_d) == "d");
  eject(upstream, 0, 1000);  // of b c d: places 2 and 1
  CHECK(serve(upstream, 1000, 1, 200, b_and_d) == "c");
}

TEST_CASE("upstream: ip hash keeps a key on its owner, walks past while it is out, and needs a key") {
  Upstream upstream(upstream_of("abc", Algorithm::ip_hash), Instant{1000});
  const PickInput key{"198.51.100.7"};
  const std::string owner = serve(upstream, 1000, 1, 200, key);
  CHECK(serve(upstream, 1000, 4, 200, key) == std::string(4, owner[0]));
  eject(upstream, static_cast<std::size_t>(owner[0] - 'a'), 1000);
  const std::string next = serve(upstream, 1000, 3, 200, key);
  CHECK(next == std::string(3, next[0]));
  CHECK(next[0] != owner[0]);
  CHECK(serve(upstream, 1100, 2, 200, key) == owner + owner);
  CHECK(serve(upstream, 1100, 6) == "abcabc");
}

TEST_CASE("upstream: late reports count by default and are ignored and counted where the settings say so") {
  UpstreamConfig config = upstream_of("ab");
  SUBCASE("count") { config.late_reports = LateReports::count; }
  SUBCASE("ignore") { config.late_reports = LateReports::ignore; }
  config.breaker = testing::quick_breaker();
  Upstream upstream(config, Instant{1000});
  auto early = dispatch(upstream, 1000);
  eject(upstream, 0, 1000);
  early.report(Instant{1050}, Outcome::http(200));
  const bool counts = config.late_reports == LateReports::count;
  CHECK(upstream.late_reports_ignored() == (counts ? 0 : 1));
  CHECK((upstream.endpoints()[0].tracker->stored_state() == HealthState::healthy) == counts);
  CHECK(in_flight(upstream, 0) == 0);
  CHECK(upstream.breaker()->snapshot(Instant{1050}).window_total == 1);  // the breaker is told in any case
}

TEST_CASE("upstream: a broken body is no failure for the breaker, and late only if something else moved") {
  UpstreamConfig config = upstream_of("ab");
  config.late_reports = LateReports::ignore;
  config.breaker = testing::quick_breaker();
  Upstream upstream(config, Instant{1000});
  const auto tracker = upstream.endpoints()[0].tracker;
  auto body = dispatch(upstream, 1000).report(Instant{1000}, Outcome::http(200));
  SUBCASE("in time") {
    body.broken(Instant{1000});
    CHECK(tracker->snapshot().window_failures == 1);
    CHECK(upstream.late_reports_ignored() == 0);
  }
  SUBCASE("after an ejection") {
    eject(upstream, 0, 1000);
    body.broken(Instant{1000});
    CHECK(tracker->snapshot().window_failures == 0);
    CHECK(upstream.late_reports_ignored() == 1);
  }
  CHECK(upstream.breaker()->snapshot(Instant{1000}).window_total == 1);
  CHECK(upstream.breaker()->snapshot(Instant{1000}).window_failures == 0);
}

TEST_CASE("upstream: a trial whose body breaks off has recovered its endpoint and fails it once") {
  UpstreamConfig config = upstream_of("ab");
  config.late_reports = LateReports::ignore;
  Upstream upstream(config, Instant{1000});
  eject(upstream, 0, 1000);
  auto trial = dispatch(upstream, 1100);
  REQUIRE(trial.is_trial());
  auto body = trial.report(Instant{1100}, Outcome::http(200));
  body.broken(Instant{1110});
  CHECK(upstream.late_reports_ignored() == 0);
  CHECK(upstream.endpoints()[0].tracker->snapshot().streak == 1);
}

TEST_CASE("upstream: without health and breaker nobody is asked and nobody told") {
  UpstreamConfig config = upstream_of("ab");
  config.health.reset();
  Upstream upstream(config, Instant{1000});
  CHECK(serve(upstream, 1000, 50, 500) == serve(upstream, 1000, 50, 200));
  CHECK_FALSE(upstream.breaker());
  CHECK_FALSE(upstream.endpoints()[0].tracker);
  CHECK(upstream.fail_open_picks() == 0);
}

}  // namespace
}  // namespace halfopen
