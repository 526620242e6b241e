// The loops of a generation against real servers: when they probe, what a verdict does, what a reload keeps.
#include "core/prober/active_probes.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "tests/prober/probe_log.hpp"
#include "tests/prober/sockets.hpp"

using namespace halfopen;
using namespace halfopen::testing;

namespace {

using Kind = Entry::Kind;

}  // namespace

TEST_CASE("active probes: the first probe comes one whole sleep after the start, each further one too") {
  const Server server({answer(200)});
  Probing run;
  Clock::time_point last = Clock::now();
  run.apply({probed("api", {endpoint_at(server)}, 60)});
  REQUIRE(run.log.wait_for(Kind::verdict, 4));
  for (const Entry& entry : run.log.entries()) {
    CHECK(entry.text == "ok 200");
    CHECK(entry.at - last >= Millis(60));
    last = entry.at;
  }
}

TEST_CASE("active probes: jitter lengthens sleeps and never shortens one") {
  const Server server({answer(200)});
  Probing run;
  UpstreamConfig upstream = probed("api", {endpoint_at(server)}, 30);
  upstream.active_health->jitter_ms = 30;
  Clock::time_point last = Clock::now();
  run.apply({upstream});
  REQUIRE(run.log.wait_for(Kind::verdict, 12));
  bool any_jitter = false;
  for (const Entry& entry : run.log.entries()) {
    CHECK(entry.at - last >= Millis(30));
    any_jitter = any_jitter || entry.at - last >= Millis(33);
    last = entry.at;
  }
  CHECK(any_jitter);
}

TEST_CASE("active probes: the third failure puts out, the second success in a row lets back in") {
  const Server server(
      {answer(503), answer(503), answer(503), answer(503), answer(200), answer(500), answer(204)});
  Probing run;
  run.apply({probed("api", {endpoint_at(server)})});
  REQUIRE(run.log.wait_for(Kind::verdict, 9));
  run.probes.abort_all();
  auto entries = run.log.entries();
  entries.resize(11);
  CHECK(texts(entries) ==
        "status 503, status 503, endpoint_ejected consecutive_failures, status 503, status 503, ok 200, "
        "status 500, ok 204, endpoint_recovered active_probe, ok 204, ok 204");
  const Because out = entries[2].event.because, in = entries[8].event.because;
  CHECK(out.streak == 3);
  CHECK(out.threshold == 3);
  CHECK(out.min_volume == UINT32_MAX);
  CHECK(out.volume == 0);
  CHECK(out.for_ms == 1'000'000);
  CHECK(in.successes == 2);
  CHECK(in.threshold == 2);
}

TEST_CASE("active probes: the machines are told the time that the owner's clock says") {
  const Server server({answer(503)});
  ActiveProbesOptions options;
  options.now = [] { return Instant{4711}; };
  Probing run(options);
  run.apply({probed("api", {endpoint_at(server)})});
  REQUIRE(run.log.wait_for(Kind::transition, 1));
  run.probes.abort_all();
  for (const Entry& entry : run.log.entries()) {
    if (entry.kind == Kind::transition) CHECK(entry.event.at.ms == 4711);
  }
  CHECK(run.tracker("api")->snapshot().until.ms == 1'004'711);
}

TEST_CASE("active probes: the system's clock is what they tell otherwise") {
  const Server server({answer(503)});
  Probing run;
  const std::uint64_t before = now_ms().ms;
  run.apply({probed("api", {endpoint_at(server)})});
  REQUIRE(run.log.wait_for(Kind::transition, 1));
  run.probes.abort_all();
  const Instant at = run.log.entries()[2].event.at;
  CHECK(at.ms >= before);
  CHECK(at.ms <= now_ms().ms);
}

TEST_CASE("active probes: a failure streak survives a reload") {
  // Each reload meets a probe under way, which then gives no verdict.
  const Script bad = answer(503), mute = {read_request(), stall()};
  const Server server({bad, bad, mute, bad, bad, bad, mute, bad});
  Probing run;
  UpstreamConfig upstream = probed("api", {endpoint_at(server)});
  upstream.active_health->failure_threshold = 7;
  run.apply({upstream});
  for (const std::size_t visits : {std::size_t{3}, std::size_t{7}}) {
    REQUIRE(server.wait_for_visits(visits));
    CHECK(ProbeLog::count(run.log.entries(), Kind::transition) == 0);
    run.apply({upstream});
  }
  REQUIRE(run.log.wait_for(Kind::transition, 1));
  run.probes.abort_all();
  const auto entries = run.log.entries();
  REQUIRE(entries.size() > 6);
  CHECK(entries[6].text == "endpoint_ejected consecutive_failures");
  CHECK(entries[6].event.because.streak == 7);
}

TEST_CASE("active probes: a success streak begins anew with every generation") {
  const Script good = answer(200), mute = {read_request(), stall()};
  const Server server({good, good, good, mute, good});
  Probing run;
  UpstreamConfig upstream = probed("api", {endpoint_at(server)});
  upstream.active_health->success_threshold = 4;
  run.gateway.apply({upstream}, now_ms());
  for (int i = 0; i < 5; ++i) run.tracker("api")->report(*upstream.health, now_ms(), true);
  run.apply({upstream});
  REQUIRE(server.wait_for_visits(4));
  run.apply({upstream});
  REQUIRE(run.log.wait_for(Kind::transition, 2));
  run.probes.abort_all();
  auto entries = run.log.entries();
  entries.resize(8);
  CHECK(texts(entries) ==
        "endpoint_ejected consecutive_failures, ok 200, ok 200, ok 200, "
        "ok 200, ok 200, ok 200, endpoint_recovered active_probe");
  CHECK(entries[7].event.because.successes == 4);
}

