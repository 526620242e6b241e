// What an endpoint may answer to an http probe, and what the probe asks.
#include <doctest/doctest.h>

#include "tests/prober/probing.hpp"
#include "tests/prober/sockets.hpp"

using namespace halfopen;
using namespace halfopen::testing;

namespace {

struct Case {
  const char* what;
  Script script;
  std::string told;
};

void try_all(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    CAPTURE(one.what);
    const Server server({one.script});
    const ProbeReport report = probe_once(target_at(server));
    CHECK(told(report) == one.told);
    CHECK(report.ok() == (one.told.rfind("ok", 0) == 0));
    CHECK(report.is_verdict());
    CHECK(report.peer == at("127.0.0.1", server.port()));
    CHECK(report.total < SLACK);
    const bool line_came = report.status != 0;
    CHECK(phases(report) == (line_came ? "connect response" : "connect"));
    CHECK(report.detail.empty() == line_came);
    CHECK(server.count() == 1);
  }
}

std::string line_of(std::size_t bytes) {
  const std::string begin = "HTTP/1.1 200 ";
  return begin + std::string(bytes - begin.size() - 1, 'y') + "\n";
}

}  // namespace

TEST_CASE("probe http: a 2xx is a success, every other status a failure") {
  try_all({{"200", answer(200), "ok 200"},
           {"204", answer(204), "ok 204"},
           {"299", answer(299), "ok 299"},
           {"300", answer(300), "status 300"},
           {"404", answer(404), "status 404"},
           {"429", answer(429), "status 429"},
           {"500", answer(500), "status 500"},
           {"503", answer(503), "status 503"},
           {"199", answer(199), "status 199"}});
}

TEST_CASE("probe http: the first status line decides, also when it is an interim one") {
  try_all({{"100 and then 200", answer_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"),
            "status 100"},
           {"103 and then 200", answer_with("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"),
            "status 103"},
           {"200 and then 500", answer_with("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 500 No\r\n\r\n"), "ok 200"}});
}

TEST_CASE("probe http: a redirect is a failure and is not followed") {
  const Server elsewhere({answer(200)});
  const std::string there = "http://127.0.0.1:" + std::to_string(elsewhere.port()) + "/";
  const Server server({answer_with("HTTP/1.1 301 Moved\r\nLocation: " + there + "\r\n\r\n"), answer(200)});
  CHECK(told(probe_once(target_at(server))) == "status 301");
  CHECK(server.wait_until_idle());
  CHECK(server.count() == 1);
  CHECK(elsewhere.count() == 0);
}

TEST_CASE("probe http: a status line is put together from however many pieces") {
  const Millis pause{2};
  try_all({{"byte by byte", {read_request(), send_bytewise("HTTP/1.1 200 OK\r\n", pause), stall()}, "ok 200"},
           {"byte by byte, 503",
            {read_request(), send_bytewise("HTTP/1.1 503 No\r\n", pause), stall()},
            "status 503"},
           {"CR and LF apart",
            {read_request(), send("HTTP/1.1 204\r"), wait_for(pause), send("\n"), stall()},
            "ok 204"},
           {"within the number",
            {read_request(), send("HTTP/1.1 2"), wait_for(pause), send("04 x\n"), stall()},
            "ok 204"}});
}

TEST_CASE("probe http: HTTP/1.0, a missing reason and a bare line feed are fine") {
  try_all({{"HTTP/1.0", answer_with("HTTP/1.0 200 OK\r\n\r\n"), "ok 200"},
           {"HTTP/1.0, 500", answer_with("HTTP/1.0 500 No\r\n\r\n"), "status 500"},
           {"HTTP/1.9", answer_with("HTTP/1.9 200 OK\r\n\r\n"), "ok 200"},
           {"no reason", answer_with("HTTP/1.1 200\r\n\r\n"), "ok 200"},
           {"empty reason", answer_with("HTTP/1.1 200 \r\n\r\n"), "ok 200"},
           {"line feed", answer_with("HTTP/1.1 200 OK\n"), "ok 200"}});
}

TEST_CASE("probe http: what is no status line is malformed, as soon as that can be seen") {
  const std::string zeros("\0\0\0\0", 4);
  for (const std::string& text :
       {std::string("HTTP/2.0 200 OK\r\n"), std::string("HTTP/1.1 20 OK\r\n"),
        std::string("HTTP/1.1 2000 OK\r\n"), std::string("HTTP/1.1  200 OK\r\n"),
        std::string("HTTP/1.10 200 OK\r\n"), std::string("http/1.1 200 OK\r\n"),
        std::string("ICY 200 OK\r\n"), std::string("SSH-2.0-OpenSSH_9.2\r\n"), std::string("220 mail\r\n"),
        std::string("\r\nHTTP/1.1 200 OK\r\n"), std::string("<html>"),
        std::string("\x15\x03\x01\x00\x02\x02\x46", 7), zeros, std::string("HTTP/1.1 200\rOK\r\n")}) {
    // It stays open: nobody waits for more.
    try_all({{text.c_str(), {read_request(), send(text), stall()}, "malformed"}});
  }
}

TEST_CASE("probe http: 4,096 bytes without a line end are too many, and the last of them may be the end") {
  try_all({{"4,096 with the end", {read_request(), send(line_of(4096)), stall()}, "ok 200"},
           {"4,097 with the end", {read_request(), send(line_of(4097)), stall()}, "too_long"},
           {"5 KiB without",
            {read_request(), send("HTTP/1.1 200 " + std::string(5 * 1024, 'y')), stall()},
            "too_long"}});
}

