// A run is a pure function of its scenario, and the k-th request meets the same luck whatever else is there.
#include <doctest/doctest.h>

#include <cmath>
#include <thread>

#include "sim/draws.hpp"
#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

using Column = std::vector<std::uint64_t>;

// A little of everything that draws.
Scenario busy(std::uint64_t seed, const std::string& letters = "abcd") {
  Scenario scenario = scenario_over(letters, 1500);
  scenario.seed = seed;
  scenario.sample = ms(50);
  for (const char letter : letters) {
    server(scenario, letter).latency = LognormalLatency{2.5, 0.6};
    server(scenario, letter).capacity = Capacity{8, 4, 503};
    add_fault(server(scenario, letter), BrownoutFault{0.3, 503, 1.5, 0.7}, 300, 700);
    add_fault(server(scenario, letter), FlapFault{ms(400), ms(60), 35, DownKind::reset}, 100);
    add_fault(server(scenario, letter), HangFault{0.01});
    add_fault(server(scenario, letter), BurstsFault{200, 30, 0.5, 503});
    add_fault(server(scenario, letter), ColdStartFault{ms(120), 2}, 0, TO_THE_END, Scope::traffic);
  }
  api(scenario).load_balancer = Algorithm::random;
  api(scenario).health = eject_after(3, 150);
  api(scenario).breaker = open_after(9, 40);
  api(scenario).active_health = probe_every(110, 50);
  api(scenario).active_health->jitter_ms = 40;
  api(scenario).retries = retry_at_once(2);
  api(scenario).retries.backoff_base_ms = 10;
  api(scenario).retries.backoff_cap_ms = 40;
  api(scenario).timeouts.read_ms = 80;
  Traffic poisson;
  poisson.upstream = "api";
  poisson.source = ArrivalProcess{true, 900, {}};
  poisson.abandon = Abandon{0.05, ms(25)};
  scenario.traffic.push_back(poisson);
  reload_at(scenario, 800)[0].health->consecutive_failures = 2;
  scenario.clock.steps = {{ms(600), -300}};
  return scenario;
}

template <class T>
void add(std::string& text, const std::vector<T>& column) {
  for (const T value : column) text += std::to_string(value) + " ";
  text += "\n";
}

// All that a run wrote down, too long to be printed by a check that fails, hence their double brackets.
// A percentile that is none reads nan on every platform.
std::string everything(const Timeline& timeline) {
  std::string text = events_of(timeline) + "\n";
  for (const EndpointLane& each : timeline.lanes) {
    text += each.endpoint + lane_text(each.intervals) + "\n";
    add(text, each.attempts);
    add(text, each.failures);
  }
  for (const BreakerLane& each : timeline.breakers) text += lane_text(each.intervals) + "\n";
  for (const FaultLane& each : timeline.faults) text += each.kind + lane_text(each.intervals) + "\n";
  const Series& series = timeline.series;
  for (const auto* column : {&series.requests, &series.ok, &series.failed, &series.fast_failed,
                             &series.retried, &series.fail_open_picks, &series.in_flight}) {
    add(text, *column);
  }
  for (const auto* column : {&series.latency_p50_ms, &series.latency_p95_ms, &series.latency_p99_ms}) {
    for (const double value : *column) text += std::isnan(value) ? "nan " : std::to_string(value) + " ";
  }
  const Summary& summary = timeline.summary;
  return text + std::to_string(summary.abandoned) + " " + std::to_string(summary.retries_denied) + " " +
         std::to_string(summary.late_reports_ignored);
}

// When the requests of one a millisecond end at endpoints that serve `share` of them in turn, by the draws.
std::string ends_by_draws(std::uint64_t seed, char letter, std::uint64_t first, std::uint64_t stride) {
  const Stream service(seed, std::string("service:api/") + letter + ":1");
  Column ends(2000, 0);
  for (std::uint64_t index = first; index < 200; index += stride) {
    ++ends[(ms(static_cast<double>(index)) + static_cast<Nanos>(service.unit(index) * 1000 * 1e6)) /
           NANOS_PER_MS];
  }
  return when(ends);
}

}  // namespace

TEST_CASE("determinism: two runs of one scenario are equal, and something happens in them") {
  const Scenario scenario = busy(1);
  const Timeline first = simulate(scenario);
  CHECK((everything(first) == everything(simulate(scenario))));
  CHECK((everything(first) == everything(simulate(busy(1)))));
  CHECK(first.events.size() > 10);
  CHECK(first.summary.retries > 10);
  CHECK(first.summary.abandoned > 5);
}

