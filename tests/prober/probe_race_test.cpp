// Names with several addresses: who is tried first, when the next one begins, who wins (RFC 8305).
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/prober/probing.hpp"
#include "tests/prober/sockets.hpp"

using namespace halfopen;
using namespace halfopen::testing;

namespace {

// A delay that ends no test: what happens does not wait for it.
constexpr std::uint64_t NEVER_MS = 10 * 60'000;
constexpr std::uint64_t DELAY_MS = 120;

bool without_ipv6() {
  if (has_address("::1")) return false;
  MESSAGE("this machine has no ::1, so no families raced each other");
  return true;
}

Server at_address(const Port& port) {
  Server::Options options;
  options.address = port.address();
  options.port = port.port();
  return Server({answer(200)}, options);
}

ProbeReport race(std::uint16_t port, const std::vector<std::string>& addresses, std::uint64_t delay_ms,
                 std::uint64_t timeout_ms = LONG_MS) {
  ProbeTarget target = target_at("both.test", port, timeout_ms);
  target.happy_eyeballs_ms = delay_ms;
  return probe_once(target, found(addresses));
}

}  // namespace

TEST_CASE("probe race: a name with one address of either family is probed there") {
  const Server four({answer(200)});
  CHECK(race(four.port(), {"127.0.0.1"}, DELAY_MS).peer == at("127.0.0.1", four.port()));
  if (without_ipv6()) return;
  const Port port("::1");
  const Server six = at_address(port);
  const ProbeReport report = race(six.port(), {"::1"}, DELAY_MS);
  CHECK(told(report) == "ok 200");
  CHECK(report.peer == at("::1", six.port()));
}

TEST_CASE("probe race: where all are well the first one is asked and nobody else") {
  const auto ports = same_port_on({"127.0.0.1", "127.0.0.2"});
  const Server first = at_address(ports[0]), second = at_address(ports[1]);
  for (const std::uint64_t delay : {std::uint64_t{0}, NEVER_MS}) {
    CHECK(race(ports[0].port(), {"127.0.0.1", "127.0.0.2"}, delay).peer == at("127.0.0.1", ports[0].port()));
    CHECK(race(ports[0].port(), {"127.0.0.2", "127.0.0.1"}, delay).peer == at("127.0.0.2", ports[0].port()));
  }
  CHECK(first.count() == 2);
  CHECK(second.count() == 2);
}

TEST_CASE("probe race: where the first is refused the next begins at once, whatever the delay") {
  const auto ports = same_port_on({"127.0.0.1", "127.0.0.2", "127.0.0.3"});
  const Server third = at_address(ports[2]);
  for (const std::uint64_t delay : {std::uint64_t{0}, NEVER_MS}) {
    const ProbeReport report = race(third.port(), {"127.0.0.1", "127.0.0.2", "127.0.0.3"}, delay);
    CHECK(told(report) == "ok 200");
    CHECK(report.peer == at("127.0.0.3", third.port()));
    CHECK(report.total < SLACK);
  }
}

TEST_CASE("probe race: where the first says nothing the next begins one delay later") {
  const auto ports = same_port_on({"127.0.0.1", "127.0.0.2"});
  const BlackHole hole("127.0.0.1", ports[0].port());
  const Server second = at_address(ports[1]);
  const ProbeReport report = race(second.port(), {"127.0.0.1", "127.0.0.2"}, DELAY_MS);
  CHECK(told(report) == "ok 200");
  CHECK(report.peer == at("127.0.0.2", second.port()));
  REQUIRE(report.connect);
  CHECK(*report.connect >= Millis(DELAY_MS));
  CHECK(*report.connect < Millis(DELAY_MS) + SLACK);
  CHECK(phases(report) == "look_up connect response");
}

TEST_CASE("probe race: each further one waits a further delay") {
  const auto ports = same_port_on({"127.0.0.1", "127.0.0.2", "127.0.0.3"});
  const BlackHole first("127.0.0.1", ports[0].port()), second("127.0.0.2", ports[0].port());
  const Server third = at_address(ports[2]);
  const ProbeReport report = race(third.port(), {"127.0.0.1", "127.0.0.2", "127.0.0.3"}, DELAY_MS);
  CHECK(report.peer == at("127.0.0.3", third.port()));
  REQUIRE(report.connect);
  CHECK(*report.connect >= Millis(2 * DELAY_MS));
}

TEST_CASE("probe race: one that fails late hands over at once, without a second delay") {
  // The first hangs, the second begins after the delay and is refused, so the third begins with it.
  const auto ports = same_port_on({"127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"});
  const BlackHole hole("127.0.0.1", ports[0].port());
  const Server fourth = at_address(ports[3]);
  const std::uint64_t delay = 2 * static_cast<std::uint64_t>(SLACK.count()) / 5;
  const ProbeReport report = race(fourth.port(), {"127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"}, delay);
  CHECK(report.peer == at("127.0.0.4", fourth.port()));
  REQUIRE(report.connect);
  CHECK(*report.connect >= Millis(delay));
  CHECK(*report.connect < Millis(2 * delay));
}

