// Metastable failure: a short brownout, clients that come again, and a load that then holds itself up.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

// 20 requests a second at a server that can answer 100; from 1 s to 1.5 s it answers 10.
Scenario browned_out(std::uint64_t seed, const Client& client) {
  Scenario scenario = scenario_over("a", 20'000);
  scenario.seed = seed;
  scenario.sample = ms(500);
  server(scenario, 'a').capacity = Capacity{1, 10, 503};
  add_fault(server(scenario, 'a'), BrownoutFault{0, 503, 10, 1}, 1000, 1500);
  ArrivalProcess process;
  process.poisson = true;
  process.rate_rps = 20;
  Traffic traffic;
  traffic.upstream = "api";
  traffic.source = process;
  traffic.client = client;
  scenario.traffic.push_back(traffic);
  return scenario;
}

Client who_waits_50_ms(std::uint32_t retries) {
  Client client;
  client.timeout = ms(50);
  client.retries = retries;
  return client;
}

Scenario behind_a_breaker(std::uint64_t seed, bool honours) {
  Client client = who_waits_50_ms(20);
  client.honours_retry_after = honours;
  Scenario scenario = browned_out(seed, client);
  api(scenario).breaker = open_after(5, 1000);
  return scenario;
}

std::uint64_t in_second_half(const std::vector<std::uint64_t>& column) {
  return std::accumulate(column.begin() + static_cast<std::ptrdiff_t>(column.size() / 2), column.end(),
                         std::uint64_t{0});
}

// Of the tries of the second half, which begins eight seconds after the brownout.
double share_served(const Timeline& timeline) {
  const double ok = static_cast<double>(in_second_half(timeline.series.ok));
  return ok / static_cast<double>(in_second_half(timeline.series.requests));
}

Nanos last_opening(const Timeline& timeline) {
  Nanos last = 0;
  for (const TimelineEvent& event : timeline.events) {
    if (event.type == EventType::breaker_opened) last = event.t;
  }
  return last;
}

}  // namespace

TEST_CASE("storm: clients who don't come again lose the brownout and little more") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Timeline timeline = simulate(browned_out(seed, who_waits_50_ms(0)));
    CHECK(share_served(timeline) > 0.95);
    CHECK(timeline.summary.abandoned > 10);
  }
}

TEST_CASE("storm: clients who come again keep the overload up that their brownout began") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Timeline timeline = simulate(browned_out(seed, who_waits_50_ms(20)));
    CHECK(share_served(timeline) == 0);
    // More than the server can answer, long after the fault; it answers all the time, to nobody.
    CHECK(in_second_half(timeline.series.requests) > 2000);
    CHECK(timeline.summary.abandoned > 1000);
  }
}

TEST_CASE("storm: a breaker alone lets it begin again at every closing, who honours Retry-After ends it") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Timeline deaf = simulate(behind_a_breaker(seed, false));
    CHECK(last_opening(deaf) > ms(14'000));
    CHECK(share_served(deaf) < 0.1);
    const Timeline polite = simulate(behind_a_breaker(seed, true));
    CHECK(last_opening(polite) < ms(8'000));
    CHECK(share_served(polite) > 0.95);
    CHECK(polite.summary.ok > deaf.summary.ok + 100);
  }
}
