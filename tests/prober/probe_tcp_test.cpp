// Probes of kind tcp, which ask nothing, and what probes of all kinds leave behind.
#include <doctest/doctest.h>

#include <thread>

#include "tests/prober/probing.hpp"
#include "tests/prober/sockets.hpp"

using namespace halfopen;
using namespace halfopen::testing;

namespace {

ProbeTarget tcp_target(const Server& server, std::uint64_t timeout_ms = LONG_MS) {
  ProbeTarget target = target_at(server, timeout_ms);
  target.kind = ProbeKind::tcp;
  return target;
}

}  // namespace

TEST_CASE("probe tcp: connecting is enough, and nothing is said") {
  const Server server({{stall()}});
  const ProbeReport report = probe_once(tcp_target(server));
  CHECK(told(report) == "ok");
  CHECK(phases(report) == "connect");
  CHECK(report.peer == at("127.0.0.1", server.port()));
  CHECK(report.total < SLACK);
  REQUIRE(server.wait_until([](const auto& visits) { return !visits.empty() && visits[0].left; }));
  CHECK(server.visits()[0].received.empty());
}

TEST_CASE("probe tcp: what the endpoint would say does not matter") {
  const Server server({answer(503), {reset()}, {drop()}, {never_read()}, {send("nonsense"), stall()}});
  for (int i = 0; i < 5; ++i) {
    const ProbeReport report = probe_once(tcp_target(server));
    CHECK(told(report) == "ok");
    CHECK(report.status == 0);
  }
  CHECK(server.wait_for_visits(5));
}

TEST_CASE("probe tcp: no TLS either, whatever the upstream speaks") {
  const Server server({{stall()}});
  ProbeTarget target = tcp_target(server);
  target.tls = true;
  const ProbeReport report = probe_once(target);
  CHECK(told(report) == "ok");
  CHECK(phases(report) == "connect");
  REQUIRE(server.wait_until([](const auto& visits) { return !visits.empty() && visits[0].left; }));
  CHECK(server.visits()[0].received.empty());
}

TEST_CASE("probe tcp: a port that listens, does not, and does again") {
  Server server({{stall()}});
  std::string all;
  for (int i = 0; i < 2; ++i) {
    all += told(probe_once(tcp_target(server))) + ", ";
    server.stop_listening();
    all += told(probe_once(tcp_target(server))) + ", ";
    server.listen_again();
  }
  CHECK(all == "ok, refused, ok, refused, ");
}

TEST_CASE("probe tcp: an endpoint's settings become the target of its probes") {
  UpstreamConfig upstream;
  upstream.timeouts.happy_eyeballs_ms = 77;
  upstream.trusted_ca_file = "ca.pem";
  upstream.active_health.emplace();
  upstream.active_health->path = "/up";
  upstream.active_health->timeout_ms = 123;
  const auto target_for = [&upstream](Protocol protocol, ProbeKind kind) {
    upstream.protocol = protocol;
    upstream.active_health->kind = kind;
    return ProbeTarget::of(upstream, {"::1", 81, 1});
  };
  const ProbeTarget plain = target_for(Protocol::http1, ProbeKind::tcp);
  CHECK(plain.address == "::1");
  CHECK(plain.port == 81);
  CHECK(plain.kind == ProbeKind::tcp);
  CHECK(plain.path == "/up");
  CHECK(plain.timeout_ms == 123);
  CHECK(plain.happy_eyeballs_ms == 77);
  CHECK(plain.trusted_ca_file == "ca.pem");
  CHECK_FALSE(plain.tls);
  CHECK(target_for(Protocol::https, ProbeKind::http).tls);
  CHECK(target_for(Protocol::http2, ProbeKind::http).tls);
}

TEST_CASE("probe tcp: probes of every kind and every end leave no file and no thread behind") {
  const Authority authority;
  const TemporaryFile file(authority.pem());
  Wishes good, wrong;
  good.dns = {"shop.test"}, wrong.dns = {"other.test"};
  Server::Options shows_good, shows_wrong;
  shows_good.identity = authority.issue(good), shows_wrong.identity = authority.issue(wrong);
  const Server fine({answer(200)}), bad({answer(500)}), mute({{read_request(), stall()}});
  const Server garbage({answer_with("garbage")}), breaks({{read_request(), reset()}}), leaves({Script{}});
  const Server secure({answer(200)}, shows_good), foreign({answer(200)}, shows_wrong);
  const BlackHole hole;
  const Port nobody;
  const Resolve resolve = [](const std::string& name) -> Addresses {
    if (name == "throws.test") throw std::runtime_error("no resolver");
    if (name == "slow.test") std::this_thread::sleep_for(Millis(60));
    if (name == "gone.test") return {{}, "no such name"};
    if (name == "race.test") return {{"127.0.0.1", "127.0.0.2", "127.0.0.3"}, ""};
    return {{"127.0.0.1"}, ""};
  };
  const auto once = [&](const std::string& name, std::uint16_t port, std::uint64_t limit, bool tls = false) {
    ProbeTarget target = target_at(name, port, limit);
    target.happy_eyeballs_ms = 5;
    target.tls = tls;
    target.trusted_ca_file = file.path();
    return told(probe_once(target, resolve));
  };
  const auto round = [&](std::uint64_t limit) {
    std::string all;
    for (const Server* server : {&fine, &bad, &garbage, &breaks, &leaves}) {
      all += once("127.0.0.1", server->port(), LONG_MS) + ", ";
    }
    all += once("127.0.0.1", mute.port(), limit) + ", ";
    all += once("shop.test", secure.port(), LONG_MS, true) + ", ";
    all += once("shop.test", foreign.port(), LONG_MS, true) + ", ";
    all += once("shop.test", mute.port(), limit, true) + ", ";
    all += once("127.0.0.1", hole.port(), limit) + ", " + once("race.test", hole.port(), limit) + ", ";
    all += once("127.0.0.1", nobody.port(), LONG_MS) + ", " + once("gone.test", 80, LONG_MS) + ", ";
    return all + once("throws.test", 80, LONG_MS) + ", " + once("slow.test", 80, 10);
  };
  const std::string first = round(300);
  CHECK(first ==
        "ok 200, status 500, malformed, reset, truncated, timeout, ok 200, tls, timeout, connect_timeout, "
        "connect_timeout, refused, name_lookup, not_made, name_lookup");
  const auto quiet = [&] {
    for (const Server* server : {&fine, &bad, &garbage, &breaks, &leaves, &mute, &secure, &foreign}) {
      if (!server->wait_until_idle()) return false;
    }
    return true;
  };
  // What the first of a kind keeps for all later ones, such as OpenSSL's random source, is there by now.
  REQUIRE(quiet());
  const std::size_t files_before = open_files(), threads_before = threads();
  // Hurried now: in which phase a limit strikes does not matter here.
  for (int i = 0; i < 15; ++i) round(20);
  REQUIRE(quiet());
  CHECK(comes_down_to(open_files, files_before));
  CHECK(comes_down_to(threads, threads_before));
}
