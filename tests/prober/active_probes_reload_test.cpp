// Generations that come and go: nothing is left of them, nobody waits for them, and traffic goes on beside.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "tests/prober/probe_log.hpp"
#include "tests/prober/sockets.hpp"

using namespace halfopen;
using namespace halfopen::testing;

namespace {

using Kind = Entry::Kind;

// An endpoint for each phase that a reload may find a probe in, all probed as often as that goes.
struct Town {
  Authority authority;
  TemporaryFile file{authority.pem()};
  Server well = Server({answer(200)}), ill = Server({answer(503)}),
         mute = Server({{read_request(), stall()}});
  Server secure = Server({answer(200)}, shown());
  BlackHole hole;
  Port nobody;

  Server::Options shown() const {
    Wishes wishes;
    wishes.ip = {"127.0.0.1"};
    Server::Options options;
    options.identity = authority.issue(wishes);
    return options;
  }

  std::vector<UpstreamConfig> upstreams() const {
    std::vector<EndpointConfig> plain = {endpoint_at(well), endpoint_at(ill), endpoint_at(mute)};
    for (const std::uint16_t port : {hole.port(), nobody.port()}) plain.push_back({"127.0.0.1", port, 1});
    plain.push_back({"slow.test", well.port(), 1});
    plain.push_back({"throws.test", well.port(), 1});
    UpstreamConfig https = probed("https", {endpoint_at(secure), endpoint_at(mute)}, 2, 20);
    https.protocol = Protocol::https;
    https.trusted_ca_file = file.path();
    UpstreamConfig tcp = probed("tcp", plain, 2, 20);
    tcp.active_health->kind = ProbeKind::tcp;
    return {probed("plain", plain, 2, 20), https, tcp};
  }

  static Addresses resolve(const std::string& name) {
    if (name == "throws.test") throw std::runtime_error("no resolver");
    std::this_thread::sleep_for(Millis(3));
    return {{"127.0.0.1", "127.0.0.2"}, ""};
  }

  bool wait_until_idle() const {
    return well.wait_until_idle() && ill.wait_until_idle() && mute.wait_until_idle() &&
           secure.wait_until_idle();
  }
};

ActiveProbesOptions of(Resolve resolve) {
  ActiveProbesOptions options;
  options.resolve = std::move(resolve);
  return options;
}

}  // namespace

TEST_CASE("active probes: a thousand respawns leave no loop, no thread and no file behind") {
  const Town town;
  {
    // What the first of a kind keeps for all later ones, such as OpenSSL's tables, is there afterwards.
    Probing run(of(Town::resolve));
    run.apply(town.upstreams());
    REQUIRE(run.log.wait_for(Kind::verdict, 50));
  }
  REQUIRE(town.wait_until_idle());
  const std::size_t files = open_files(), tasks = threads();
  {
    Probing run(of(Town::resolve));
    const std::size_t loops = 7 + 2 + 7;
    for (int i = 0; i < 1000; ++i) {
      run.apply(town.upstreams());
      CHECK(run.probes.counts().loops <= loops);
      if (i % 20 == 0) std::this_thread::sleep_for(Millis(i % 3 * 6));
    }
    CHECK(run.probes.counts().verdicts > 50);
    run.probes.respawn({});
    CHECK(run.probes.counts().loops == 0);
    REQUIRE(town.wait_until_idle());
    // The loops' thread, its few files, and for five seconds more the threads of the two look-ups.
    CHECK(comes_down_to(open_files, files + 4));
    CHECK(comes_down_to(threads, tasks + 3));
    const std::size_t said = run.log.size();
    std::this_thread::sleep_for(Millis(30));
    CHECK(run.log.size() == said);
  }
  CHECK(comes_down_to(open_files, files));
  CHECK(comes_down_to(threads, tasks));
}

TEST_CASE("active probes: loops that gave up leave nothing behind either, however often they are begun") {
  const std::size_t files = open_files(), tasks = threads();
  {
    Probing run(of([](const std::string&) -> Addresses { throw std::runtime_error("never"); }));
    for (std::uint64_t i = 1; i <= 10; ++i) {
      run.apply({probed("api", {{"a.test", 80, 1}, {"b.test", 80, 1}}, 1)});
      REQUIRE(run.log.wait_for(Kind::threw, i * 6));
    }
  }
  CHECK(comes_down_to(open_files, files));
  CHECK(comes_down_to(threads, tasks));
}

