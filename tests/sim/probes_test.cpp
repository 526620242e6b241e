// The active probe loops on virtual time: when they probe, what a probe meets, what a reload does to them.
#include <doctest/doctest.h>

#include <cmath>

#include "sim/draws.hpp"
#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

// One endpoint, probed every 100 ms, ejected by its first bad verdict and by nothing else.
Scenario probed(double duration_ms = 1000) {
  Scenario scenario = scenario_over("a", duration_ms);
  api(scenario).health = eject_after(99);
  api(scenario).active_health = probe_every(100);
  return scenario;
}

std::string ejected(Nanos t) { return time_text(t) + " a:1 endpoint_ejected consecutive_failures"; }
std::string ejected_at(double t) { return ejected(ms(t)); }

Nanos sleep_before(std::uint64_t seed, std::uint64_t k, double interval, double jitter) {
  const double u = Stream(seed, "probe-jitter:api/a:1").unit(k, 0, 0, 0, PROBE_DRAW);
  return ms(interval + std::floor(u * jitter));
}

}  // namespace

TEST_CASE("probes: the first one comes one whole sleep after the start") {
  Scenario scenario = probed(250);
  add_fault(server(scenario, 'a'), DownFault{});
  CHECK(events_of(simulate(scenario)) == ejected_at(100));
}

TEST_CASE("probes: the next sleep starts when the verdict is in") {
  Scenario scenario = probed();
  server(scenario, 'a').latency = FixedLatency{30};
  api(scenario).active_health->failure_threshold = 3;
  add_fault(server(scenario, 'a'), ErrorFault{1, 503});
  CHECK(events_of(simulate(scenario)) == ejected_at(390));
}

TEST_CASE("probes: a probe without an answer fails at its time limit, one answered in that instant passes") {
  Scenario scenario = probed();
  api(scenario).active_health->failure_threshold = 2;
  add_fault(server(scenario, 'a'), HangFault{1});
  CHECK(events_of(simulate(scenario)) == ejected_at(300));  // 100 + 50, 250 + 50
  Scenario slow = probed();
  server(slow, 'a').latency = FixedLatency{50};
  CHECK(events_of(simulate(slow)).empty());
  server(slow, 'a').latency = FixedLatency{50.000001};
  CHECK(events_of(simulate(slow)) == ejected_at(150));
}

TEST_CASE(
    "probes: a server that never accepts fails them at the time limit of the probe, not of connecting") {
  Scenario scenario = probed();
  api(scenario).timeouts.connect_ms = 1;
  add_fault(server(scenario, 'a'), DownFault{DownKind::timeout});
  CHECK(events_of(simulate(scenario)) == ejected_at(150));
}

TEST_CASE("probes: only a 2xx is good") {
  for (const std::uint16_t status : std::vector<std::uint16_t>{200, 204, 299}) {
    Scenario scenario = probed();
    add_fault(server(scenario, 'a'), ErrorFault{1, status});
    CHECK(events_of(simulate(scenario)).empty());
  }
  for (const std::uint16_t status : std::vector<std::uint16_t>{100, 199, 300, 301, 404, 429, 500}) {
    Scenario scenario = probed();
    add_fault(server(scenario, 'a'), ErrorFault{1, status});
    CHECK(events_of(simulate(scenario)) == ejected_at(110));
  }
}

TEST_CASE("probes: they are no attempts, and their failures none of the traffic's") {
  Scenario scenario = probed();
  add_fault(server(scenario, 'a'), ErrorFault{1, 503});
  const Timeline timeline = simulate(scenario);
  CHECK(timeline.summary.ejections == 1);
  CHECK(timeline.summary.attempts == 0);
  CHECK(timeline.summary.failures == 0);
  CHECK(timeline.summary.requests == 0);
}

