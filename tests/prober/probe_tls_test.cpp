// Probes over TLS: whom they trust, what they say in their hello, and handshakes that go wrong.
#include <doctest/doctest.h>

#include "tests/prober/probing.hpp"
#include "tests/prober/sockets.hpp"

using namespace halfopen;
using namespace halfopen::testing;

namespace {

constexpr long DAY_S = 86'400;

// One for all cases, as making keys takes its time.
struct Trusted {
  Authority authority;
  TemporaryFile file{authority.pem()};
};

const Trusted& trusted() {
  static const Trusted made;
  return made;
}

Wishes wishes(std::vector<std::string> dns, std::vector<std::string> ip = {}) {
  Wishes made;
  made.dns = std::move(dns);
  made.ip = std::move(ip);
  return made;
}

Server::Options showing(Identity identity, const std::string& address = "127.0.0.1") {
  Server::Options options;
  options.identity = std::move(identity);
  options.address = address;
  return options;
}

ProbeTarget secure_target(const std::string& address, const Server& server,
                          std::uint64_t timeout_ms = LONG_MS) {
  ProbeTarget target = target_at(address, server.port(), timeout_ms);
  target.tls = true;
  target.trusted_ca_file = trusted().file.path();
  return target;
}

const Resolve here = found({"127.0.0.1"});

// What a probe of shop.test says to a server with this certificate, and why.
ProbeReport probe_with(const Identity& identity, const std::string& address = "shop.test") {
  const Server server({answer(200)}, showing(identity));
  ProbeReport report = probe_once(secure_target(address, server), here);
  CHECK(server.wait_until_idle());
  CHECK(server.count() == 1);
  // Nobody is asked anything before he has proved who he is.
  CHECK(server.visits()[0].received.empty() != report.ok());
  return report;
}

}  // namespace

TEST_CASE("probe tls: a certificate of the configured authority for the name is good") {
  const ProbeReport report = probe_with(trusted().authority.issue(wishes({"shop.test"})));
  CHECK(told(report) == "ok 200");
  CHECK(phases(report) == "look_up connect tls response");
  CHECK(*report.look_up + *report.connect + *report.tls + *report.response <= report.total);
  CHECK(report.detail.empty());
}

TEST_CASE("probe tls: the status decides as it does over plain text, however it is split") {
  const Identity identity = trusted().authority.issue(wishes({"shop.test"}));
  const Server server({answer(503),
                       {read_request(), send_bytewise("HTTP/1.1 204 No Content\r\n", Millis(1)), stall()},
                       {read_request(), send("HTTP/1.1 2")},
                       {read_request(), send("HTTP/1.1 2"), drop()},
                       {read_request(), send("HTTP/1.1 2"), wait_for(Millis(100)), reset()},
                       {read_request(), send("SSH-2.0-x\r\n"), stall()},
                       {read_request(), send("HTTP/1.1 200 " + std::string(5000, 'y')), stall()}},
                      showing(identity));
  std::string all;
  for (int i = 0; i < 7; ++i) all += told(probe_once(secure_target("shop.test", server), here)) + ", ";
  CHECK(all == "status 503, ok 204, truncated, truncated, reset, malformed, too_long, ");
}