TEST_CASE("active probes: their owner's end waits for no probe and no look-up") {
  const Server mute({{read_request(), stall()}});
  const BlackHole hole;
  const Gate gate;
  Clock::time_point begin;
  {
    Probing run(of(gate.resolve()));
    run.apply({probed("api", {endpoint_at(mute), {"127.0.0.1", hole.port(), 1}, {"stuck.test", 80, 1}}, 5)});
    REQUIRE(mute.wait_for_visits(1));
    REQUIRE(gate.wait_until_asked());
    begin = Clock::now();
  }
  CHECK(Clock::now() - begin < SLACK);
  REQUIRE(mute.wait_until_idle());
  CHECK(mute.visits()[0].left.has_value());
}

TEST_CASE("active probes: abort_all and respawn wait for no probe and no look-up") {
  const Server mute({{read_request(), stall()}}), well({answer(200)});
  const Gate gate;
  Probing run(of(gate.resolve()));
  const UpstreamConfig stuck = probed("stuck", {endpoint_at(mute), {"stuck.test", 80, 1}}, 5);
  run.apply({stuck});
  REQUIRE(mute.wait_for_visits(1));
  REQUIRE(gate.wait_until_asked());
  const Clock::time_point begin = Clock::now();
  run.probes.abort_all();
  run.apply({stuck});
  run.apply({probed("well", {endpoint_at(well)}, 5)});
  CHECK(Clock::now() - begin < SLACK);
  REQUIRE(run.log.wait_for(Kind::verdict, 3, "well"));
  CHECK(ProbeLog::count(run.log.entries(), Kind::verdict, "stuck") == 0);
}

TEST_CASE("active probes: an endpoint that left the configuration changes and says nothing more") {
  const Server ill({answer(503)});
  Probing run;
  run.apply({probed("old", {endpoint_at(ill)}, 5)});
  REQUIRE(run.log.wait_for(Kind::verdict, 1));
  const auto tracker = run.tracker("old");
  run.apply({});
  const auto said = run.log.size();
  const auto state = tracker->stored_state();
  std::this_thread::sleep_for(Millis(30));
  CHECK(run.log.size() == said);
  CHECK(tracker->stored_state() == state);
}

TEST_CASE("active probes: two owners probe the same endpoints without minding each other") {
  const Server server({answer(200)});
  Probing one, two;
  one.apply({probed("api", {endpoint_at(server)}, 5)});
  two.apply({probed("api", {endpoint_at(server)}, 5)});
  REQUIRE(one.log.wait_for(Kind::verdict, 3));
  one.probes.abort_all();
  const std::size_t so_far = two.log.size();
  CHECK(two.log.wait_for(Kind::verdict, so_far + 3));
}

TEST_CASE("active probes: reloads, traffic and probes at once, from many threads") {
  Server flaky({answer(200)});
  const Server well({answer(200)});
  Probing run(of(Town::resolve));
  const auto generation = [&](int n) {
    std::vector<EndpointConfig> endpoints = {endpoint_at(flaky), {"slow.test", well.port(), 1}};
    if (n % 2 == 0) endpoints.push_back(endpoint_at(well));
    UpstreamConfig api = probed("api", endpoints, 1);
    api.active_health->failure_threshold = 1;
    return std::vector<UpstreamConfig>{api, probed("g" + std::to_string(n), {endpoint_at(well)}, 1)};
  };
  run.apply(generation(0));
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> picked{0};
  std::vector<std::thread> traffic;
  for (int i = 0; i < 2; ++i) {
    traffic.emplace_back([&, i] {
      for (std::uint16_t n = 0; !over; ++n) {
        const auto upstream = run.gateway.find("api");
        auto admission = upstream->admit(now_ms(), AttemptKind::first);
        if (auto dispatch = admission.pick(now_ms())) {
          dispatch.report(now_ms(), Outcome::http(n % 7 == i ? 503 : 200));
          ++picked;
        }
        if (n % 16 == 0) std::this_thread::sleep_for(Millis(1));
      }
    });
  }
  std::thread onlooker([&] {
    for (int n = 0; !over; ++n) {
      CHECK(run.probes.counts().loops <= 4);
      if (n % 10 == 0) run.probes.abort_all();
      if (n % 10 == 5) flaky.from_now_on(answer(n % 20 == 5 ? 503 : 200));
      std::this_thread::sleep_for(Millis(2));
    }
  });
  // On a machine that is very busy it takes more of them until some probe gets through.
  for (int n = 1; n < 150 || (n < 3000 && run.probes.counts().verdicts < 20); ++n) {
    run.apply(generation(n));
    std::this_thread::sleep_for(Millis(n % 5));
  }
  over = true;
  for (std::thread& thread : traffic) thread.join();
  onlooker.join();
  run.probes.abort_all();
  CHECK(run.probes.counts().loops == 0);
  CHECK(run.probes.counts().verdicts >= 20);
  CHECK(picked > 100);
}