TEST_CASE("probes: a server that passes its check and fails its users, and the reverse") {
  Scenario scenario = probed();
  api(scenario).health = eject_after(1, 100'000);
  add_fault(server(scenario, 'a'), ErrorFault{1, 503}, 0, 150, Scope::traffic);
  requests_at(scenario, {145});
  CHECK(events_of(simulate(scenario)) == ejected_at(155) + ", 220 a:1 endpoint_recovered active_probe");
  Scenario reverse = probed();
  add_fault(server(reverse, 'a'), ErrorFault{1, 503}, 0, TO_THE_END, Scope::probes);
  requests_at(reverse, {50});
  const Timeline timeline = simulate(reverse);
  CHECK(events_of(timeline) == ejected_at(110));
  CHECK(timeline.summary.ok == 1);
}

TEST_CASE("probes: enough successes re-admit before eject_ms is over") {
  Scenario scenario = probed();
  api(scenario).active_health->success_threshold = 3;
  add_fault(server(scenario, 'a'), DownFault{}, 0, 150);
  // Verdicts: bad at 100, good at 210, 320 and 430.
  CHECK(events_of(simulate(scenario)) == ejected_at(100) + ", 430 a:1 endpoint_recovered active_probe");
}

TEST_CASE("probes: a tcp probe sees down and flap, and nothing else") {
  Scenario scenario = probed();
  api(scenario).active_health->kind = ProbeKind::tcp;
  ServerModel& model = server(scenario, 'a');
  model.latency = FixedLatency{500};
  add_fault(model, ErrorFault{1, 503});
  add_fault(model, BrownoutFault{1, 503, 9, 0.1});
  add_fault(model, HangFault{1});
  add_fault(model, LatencyFault{300, 2, 0});
  CHECK(events_of(simulate(scenario)).empty());
  add_fault(model, FlapFault{ms(350), ms(100), 0, DownKind::refused});
  CHECK(events_of(simulate(scenario)).starts_with(ejected_at(400)));
  model.faults.pop_back();
  add_fault(model, DownFault{}, 700);
  CHECK(events_of(simulate(scenario)) == ejected_at(700));
}

TEST_CASE("probes: a tcp connect takes no time, so the next one comes an interval later") {
  Scenario scenario = probed(1050);
  api(scenario).active_health->kind = ProbeKind::tcp;
  api(scenario).active_health->failure_threshold = 7;
  add_fault(server(scenario, 'a'), DownFault{}, 350);
  CHECK(events_of(simulate(scenario)) == ejected_at(1000));
}

TEST_CASE("probes: a down that resets answers a tcp probe after the latency with its factors and adds") {
  Scenario scenario = probed();
  api(scenario).active_health->kind = ProbeKind::tcp;
  add_fault(server(scenario, 'a'), LatencyFault{5, 3, 0});
  add_fault(server(scenario, 'a'), DownFault{DownKind::reset}, 50);
  CHECK(events_of(simulate(scenario)) == ejected_at(135));
}

TEST_CASE("probes: the start of a down resets the probe in service") {
  Scenario scenario = probed();
  server(scenario, 'a').latency = FixedLatency{40};
  add_fault(server(scenario, 'a'), DownFault{}, 120, 130, Scope::probes);
  CHECK(events_of(simulate(scenario)).starts_with(ejected_at(120)));
  server(scenario, 'a').faults[0].scope = Scope::traffic;
  CHECK(events_of(simulate(scenario)).empty());
}

TEST_CASE("probes: a truncated body does not fail them, and scripted outcomes are not for them") {
  Scenario scenario = probed();
  add_fault(server(scenario, 'a'), TruncateFault{1});
  add_fault(server(scenario, 'a'), script({503, 503, 503}));
  requests_at(scenario, {500});
  const Timeline timeline = simulate(scenario);
  CHECK(events_of(timeline).empty());
  CHECK(when(timeline.series.failed) == "510");  // the list's first entry was still there
}

TEST_CASE("probes: the sleep before probe k draws its jitter at k") {
  Scenario scenario = probed(3000);
  scenario.seed = 31;
  api(scenario).active_health->jitter_ms = 90;
  api(scenario).active_health->failure_threshold = 5;
  add_fault(server(scenario, 'a'), DownFault{});
  Nanos at = 0;
  for (std::uint64_t k = 0; k < 5; ++k) at += sleep_before(31, k, 100, 90);
  CHECK(events_of(simulate(scenario)) == ejected(at));
}

TEST_CASE("probes: a latency is drawn from the probe's own stream by its number") {
  Scenario scenario = probed();
  scenario.seed = 8;
  server(scenario, 'a').latency = UniformLatency{0, 40};
  api(scenario).active_health->failure_threshold = 3;
  add_fault(server(scenario, 'a'), ErrorFault{1, 503});
  Nanos at = 0;
  for (std::uint64_t k = 0; k < 3; ++k) {
    at += ms(100) + static_cast<Nanos>(Stream(8, "probe:api/a:1").unit(k, 0, 0, 0, PROBE_DRAW) * 40 * 1e6);
  }
  CHECK(events_of(simulate(scenario)) == ejected(at));
}

TEST_CASE("probes: the faults that they meet draw with kind 1 by the probe's number") {
  Scenario scenario = probed(5000);
  scenario.seed = 3;
  add_fault(server(scenario, 'a'), HangFault{0});
  add_fault(server(scenario, 'a'), ErrorFault{0.15, 503});
  std::uint64_t k = 0;
  while (Stream(3, "fault:a:1/1").unit(k, 0, 0, 0, PROBE_DRAW) >= 0.15) ++k;
  REQUIRE(k > 0);
  REQUIRE(k < 40);
  const double verdict = static_cast<double>(k + 1) * 110;
  CHECK(events_of(simulate(scenario)).starts_with(ejected_at(verdict)));
}

TEST_CASE("probes: a reload cuts a sleep short, which gives its number back, and sleeps anew") {
  Scenario scenario = probed();
  scenario.seed = 31;
  api(scenario).active_health->jitter_ms = 90;
  add_fault(server(scenario, 'a'), DownFault{});
  reload_at(scenario, 60);
  reload_at(scenario, 95);
  CHECK(events_of(simulate(scenario)) == ejected(ms(95) + sleep_before(31, 0, 100, 90)));
}

TEST_CASE("probes: a reload ends a running probe without a verdict, its number is used up") {
  Scenario scenario = probed();
  scenario.seed = 31;
  server(scenario, 'a').latency = FixedLatency{40};
  api(scenario).active_health->jitter_ms = 90;
  add_fault(server(scenario, 'a'), ErrorFault{1, 503});
  const Nanos reload = sleep_before(31, 0, 100, 90) + ms(39);
  reload_at(scenario, static_cast<double>(reload / NANOS_PER_MS));
  const Nanos verdict = reload + sleep_before(31, 1, 100, 90) + ms(40);
  CHECK(events_of(simulate(scenario)) == ejected(verdict));
}

TEST_CASE("probes: reloads closer together than the interval never probe") {
  Scenario scenario = probed();
  add_fault(server(scenario, 'a'), DownFault{});
  for (double at = 50; at < 1000; at += 99) reload_at(scenario, at);
  CHECK(events_of(simulate(scenario)).empty());
}

TEST_CASE("probes: a reload starts the success streak again, and the tracker stays the same") {
  Scenario scenario = probed();
  api(scenario).active_health->success_threshold = 2;
  add_fault(server(scenario, 'a'), DownFault{}, 0, 150);
  reload_at(scenario, 220);
  // One success at 210 is forgotten; 330 and 440 count.
  CHECK(events_of(simulate(scenario)) == ejected_at(100) + ", 440 a:1 endpoint_recovered active_probe");
}

TEST_CASE("probes: a reload may end them and bring them back, numbers going on") {
  Scenario scenario = probed();
  scenario.seed = 31;
  add_fault(server(scenario, 'a'), DownFault{}, 300);
  reload_at(scenario, 250)[0].active_health.reset();
  reload_at(scenario, 600)[0].active_health = probe_every(100);
  scenario.reloads.back().upstreams[0].active_health->jitter_ms = 90;
  // Probes 0 and 1 were at 100 and 210; the next one is number 2.
  CHECK(events_of(simulate(scenario)) == ejected(ms(600) + sleep_before(31, 2, 100, 90)));
}

TEST_CASE("probes: sleeps and time limits don't obey clock steps") {
  Scenario scenario = probed();
  add_fault(server(scenario, 'a'), HangFault{1});
  scenario.clock.steps = {{ms(50), 60'000}, {ms(120), -200'000}};
  CHECK(events_of(simulate(scenario)) == ejected_at(150));
}