TEST_CASE("probe http: a connection that is closed before the line's end is truncated") {
  try_all({{"at once", {}, "truncated"},
           {"after the request", {read_request(), drop()}, "truncated"},
           {"half a line", {read_request(), send("HTTP/1.1 2"), drop()}, "truncated"},
           {"all but the line's end", {read_request(), send("HTTP/1.1 200 OK\r"), drop()}, "truncated"}});
}

TEST_CASE("probe http: a connection that breaks before the line's end is reset") {
  try_all({{"after the request", {read_request(), reset()}, "reset"},
           {"in mid-line", {read_request(), send("HTTP/1.1 2"), wait_for(Millis(100)), reset()}, "reset"}});
}

TEST_CASE("probe http: an endpoint that resets at once is the same before and after this side looked") {
  // Whether the connection's end is met while connecting, while asking or while reading is luck.
  const Server server({{reset()}});
  ProbeTarget tcp = target_at(server);
  tcp.kind = ProbeKind::tcp;
  for (int i = 0; i < 50; ++i) {
    CHECK(told(probe_once(target_at(server))) == "reset");
    CHECK(told(probe_once(tcp)) == "ok");
  }
}

TEST_CASE("probe http: an answer that comes before the request was read counts") {
  try_all({{"and stays", {send("HTTP/1.1 200 OK\r\n\r\n"), stall()}, "ok 200"},
           {"and goes", {send("HTTP/1.1 503 Busy\r\n\r\n")}, "status 503"}});
}

TEST_CASE("probe http: nobody listening is a refusal") {
  const Port port;
  const ProbeReport report = probe_once(target_at("127.0.0.1", port.port()));
  CHECK(told(report) == "refused");
  CHECK(report.is_verdict());
  CHECK(phases(report).empty());
  CHECK(report.peer.empty());
  CHECK(report.total < SLACK);
}

TEST_CASE("probe http: an address that no route leads to is unreachable") {
  // A multicast group is nobody to connect to: the kernel knows without sending anything.
  const ProbeReport report = probe_once(target_at("224.0.0.1", 80));
  CHECK(told(report) == "unreachable");
  CHECK(report.peer.empty());
  CHECK_FALSE(report.detail.empty());
}

TEST_CASE("probe http: it asks for the path with Host and Connection, and for nothing else") {
  const Server server({answer(200)});
  ProbeTarget target = target_at(server);
  target.path = "/health?deep=1&x=%20";
  REQUIRE(probe_once(target).ok());
  REQUIRE(server.wait_until_idle());
  const std::string host = "127.0.0.1:" + std::to_string(server.port());
  CHECK(server.visits()[0].received ==
        "GET /health?deep=1&x=%20 HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
  CHECK_FALSE(server.visits()[0].secured);
}

TEST_CASE("probe http: a name is the Host as it was configured") {
  const Server server({answer(200)});
  const ProbeReport report = probe_once(target_at("Shop.test", server.port()), found({"127.0.0.1"}));
  CHECK(told(report) == "ok 200");
  CHECK(phases(report) == "look_up connect response");
  REQUIRE(server.wait_until_idle());
  const std::string host = "Shop.test:" + std::to_string(server.port());
  CHECK(server.visits()[0].received ==
        "GET /healthz HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
}

TEST_CASE("probe http: an IPv6 address stands in brackets") {
  if (!has_address("::1")) {
    MESSAGE("this machine has no ::1, so nothing was probed over IPv6");
    return;
  }
  Server::Options options;
  options.address = "::1";
  const Server server({answer(200)}, options);
  const ProbeReport report = probe_once(target_at("::1", server.port()));
  CHECK(told(report) == "ok 200");
  CHECK(phases(report) == "connect response");
  CHECK(report.peer == at("::1", server.port()));
  REQUIRE(server.wait_until_idle());
  const std::string host = "[::1]:" + std::to_string(server.port());
  CHECK(server.visits()[0].received ==
        "GET /healthz HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
}

TEST_CASE("probe http: the verdict is in with the status line, the rest is not waited for") {
  const Server server(
      {{read_request(), send("HTTP/1.1 200 OK\r\n"), stall()},
       {read_request(), send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nand"), stall()}});
  for (int i = 0; i < 2; ++i) CHECK(told(probe_once(target_at(server))) == "ok 200");
  // And the connection is the probe's own, closed with it.
  REQUIRE(server.wait_until_idle());
  REQUIRE(server.count() == 2);
  for (const Visit& visit : server.visits()) CHECK(visit.left.has_value());
}

TEST_CASE("probe http: each probe connects anew and says its phases add up to its time") {
  const Server server({answer(200)});
  const Resolve resolve = found({"127.0.0.1"});
  for (int i = 0; i < 3; ++i) {
    const ProbeReport report = probe_once(target_at("shop.test", server.port()), resolve);
    REQUIRE(phases(report) == "look_up connect response");
    CHECK(*report.look_up + *report.connect + *report.response <= report.total);
    CHECK(*report.look_up >= ProbeTime{0});
    CHECK(*report.connect > ProbeTime{0});
    CHECK(*report.response > ProbeTime{0});
  }
  CHECK(server.count() == 3);
}
