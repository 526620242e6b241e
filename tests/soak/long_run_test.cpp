// Runs too long for every day: that a hundred million requests need no more memory than a million.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <cstddef>

#include "sim/simulation.hpp"
#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

std::size_t peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss);
}

// Four endpoints, one of which flaps, at 100,000 requests per second.
Summary run(double seconds) {
  Scenario scenario = scenario_over("abcd", seconds * 1000);
  scenario.sample = ms(1000);
  api(scenario).health = HealthParams{};
  add_fault(server(scenario, 'a'), FlapFault{ms(4000), ms(1000), 0, DownKind::refused});
  Traffic traffic;
  traffic.upstream = "api";
  traffic.source = ArrivalProcess{true, 100'000, {}};
  scenario.traffic.push_back(traffic);
  return simulate(scenario).summary;
}

}  // namespace

TEST_CASE("soak: a hundred million requests in the memory of a million") {
  run(10);
  const std::size_t before = peak_kib();
  const Summary summary = run(1000);
  CHECK(summary.requests > 99'000'000);
  CHECK(summary.ok + summary.failed + summary.unfinished == summary.requests);
  CHECK(peak_kib() - before < 16 * 1024);  // the series and the events of 1,000 s, nothing of each request
}
