// The one time limit of a probe, in whichever phase it runs out; being stopped; having nothing to probe with.
#include <doctest/doctest.h>

#include <stdexcept>
#include <thread>

#include "tests/prober/probing.hpp"
#include "tests/prober/sockets.hpp"

using namespace halfopen;
using namespace halfopen::testing;

namespace {

constexpr std::uint64_t LIMIT_MS = 150;

// Answers late, as a look-up that is stuck does. It owns what it uses: it may outlive the test.
Resolve found_after(Millis pause, std::vector<std::string> addresses) {
  return [pause, addresses = std::move(addresses)](const std::string&) {
    std::this_thread::sleep_for(pause);
    return Addresses{addresses, ""};
  };
}

}  // namespace

TEST_CASE("probe limits: a look-up that does not end in time fails the probe at its limit") {
  const ProbeReport report =
      probe_once(target_at("slow.test", 80, LIMIT_MS), found_after(Millis(700), {"127.0.0.1"}));
  CHECK(told(report) == "name_lookup");
  CHECK(report.is_verdict());
  CHECK(took(report, LIMIT_MS));
  CHECK(phases(report).empty());
  CHECK_FALSE(report.detail.empty());
}

TEST_CASE("probe limits: a look-up that hangs is not waited for") {
  const Gate gate;
  const ProbeReport report = probe_once(target_at("stuck.test", 80, LIMIT_MS), gate.resolve());
  CHECK(told(report) == "name_lookup");
  CHECK(took(report, LIMIT_MS));
}

TEST_CASE("probe limits: a name that is not known, or without an address, is a failed look-up") {
  const auto say = [](const std::string& problem) {
    return [problem](const std::string&) { return Addresses{{}, problem}; };
  };
  const ProbeReport unknown = probe_once(target_at("gone.test", 80), say("Name or service not known"));
  CHECK(told(unknown) == "name_lookup");
  CHECK(unknown.detail == "Name or service not known");
  CHECK(unknown.is_verdict());
  CHECK(told(probe_once(target_at("gone.test", 80), found({"not an address"}))) == "name_lookup");
}

TEST_CASE("probe limits: a literal address is never looked up") {
  const Server server({answer(200)});
  const Resolve never = [](const std::string&) -> Addresses { throw std::logic_error("asked"); };
  CHECK(told(probe_once(target_at(server), never)) == "ok 200");
}

TEST_CASE("probe limits: a look-up that throws is no verdict") {
  const Resolve thrower = [](const std::string&) -> Addresses { throw std::runtime_error("no resolver"); };
  const ProbeReport report = probe_once(target_at("some.test", 80), thrower);
  CHECK(told(report) == "not_made");
  CHECK_FALSE(report.is_verdict());
  CHECK(report.detail.find("no resolver") != std::string::npos);
  const Resolve odd = [](const std::string&) -> Addresses { throw 7; };
  CHECK(told(probe_once(target_at("some.test", 80), odd)) == "not_made");
}

TEST_CASE("probe limits: the system's resolver knows localhost and no name that cannot be") {
  const Addresses known = resolve_by_system("localhost");
  CHECK_FALSE(known.found.empty());
  const Addresses unknown = resolve_by_system("a name with blanks.invalid");
  CHECK(unknown.found.empty());
  CHECK_FALSE(unknown.problem.empty());
  const Server server({answer(200)});
  CHECK(told(probe_once(target_at("localhost", server.port()))) == "ok 200");
}

TEST_CASE("probe limits: a black hole costs the time limit and not more") {
  const BlackHole hole;
  for (const ProbeKind kind : {ProbeKind::http, ProbeKind::tcp}) {
    ProbeTarget target = target_at("127.0.0.1", hole.port(), LIMIT_MS);
    target.kind = kind;
    const ProbeReport report = probe_once(target);
    CHECK(told(report) == "connect_timeout");
    CHECK(took(report, LIMIT_MS));
    CHECK(phases(report).empty());
    CHECK(report.peer.empty());
  }
}