TEST_CASE("determinism: two runs at once in two threads are equal to one alone") {
  const Scenario scenario = busy(2);
  const std::string alone = everything(simulate(scenario));
  std::string here, there;
  std::thread other([&] { there = everything(simulate(scenario)); });
  here = everything(simulate(scenario));
  other.join();
  CHECK((here == alone));
  CHECK((there == alone));
}

TEST_CASE("determinism: seeds differ") {
  const std::string one = everything(simulate(busy(1)));
  CHECK((one != everything(simulate(busy(2)))));
  CHECK((one != everything(simulate(busy(~std::uint64_t{0})))));
}

TEST_CASE(
    "determinism: the same request meets the same service draw at the same endpoint, whoever else is there") {
  for (const std::string letters : {"a", "ab", "abcde"}) {
    Scenario scenario = scenario_over(letters, 2000);
    scenario.seed = 6;
    for (const char letter : letters) server(scenario, letter).latency = UniformLatency{0, 1000};
    // Round-robin over equals: request k goes to endpoint k mod n. What "a" answers is told by its own lane.
    api(scenario).health = eject_after(1000);
    for (const char letter : letters) {
      if (letter != 'a') add_fault(server(scenario, letter), ErrorFault{1, 503});
    }
    requests_every(scenario, 1, 0, 200);
    CHECK(when(simulate(scenario).series.ok) == ends_by_draws(6, 'a', 0, letters.size()));
  }
}

TEST_CASE("determinism: arrivals and who leaves are the same under every setting of the gateway") {
  const Scenario scenario = busy(3);
  Scenario other = busy(3, "ab");
  api(other).retries.attempts = 0;
  api(other).breaker.reset();
  api(other).load_balancer = Algorithm::least_requests;
  CHECK(simulate(scenario).series.requests == simulate(other).series.requests);
}

TEST_CASE("determinism: another entry of traffic shifts nobody's luck") {
  Scenario scenario = scenario_over("ab", 2000);
  scenario.seed = 6;
  api(scenario) = upstream_over("api", "a");
  scenario.upstreams.push_back(upstream_over("web", "b"));
  server(scenario, 'a').latency = UniformLatency{0, 1000};
  add_fault(server(scenario, 'b'), ErrorFault{1, 503});
  requests_every(scenario, 1, 0, 200);
  requests_at(scenario, {3, 5, 5, 90}, "web");
  CHECK(when(simulate(scenario).series.ok) == ends_by_draws(6, 'a', 0, 1));
}

// The same luck by another road: none of these changes what can happen, each changes how the simulator gets
// there.
TEST_CASE("determinism: what never strikes changes nothing") {
  Scenario plain = busy(7);
  plain.reloads.clear();
  api(plain).active_health.reset();
  plain.traffic[0].abandon.reset();
  for (ServerModel& model : plain.servers) {
    model.capacity.reset();
    model.faults.erase(model.faults.begin() + 1);  // the flap; hangs move to its place in both
  }
  const auto told = [](const Scenario& scenario) {
    Timeline timeline = simulate(scenario);
    timeline.faults.clear();
    return everything(timeline);
  };
  const std::string expected = told(plain);
  CHECK(simulate(plain).events.size() > 5);

  Scenario may_go_down = plain;
  for (ServerModel& model : may_go_down.servers) add_fault(model, DownFault{}, 9'000);
  CHECK((told(may_go_down) == expected));
  Scenario roomy = plain;
  for (ServerModel& model : roomy.servers) model.capacity = Capacity{1'000'000, 0, 503};
  CHECK((told(roomy) == expected));
  Scenario patient = plain;
  patient.traffic[0].abandon = Abandon{1, ms(9'000)};
  CHECK((told(patient) == expected));
  Scenario reloaded = plain;
  for (double at = 33; at < 1400; at += 33) reload_at(reloaded, at);
  CHECK((told(reloaded) == expected));
  Scenario monotonic = plain;
  monotonic.clock.steps.clear();
  const std::string without_steps = told(monotonic);
  monotonic.clock = plain.clock;
  monotonic.clock.monotonic = true;
  CHECK((told(monotonic) == without_steps));
}

TEST_CASE("determinism: the width of a bin changes what is shown and not what happens") {
  Scenario scenario = busy(5);
  const Timeline coarse = simulate(scenario);
  scenario.sample = ms(1);
  const Timeline fine = simulate(scenario);
  CHECK((events_of(coarse) == events_of(fine)));
  CHECK(coarse.summary.ok == fine.summary.ok);
  CHECK(coarse.summary.latency_p99_ms == fine.summary.latency_p99_ms);
  CHECK(coarse.summary.attempts == fine.summary.attempts);
}