TEST_CASE("probe race: a delay of 0 tries one after the other, each until it fails") {
  const auto ports = same_port_on({"127.0.0.1", "127.0.0.2"});
  const BlackHole hole("127.0.0.1", ports[0].port());
  const Server second = at_address(ports[1]);
  const ProbeReport report = race(second.port(), {"127.0.0.1", "127.0.0.2"}, 0, 250);
  CHECK(told(report) == "connect_timeout");
  CHECK(took(report, 250));
  CHECK(second.wait_until_idle());
  CHECK(second.count() == 0);
}

TEST_CASE("probe race: the families take turns, the first address's first") {
  if (without_ipv6()) return;
  const auto ports = same_port_on({"127.0.0.1", "127.0.0.2", "::1"});
  const BlackHole hole("127.0.0.1", ports[0].port());
  const Server four = at_address(ports[1]), six = at_address(ports[2]);
  // In the order of the look-up 127.0.0.2 would have been the next.
  const ProbeReport report = race(ports[0].port(), {"127.0.0.1", "127.0.0.2", "::1"}, DELAY_MS);
  CHECK(report.peer == at("::1", ports[0].port()));
  CHECK(four.count() == 0);
}

TEST_CASE("probe race: with one family dead the other one answers, in either order") {
  if (without_ipv6()) return;
  const auto ports = same_port_on({"127.0.0.1", "::1"});
  for (const std::size_t alive : {std::size_t{0}, std::size_t{1}}) {
    const std::string& dead = ports[1 - alive].address();
    const std::string& live = ports[alive].address();
    CAPTURE(live);
    const Server server = at_address(ports[alive]);
    for (const std::vector<std::string>& order : {std::vector<std::string>{dead, live}, {live, dead}}) {
      const ProbeReport refused = race(server.port(), order, NEVER_MS);
      CHECK(told(refused) == "ok 200");
      CHECK(refused.peer == at(live, server.port()));
    }
    const BlackHole hole(dead, server.port());
    const ProbeReport late = race(server.port(), {dead, live}, DELAY_MS);
    CHECK(told(late) == "ok 200");
    CHECK(late.peer == at(live, server.port()));
    CHECK(late.total >= Millis(DELAY_MS));
  }
}

TEST_CASE("probe race: where all are dead the most telling end is told") {
  const auto ports = same_port_on({"127.0.0.1", "127.0.0.2"});
  const std::uint16_t port = ports[0].port();
  CHECK(told(race(port, {"127.0.0.1", "127.0.0.2"}, DELAY_MS)) == "refused");
  CHECK(told(race(port, {"127.0.0.1", "224.0.0.1"}, DELAY_MS)) == "refused");
  CHECK(told(race(port, {"224.0.0.1", "127.0.0.1"}, DELAY_MS)) == "refused");
  CHECK(told(race(port, {"224.0.0.1", "224.0.0.2"}, DELAY_MS)) == "unreachable");
  const BlackHole hole("127.0.0.1", port);
  const ProbeReport report = race(port, {"127.0.0.2", "127.0.0.1"}, 10, 200);
  CHECK(told(report) == "connect_timeout");
  CHECK(took(report, 200));
}

TEST_CASE("probe race: the limit of the probe holds for all attempts together") {
  const auto ports = same_port_on({"127.0.0.1", "127.0.0.2", "127.0.0.3"});
  std::vector<BlackHole> holes;
  for (const Port& port : ports) holes.emplace_back(port.address(), port.port());
  for (const std::uint64_t delay : {std::uint64_t{0}, std::uint64_t{20}, NEVER_MS}) {
    const ProbeReport report = race(ports[0].port(), {"127.0.0.1", "127.0.0.2", "127.0.0.3"}, delay, 200);
    CHECK(told(report) == "connect_timeout");
    CHECK(took(report, 200));
  }
}

TEST_CASE("probe race: the first to connect is probed even if it answers badly, the others are closed") {
  const auto ports = same_port_on({"127.0.0.1", "127.0.0.2"});
  Server::Options options;
  options.address = ports[0].address(), options.port = ports[0].port();
  const Server bad({answer(503)}, options);
  const Server good = at_address(ports[1]);
  CHECK(told(race(ports[0].port(), {"127.0.0.1", "127.0.0.2"}, 0)) == "status 503");
  CHECK(good.count() == 0);
}

TEST_CASE("probe race: losers are closed with the verdict") {
  const auto ports = same_port_on({"127.0.0.1", "127.0.0.2", "127.0.0.3"});
  const BlackHole first("127.0.0.1", ports[0].port()), second("127.0.0.2", ports[0].port());
  const Server third = at_address(ports[2]);
  race(ports[0].port(), {"127.0.0.1", "127.0.0.2", "127.0.0.3"}, 5);
  REQUIRE(third.wait_until_idle());
  const std::size_t before = open_files();
  for (int i = 0; i < 10; ++i) {
    CHECK(race(ports[0].port(), {"127.0.0.1", "127.0.0.2", "127.0.0.3"}, 5).ok());
  }
  REQUIRE(third.wait_until_idle());
  CHECK(comes_down_to(open_files, before));
}