TEST_CASE("probe limits: whoever is connected and says too little in time is a timeout") {
  struct Case {
    const char* what;
    Script script;
  };
  const std::string line = "HTTP/1.1 200 OK\r\n";
  for (const Case& one : std::vector<Case>{
           {"never reads", {never_read()}},
           {"says nothing", {read_request(), stall()}},
           {"half a line", {read_request(), send("HTTP/1.1 20"), stall()}},
           {"a line without its end", {read_request(), send("HTTP/1.1 200 OK\r"), stall()}},
           // Each byte comes in time; all of them do not.
           {"a byte now and then", {read_request(), send_bytewise(line, Millis(LIMIT_MS / 4)), stall()}},
           {"too late", {read_request(), wait_for(Millis(3 * LIMIT_MS)), send(line), stall()}}}) {
    CAPTURE(one.what);
    const Server server({one.script});
    const ProbeReport report = probe_once(target_at(server, LIMIT_MS));
    CHECK(told(report) == "timeout");
    CHECK(took(report, LIMIT_MS));
    CHECK(phases(report) == "connect");
    CHECK(report.peer == at("127.0.0.1", server.port()));
    REQUIRE(server.wait_until_idle());
  }
}

TEST_CASE("probe limits: one limit covers all phases, each of which would have kept it") {
  const Millis part{150};
  const std::uint64_t limit = 250;
  const Server server({{read_request(), wait_for(part), send("HTTP/1.1 200 OK\r\n"), stall()}});
  const Resolve resolve = found_after(part, {"127.0.0.1"});
  const ProbeReport report = probe_once(target_at("shop.test", server.port(), limit), resolve);
  CHECK_FALSE(report.ok());
  CHECK(took(report, limit));
  // And with room for both it is as long as both.
  const ProbeReport good = probe_once(target_at("shop.test", server.port()), resolve);
  CHECK(told(good) == "ok 200");
  REQUIRE(phases(good) == "look_up connect response");
  CHECK(*good.look_up >= part);
  CHECK(*good.response >= part);
  CHECK(good.total >= 2 * part);
}

TEST_CASE("probe limits: a stop ends it at once, in whichever phase, without a verdict") {
  const BlackHole hole;
  const Server silent({{read_request(), stall()}});
  const Gate gate;
  for (const ProbeTarget& target :
       {target_at("127.0.0.1", hole.port()), target_at(silent), target_at("stuck.test", 80)}) {
    CAPTURE(target.address);
    std::stop_source stop;
    const Clock::time_point begin = Clock::now();
    std::thread stopper([&stop] {
      std::this_thread::sleep_for(Millis(30));
      stop.request_stop();
    });
    const ProbeReport report = probe_once(target, gate.resolve(), stop.get_token());
    stopper.join();
    CHECK(told(report) == "cancelled");
    CHECK_FALSE(report.is_verdict());
    CHECK(Clock::now() - begin < SLACK);
  }
}

TEST_CASE("probe limits: who was stopped before it began asks nobody anything") {
  const Server server({answer(200)});
  std::stop_source stop;
  stop.request_stop();
  CHECK(told(probe_once(target_at(server), found({}), stop.get_token())) == "cancelled");
  CHECK(server.wait_until_idle());
  for (const Visit& visit : server.visits()) CHECK(visit.received.empty());
}

TEST_CASE("probe limits: without a file descriptor left there is no verdict") {
  if (!files_may_run_out()) {
    MESSAGE("this sanitizer needs files itself, so they were not used up");
    return;
  }
  const Port nobody;  // who is refused has got as far as connecting
  // A literal address, and a name that is looked up in files.
  for (const char* const address : {"127.0.0.1", "localhost"}) {
    CAPTURE(address);
    const ProbeTarget target = target_at(address, nobody.port());
    std::size_t more = 0;
    for (std::string end = "not_made"; end == "not_made"; ++more) {
      REQUIRE(more < 20);
      CAPTURE(more);
      ProbeReport report;
      {
        const FewFiles few(more);
        report = probe_once(target);
      }
      end = told(report);
      CHECK((end == "not_made" || end == "refused"));
      CHECK_FALSE(report.detail.empty());
    }
    CHECK(more > 2);
  }
}

TEST_CASE("probe limits: many probes at once do not disturb one another") {
  const Server good({answer(200)}), bad({answer(503)}), mute({{read_request(), stall()}});
  std::vector<std::thread> all;
  std::vector<std::string> said(24);
  for (std::size_t i = 0; i < said.size(); ++i) {
    all.emplace_back([&, i] {
      const Server& server = i % 3 == 0 ? good : i % 3 == 1 ? bad : mute;
      said[i] = told(probe_once(target_at(server, i % 3 == 2 ? LIMIT_MS : LONG_MS)));
    });
  }
  for (std::thread& one : all) one.join();
  for (std::size_t i = 0; i < said.size(); ++i) {
    CHECK(said[i] == (i % 3 == 0 ? "ok 200" : i % 3 == 1 ? "status 503" : "timeout"));
  }
}