TEST_CASE("probe tls: the hello names the host and offers http/1.1") {
  const Server server({answer(200)}, showing(trusted().authority.issue(wishes({"shop.test"}))));
  REQUIRE(probe_once(secure_target("shop.test", server), here).ok());
  REQUIRE(server.wait_until_idle());
  const Visit visit = server.visits()[0];
  CHECK(visit.secured);
  CHECK(visit.asked_for == "shop.test");
  CHECK(visit.protocols == std::vector<std::string>{"http/1.1"});
  const std::string host = "shop.test:" + std::to_string(server.port());
  CHECK(visit.received == "GET /healthz HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
}

TEST_CASE("probe tls: an IP address must be in the certificate as one, and is no server name") {
  const Identity identity = trusted().authority.issue(wishes({}, {"127.0.0.1"}));
  const Server server({answer(200)}, showing(identity));
  const ProbeReport report = probe_once(secure_target("127.0.0.1", server));
  CHECK(told(report) == "ok 200");
  CHECK(phases(report) == "connect tls response");
  REQUIRE(server.wait_until_idle());
  CHECK_FALSE(server.visits()[0].asked_for.has_value());
  CHECK(server.visits()[0].protocols == std::vector<std::string>{"http/1.1"});
  CHECK(told(probe_with(trusted().authority.issue(wishes({}, {"127.0.0.2"})), "127.0.0.1")) == "tls");
  CHECK(told(probe_with(trusted().authority.issue(wishes({"127.0.0.1"})), "127.0.0.1")) == "tls");
}

TEST_CASE("probe tls: an IPv6 address is compared as one too") {
  if (!has_address("::1")) {
    MESSAGE("this machine has no ::1, so no certificate was compared with it");
    return;
  }
  const Server good({answer(200)}, showing(trusted().authority.issue(wishes({}, {"::1"})), "::1"));
  CHECK(told(probe_once(secure_target("::1", good))) == "ok 200");
  CHECK(told(probe_once(secure_target("0:0:0:0:0:0:0:1", good))) == "ok 200");
  const Server bad({answer(200)}, showing(trusted().authority.issue(wishes({}, {"::2"})), "::1"));
  CHECK(told(probe_once(secure_target("::1", bad))) == "tls");
}

TEST_CASE("probe tls: the address of a name need not be in its certificate, nor does it help there") {
  CHECK(told(probe_with(trusted().authority.issue(wishes({}, {"127.0.0.1"})))) == "tls");
}

TEST_CASE("probe tls: a certificate out of its time is refused and says which way") {
  Wishes old = wishes({"shop.test"}), young = old;
  old.from_s = -2 * DAY_S, old.to_s = -DAY_S;
  young.from_s = DAY_S, young.to_s = 2 * DAY_S;
  const ProbeReport expired = probe_with(trusted().authority.issue(old));
  CHECK(told(expired) == "tls");
  CHECK(expired.detail.find("expired") != std::string::npos);
  CHECK(phases(expired) == "look_up connect");
  CHECK_FALSE(expired.peer.empty());
  const ProbeReport early = probe_with(trusted().authority.issue(young));
  CHECK(told(early) == "tls");
  CHECK(early.detail.find("not yet valid") != std::string::npos);
}

TEST_CASE("probe tls: a certificate for another name is refused, a wildcard holds for one label") {
  const auto with = [](const std::string& dns, const std::string& address) {
    return told(probe_with(trusted().authority.issue(wishes({dns})), address));
  };
  CHECK(with("other.test", "shop.test") == "tls");
  CHECK(with("shop.test", "a.shop.test") == "tls");
  CHECK(with("*.shop.test", "a.shop.test") == "ok 200");
  CHECK(with("*.shop.test", "shop.test") == "tls");
  CHECK(with("*.shop.test", "b.a.shop.test") == "tls");
  CHECK(with("SHOP.test", "shop.TEST") == "ok 200");
}

TEST_CASE("probe tls: a name in the subject alone is none") {
  Wishes bare;
  bare.common_name = "shop.test";
  const ProbeReport report = probe_with(trusted().authority.issue(bare));
  CHECK(told(report) == "tls");
  CHECK(report.detail.find("mismatch") != std::string::npos);
}

TEST_CASE("probe tls: who vouches only for itself is refused, unless it is what the file holds") {
  const Identity own = self_signed(wishes({"shop.test"}));
  const ProbeReport report = probe_with(own);
  CHECK(told(report) == "tls");
  CHECK(report.detail.find("self-signed") != std::string::npos);
  const TemporaryFile file(pem_of(own));
  const Server server({answer(200)}, showing(own));
  ProbeTarget target = secure_target("shop.test", server);
  target.trusted_ca_file = file.path();
  CHECK(told(probe_once(target, here)) == "ok 200");
}

TEST_CASE(
    "probe tls: only the authority in the file is trusted, and the system's roots know no private one") {
  const Authority stranger;
  const ProbeReport foreign = probe_with(stranger.issue(wishes({"shop.test"})));
  CHECK(told(foreign) == "tls");
  CHECK(foreign.detail.find("issuer") != std::string::npos);
  const Server server({answer(200)}, showing(trusted().authority.issue(wishes({"shop.test"}))));
  ProbeTarget target = secure_target("shop.test", server);
  target.trusted_ca_file.clear();
  CHECK(told(probe_once(target, here)) == "tls");
}

TEST_CASE("probe tls: a file may hold several authorities") {
  const Authority first, second;
  const TemporaryFile file(first.pem() + second.pem());
  for (const Authority* authority : {&first, &second}) {
    const Server server({answer(200)}, showing(authority->issue(wishes({"shop.test"}))));
    ProbeTarget target = secure_target("shop.test", server);
    target.trusted_ca_file = file.path();
    CHECK(told(probe_once(target, here)) == "ok 200");
  }
}

TEST_CASE("probe tls: without a readable file of authorities nothing is asked and nothing is learnt") {
  const Server server({answer(200)}, showing(trusted().authority.issue(wishes({"shop.test"}))));
  const TemporaryFile empty(""), prose("no certificate\n");
  for (const std::string& path : {std::string("/nowhere/ca.pem"), empty.path(), prose.path()}) {
    CAPTURE(path);
    ProbeTarget target = secure_target("shop.test", server);
    target.trusted_ca_file = path;
    const ProbeReport report = probe_once(target, here);
    CHECK(told(report) == "not_made");
    CHECK_FALSE(report.is_verdict());
    CHECK(report.detail.find(path) != std::string::npos);
  }
  // Who needs no authorities reads no file.
  ProbeTarget plain = secure_target("shop.test", server);
  plain.trusted_ca_file = "/nowhere/ca.pem";
  plain.kind = ProbeKind::tcp;
  CHECK(told(probe_once(plain, here)) == "ok");
  REQUIRE(server.wait_for_visits(1));
  CHECK(server.count() == 1);
}

TEST_CASE("probe tls: plain text where TLS is expected is a failed handshake, and the reverse is no answer") {
  const Server plain({{send("HTTP/1.1 200 OK\r\n\r\n"), stall()}});
  CHECK(told(probe_once(secure_target("shop.test", plain), here)) == "tls");
  const Server secure({answer(200)}, showing(trusted().authority.issue(wishes({"shop.test"}))));
  const ProbeReport report = probe_once(target_at(secure));
  CHECK_FALSE(report.ok());
  CHECK(report.status == 0);
}

TEST_CASE("probe tls: a handshake that is broken off is a failed handshake") {
  const Server server({Script{},
                       {wait_for(Millis(100)), reset()},
                       {send(std::string("\x15\x03\x03\x00\x02\x02\x28", 7)), stall()}});
  for (int i = 0; i < 3; ++i) {
    const ProbeReport report = probe_once(secure_target("shop.test", server), here);
    CHECK(told(report) == "tls");
    CHECK(phases(report) == "look_up connect");
    CHECK_FALSE(report.detail.empty());
  }
}

TEST_CASE("probe tls: a handshake that hangs, at its begin or in the middle, ends at the limit") {
  const std::uint64_t limit = 300;
  const Server server(
      {{stall()}, {never_read()}, {send(std::string("\x16\x03\x03\x00\x7a\x02\x00", 7)), stall()}});
  for (int i = 0; i < 3; ++i) {
    const ProbeReport report = probe_once(secure_target("127.0.0.1", server, limit));
    CHECK(told(report) == "timeout");
    CHECK(phases(report) == "connect");
    CHECK(took(report, limit));
  }
}
