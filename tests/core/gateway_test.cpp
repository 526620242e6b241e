#include "core/gateway.hpp"

#include <doctest/doctest.h>

#include "tests/core/event_log.hpp"
#include "tests/core/upstreams.hpp"

namespace halfopen {
namespace {

using testing::serve;
using testing::upstream_of;

UpstreamConfig named(const std::string& name) {
  UpstreamConfig config = upstream_of("ab");
  config.name = name;
  config.breaker = testing::quick_breaker();
  return config;
}

struct Fixture {
  testing::EventLog log;
  Gateway gateway{&log};

  void request(const std::string& name, int times) {
    for (int i = 0; i < times; ++i) gateway.find(name)->admit(Instant{1000}, AttemptKind::first);
  }
};

TEST_CASE_FIXTURE(Fixture, "gateway: finds what is configured and nothing else") {
  gateway.apply({named("shop"), named("mail")}, Instant{1000});
  CHECK(gateway.find("shop"));
  CHECK(gateway.find("mail"));
  CHECK_FALSE(gateway.find("news"));
  gateway.apply({named("mail")}, Instant{1000});
  CHECK_FALSE(gateway.find("shop"));
}

TEST_CASE_FIXTURE(Fixture, "gateway: an upstream that stays is the same one with its state") {
  gateway.apply({named("shop")}, Instant{1000});
  const auto before = gateway.find("shop");
  testing::eject(*before, 0, 1000);
  gateway.apply({named("mail"), named("shop")}, Instant{1000});
  CHECK(gateway.find("shop") == before);
  CHECK(serve(*before, 1000, 3) == "bbb");
  CHECK(serve(*gateway.find("mail"), 1000, 4) == "abab");
}

TEST_CASE_FIXTURE(Fixture,
                  "gateway: lists the upstreams in force, by name whatever their order in the file") {
  CHECK(gateway.upstreams().empty());
  gateway.apply({named("shop"), named("mail")}, Instant{1000});
  const auto first = gateway.upstreams();
  REQUIRE(first.size() == 2);
  CHECK(first[0] == gateway.find("mail"));
  CHECK(first[1] == gateway.find("shop"));
  gateway.apply({named("shop"), named("news")}, Instant{1000});
  const auto second = gateway.upstreams();
  REQUIRE(second.size() == 2);
  CHECK(second[0] == gateway.find("news"));
  CHECK(second[1] == first[1]);               // it stayed
  CHECK(first[0]->config()->name == "mail");  // whoever holds the old list holds its upstreams
  gateway.apply({}, Instant{1000});
  CHECK(gateway.upstreams().empty());
}

TEST_CASE_FIXTURE(Fixture, "gateway: renamed or re-added it is all fresh") {
  gateway.apply({named("shop")}, Instant{1000});
  const auto old = gateway.find("shop");
  testing::eject(*old, 0, 1000);
  serve(*old, 1000, 2, 500);  // opens the breaker
  CHECK(old->breaker()->state() == BreakerState::open);
  std::string name = "shop";
  SUBCASE("renamed") { name = "store"; }
  SUBCASE("removed and added again") { gateway.apply({}, Instant{1000}); }
  gateway.apply({named(name)}, Instant{1000});
  const auto fresh = gateway.find(name);
  CHECK(fresh != old);
  CHECK(fresh->breaker()->state() == BreakerState::closed);
  CHECK(serve(*fresh, 1000, 4) == "abab");
}

TEST_CASE_FIXTURE(Fixture, "gateway: the retry budget is kept by name, also while its upstream is away") {
  gateway.apply({named("shop")}, Instant{1000});
  request("shop", 10);
  gateway.apply({}, Instant{1000});
  gateway.apply({named("mail")}, Instant{1000});
  CHECK(gateway.find("mail")->budget()->snapshot().requests == 0);
  gateway.apply({named("shop")}, Instant{1000});
  CHECK(gateway.find("shop")->budget()->snapshot().requests == 10);
  CHECK(gateway.find("shop")->budget()->reserve(Instant{1000}, 10));
}

TEST_CASE_FIXTURE(Fixture,
                  "gateway: a removed upstream lives as long as it is held, and tells nobody anything") {
  gateway.apply({named("shop")}, Instant{1000});
  const auto held = gateway.find("shop");
  auto dispatch = testing::dispatch(*held, 1000);
  testing::eject(*held, 1, 1000);
  held->breaker()->report(testing::quick_breaker(), Instant{1000}, true);
  held->breaker()->report(testing::quick_breaker(), Instant{1000}, true);
  CHECK(log.take() == "b:1 endpoint_ejected consecutive_failures, breaker_opened consecutive_failures");
  gateway.apply({}, Instant{1000});
  dispatch.report(Instant{1000}, Outcome::http(500));
  CHECK(held->endpoints()[0].in_flight == 0);
  CHECK(serve(*held, 1100, 1) != "-");  // both periods are over: half-open, in silence
  CHECK(log.take().empty());
}

TEST_CASE_FIXTURE(Fixture,
                  "gateway: whoever holds a removed upstream is not shut out by its breaker for ever") {
  gateway.apply({named("shop")}, Instant{1000});
  const auto held = gateway.find("shop");
  held->breaker()->report(testing::quick_breaker(), Instant{1000}, true);
  held->breaker()->report(testing::quick_breaker(), Instant{1000}, true);
  CHECK_FALSE(held->admit(Instant{1000}, AttemptKind::first).allowed());
  gateway.apply({}, Instant{1000});
  for (std::uint64_t now = 1000; now < 1200; ++now)
    CHECK(held->admit(Instant{now}, AttemptKind::first).allowed());
}

}  // namespace
}  // namespace halfopen
