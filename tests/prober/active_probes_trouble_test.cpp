// Loops in trouble: exceptions, hanging endpoints and look-ups, no files left, reloads without end.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>

#include "tests/prober/probe_log.hpp"
#include "tests/prober/sockets.hpp"

using namespace halfopen;
using namespace halfopen::testing;

namespace {

using Kind = Entry::Kind;

// The n-th look-up throws where the text has a T, else it answers with loopback; the last letter repeats.
Resolve by_letters(std::string letters) {
  auto n = std::make_shared<std::atomic<std::size_t>>(0);
  return [letters, n](const std::string& name) {
    const std::size_t place = std::min((*n)++, letters.size() - 1);
    if (letters[place] == 'T') throw std::runtime_error("no resolver for " + name);
    return Addresses{{"127.0.0.1"}, ""};
  };
}

ActiveProbesOptions looking_up(Resolve resolve) {
  ActiveProbesOptions options;
  options.resolve = std::move(resolve);
  return options;
}

bool is_picked(const Gateway& gateway, const std::string& upstream) {
  auto admission = gateway.find(upstream)->admit(now_ms(), AttemptKind::first);
  return static_cast<bool>(admission.pick(now_ms()));
}

// Throws as it is told of a verdict, or of an exception, or not at all.
class Thrower final : public ProbeObserver {
 public:
  void verdict(const EventSubject& subject, const ProbeReport& report) override {
    log.verdict(subject, report);
    if (of_verdicts) throw std::logic_error("not this one");
  }
  void iteration_threw(const EventSubject& subject, const std::string& what, std::uint32_t row) override {
    log.iteration_threw(subject, what, row);
    throw std::logic_error("not this one either");
  }
  std::atomic<bool> of_verdicts{true};
  ProbeLog log;
};

std::string rows(const std::vector<Entry>& entries) {
  std::string text;
  for (const Entry& entry : entries) {
    if (entry.kind == Kind::threw) text += std::to_string(entry.in_a_row) + " ";
    if (entry.kind == Kind::verdict) text += entry.ok ? "ok " : "bad ";
  }
  return text;
}

bool wait_until_gave_up(const ActiveProbes& probes, std::uint64_t n) {
  const Clock::time_point end = Clock::now() + Millis(10'000);
  while (probes.counts().gave_up < n && Clock::now() < end) std::this_thread::sleep_for(Millis(2));
  return probes.counts().gave_up == n;
}

}  // namespace

TEST_CASE("active probes: a loop that throws three times in a row gives up until the next respawn") {
  const Server server({answer(200)});
  Probing run(looking_up(by_letters("TTTo")));
  const UpstreamConfig upstream = probed("api", {{"shop.test", server.port(), 1}}, 40);
  run.apply({upstream});
  REQUIRE(wait_until_gave_up(run.probes, 1));
  std::this_thread::sleep_for(Millis(100));
  const auto entries = run.log.entries();
  CHECK(rows(entries) == "1 2 3 ");
  for (std::size_t i = 0; i < entries.size(); ++i) {
    CHECK(entries[i].endpoint == "shop.test:" + std::to_string(server.port()));
    CHECK(entries[i].text.find("no resolver for shop.test") != std::string::npos);
    if (i > 0) CHECK(entries[i].at - entries[i - 1].at >= Millis(40));
  }
  const ActiveProbes::Counts counts = run.probes.counts();
  CHECK(counts.loops == 0);
  CHECK(counts.started == 3);
  CHECK(counts.threw == 3);
  CHECK(counts.verdicts == 0);
  CHECK(server.count() == 0);
  CHECK(run.tracker("api")->stored_state() == HealthState::healthy);
  CHECK(is_picked(run.gateway, "api"));
  run.apply({upstream});
  CHECK(run.probes.counts().loops == 1);
  REQUIRE(run.log.wait_for(Kind::verdict, 2));
  CHECK(run.probes.counts().gave_up == 1);
}

TEST_CASE("active probes: an iteration that goes well ends the row of exceptions, a bad verdict too") {
  const Server server({answer(200), answer(503), answer(200)});
  Probing run(looking_up(by_letters("TToTToTTo")));
  run.apply({probed("api", {{"shop.test", server.port(), 1}}, 10)});
  REQUIRE(run.log.wait_for(Kind::verdict, 3));
  run.probes.abort_all();
  const std::string expected = "1 2 ok 1 2 bad 1 2 ok ";
  CHECK(rows(run.log.entries()).substr(0, expected.size()) == expected);
  CHECK(run.probes.counts().threw == 6);
  CHECK(run.probes.counts().gave_up == 0);
}

TEST_CASE("active probes: one loop's exceptions end no other loop") {
  const Server server({answer(200)});
  Probing run(looking_up(by_letters("T")));
  run.apply(
      {probed("bad", {{"shop.test", server.port(), 1}}, 10), probed("good", {endpoint_at(server)}, 10)});
  REQUIRE(wait_until_gave_up(run.probes, 1));
  const std::size_t so_far = ProbeLog::count(run.log.entries(), Kind::verdict, "good");
  CHECK(run.log.wait_for(Kind::verdict, so_far + 3, "good"));
  CHECK(run.probes.counts().loops == 1);
}

TEST_CASE("active probes: an observer that throws each time ends the loop, but not the process") {
  const Server server({answer(200)});
  Thrower thrower;
  ActiveProbesOptions options;
  options.observer = &thrower;
  Probing run(options);
  run.apply({probed("api", {endpoint_at(server)}, 10)});
  REQUIRE(wait_until_gave_up(run.probes, 1));
  CHECK(rows(thrower.log.entries()) == "ok 1 ok 2 ok 3 ");
  CHECK(run.probes.counts().threw == 3);
  // Its verdicts had been counted before it was told.
  CHECK(run.probes.counts().verdicts == 3);
  thrower.of_verdicts = false;
  run.apply({probed("api", {endpoint_at(server)}, 10)});
  REQUIRE(thrower.log.wait_for(Kind::verdict, 7));
  CHECK(run.probes.counts().threw == 3);
}

TEST_CASE("active probes: a file of authorities that cannot be read is told, and no verdict on anybody") {
  const Server server({answer(200)});
  Probing run;
  UpstreamConfig upstream = probed("api", {endpoint_at(server)}, 10);
  upstream.protocol = Protocol::https;
  upstream.trusted_ca_file = "/nowhere/ca.pem";
  run.apply({upstream, probed("other", {endpoint_at(server)}, 10)});
  REQUIRE(wait_until_gave_up(run.probes, 1));
  REQUIRE(run.log.wait_for(Kind::verdict, 1, "other"));
  run.probes.abort_all();
  for (const Entry& entry : run.log.entries()) {
    CHECK((entry.kind == Kind::threw) == (entry.upstream == "api"));
    if (entry.kind == Kind::threw) CHECK(entry.text.find("/nowhere/ca.pem") != std::string::npos);
  }
  CHECK(is_picked(run.gateway, "api"));
}

TEST_CASE("active probes: without a file descriptor left there is no verdict on anybody") {
  if (!files_may_run_out()) {
    MESSAGE("this sanitizer needs files itself, so they were not used up");
    return;
  }
  const Port nobody;
  Probing run;
  const UpstreamConfig upstream = probed("api", {{"127.0.0.1", nobody.port(), 1}}, 10);
  {
    const FewFiles none(0);
    run.apply({upstream});
    REQUIRE(wait_until_gave_up(run.probes, 1));
  }
  CHECK(rows(run.log.entries()) == "1 2 3 ");
  CHECK(run.tracker("api")->snapshot().streak == 0);
  run.apply({upstream});
  REQUIRE(run.log.wait_for(Kind::verdict, 1));
  CHECK(run.log.entries()[3].text == "refused");
}

TEST_CASE("active probes: black holes and hanging look-ups delay nobody else's probes") {
  const std::uint64_t limit = 500;
  const BlackHole hole;
  const Server server({answer(200)}), mute({{never_read()}});
  const Gate gate;
  Probing run(looking_up(gate.resolve()));
  std::vector<UpstreamConfig> upstreams = {probed("good", {endpoint_at(server)}, 10)};
  upstreams.push_back(probed("hole", {{"127.0.0.1", hole.port(), 1}}, 10, limit));
  upstreams.push_back(probed("mute", {endpoint_at(mute)}, 10, limit));
  for (int i = 0; i < 10; ++i) {
    const std::string name = "stuck" + std::to_string(i);
    upstreams.push_back(probed(name, {{name + ".test", 80, 1}}, 10, limit));
  }
  run.apply(upstreams);
  for (std::size_t i = 1; i < upstreams.size(); ++i) {
    REQUIRE(run.log.wait_for(Kind::verdict, 1, upstreams[i].name));
  }
  run.probes.abort_all();
  const auto entries = run.log.entries();
  const auto first =
      std::find_if(entries.begin(), entries.end(), [](const Entry& e) { return e.upstream == "hole"; });
  CHECK(first->text == "connect_timeout");
  // All of them hung for as long as their limit is, and half a second has room for some forty probes of the
  // endpoint that is well; ten of them are enough to see that it waited for nobody.
  std::size_t meanwhile = 0;
  for (const Entry& entry : entries) {
    if (entry.upstream == "good" && entry.at < first->at && entry.at > first->at - Millis(limit)) ++meanwhile;
    if (entry.upstream == "good") CHECK(entry.text == "ok 200");
    if (entry.upstream.rfind("stuck", 0) == 0) CHECK(entry.text == "name_lookup");
    if (entry.upstream == "mute") CHECK(entry.text == "timeout");
  }
  CHECK(meanwhile >= 10);
}