TEST_CASE("active probes: a loop for each endpoint that has an active_health, and for no other") {
  const Server server({answer(200)});
  Probing run;
  const Port nobody, none;
  UpstreamConfig passive = probed("passive", {endpoint_at(server)});
  passive.active_health.reset();
  const UpstreamConfig two =
      probed("two", {{"127.0.0.1", nobody.port(), 1}, {"127.0.0.1", none.port(), 1}}, 5000);
  CHECK(run.probes.counts().loops == 0);
  run.apply({passive, two, probed("one", {endpoint_at(server)}, 5000)});
  CHECK(run.probes.counts().loops == 3);
  run.apply({two});
  CHECK(run.probes.counts().loops == 2);
  run.probes.abort_all();
  CHECK(run.probes.counts().loops == 0);
  run.probes.abort_all();
  run.probes.respawn({});
  CHECK(run.probes.counts().loops == 0);
  run.apply({passive});
  CHECK(run.probes.counts().loops == 0);
  CHECK(run.probes.counts().started == 0);
  CHECK(server.count() == 0);
}

TEST_CASE("active probes: reloads closer together than the interval never probe") {
  const Server server({answer(200)});
  Probing run;
  for (int i = 0; i < 40; ++i) {
    run.apply({probed("api", {endpoint_at(server)}, SLACK.count())});
    std::this_thread::sleep_for(Millis(2));
  }
  CHECK(run.probes.counts().started == 0);
  CHECK(server.count() == 0);
}

TEST_CASE("active probes: a reload ends the probe that is under way, without a verdict") {
  const Server server({{read_request(), stall()}});
  Probing run;
  run.apply({probed("api", {endpoint_at(server)}, 20)});
  REQUIRE(server.wait_for_visits(1));
  run.apply({probed("other", {endpoint_at(server)}, 1'000'000)});
  REQUIRE(server.wait_until_idle());
  CHECK(server.visits()[0].left.has_value());
  CHECK(run.log.size() == 0);
  const ActiveProbes::Counts counts = run.probes.counts();
  CHECK(counts.started == 1);
  CHECK(counts.verdicts == 0);
  CHECK(counts.threw == 0);
}

TEST_CASE("active probes: once respawn has returned, no earlier loop says anything") {
  const Server one({answer(200)}), two({answer(503)}), three({answer(200)});
  const std::vector<EndpointConfig> endpoints = {endpoint_at(one), endpoint_at(two), endpoint_at(three)};
  Probing run;
  std::vector<std::size_t> sizes;
  for (int generation = 0; generation < 60; ++generation) {
    run.apply({probed("g" + std::to_string(generation), endpoints, 1)});
    sizes.push_back(run.log.size());
    std::this_thread::sleep_for(Millis(generation % 4));
  }
  run.probes.abort_all();
  const auto entries = run.log.entries();
  std::this_thread::sleep_for(Millis(30));
  CHECK(run.log.size() == entries.size());
  CHECK(entries.size() > 10);
  // Its own may have spoken before the size was read, but nobody who came before it speaks after.
  std::size_t generation = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    while (generation + 1 < sizes.size() && sizes[generation + 1] <= i) ++generation;
    CHECK(std::stoul(entries[i].upstream.substr(1)) >= generation);
  }
}

TEST_CASE("active probes: an https upstream is probed with its own authority") {
  const Authority authority;
  const TemporaryFile file(authority.pem());
  Wishes wishes;
  wishes.ip = {"127.0.0.1"};
  Server::Options options;
  options.identity = authority.issue(wishes);
  const Server server({answer(200)}, options);
  Probing run;
  UpstreamConfig trusting = probed("trusting", {endpoint_at(server)}), strange = trusting, h2 = trusting;
  for (UpstreamConfig* upstream : {&trusting, &strange, &h2}) upstream->protocol = Protocol::https;
  trusting.trusted_ca_file = h2.trusted_ca_file = file.path();
  strange.name = "strange", h2.name = "h2", h2.protocol = Protocol::http2;
  run.apply({trusting, strange, h2});
  for (const char* name : {"trusting", "strange", "h2"}) REQUIRE(run.log.wait_for(Kind::verdict, 2, name));
  run.probes.abort_all();
  for (const Entry& entry : run.log.entries()) {
    if (entry.kind == Kind::verdict) CHECK(entry.text == (entry.upstream == "strange" ? "tls" : "ok 200"));
  }
}

TEST_CASE("active probes: a kind tcp upstream is probed by connecting") {
  Server server({{stall()}});
  Probing run;
  UpstreamConfig upstream = probed("api", {endpoint_at(server)});
  upstream.active_health->kind = ProbeKind::tcp;
  run.apply({upstream});
  REQUIRE(run.log.wait_for(Kind::verdict, 2));
  server.stop_listening();
  REQUIRE(run.log.wait_for(Kind::transition, 1));
  server.listen_again();
  REQUIRE(run.log.wait_for(Kind::transition, 2));
  run.probes.abort_all();
  std::string transitions;
  for (const Entry& entry : run.log.entries()) {
    if (entry.kind == Kind::transition) transitions += entry.text + ", ";
    if (entry.kind == Kind::verdict) CHECK((entry.text == "ok" || entry.text == "refused"));
  }
  CHECK(transitions == "endpoint_ejected consecutive_failures, endpoint_recovered active_probe, ");
}
