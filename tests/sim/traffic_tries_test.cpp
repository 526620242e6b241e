// The luck of a try: which counters its draws have.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/balancer.hpp"
#include "sim/draws.hpp"
#include "tests/sim/clients.hpp"
#include "tests/sim/diary.hpp"
#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

// The wait before try n, from 1, of a request of entry 0 by the reference's formula.
std::uint64_t wait_ms(std::uint64_t seed, std::uint64_t index, std::uint32_t n, std::uint64_t base,
                      std::uint64_t cap) {
  const std::uint64_t nominal = std::min(base << (n - 1), std::max(base, cap));
  const double u = Stream(seed, "client:0").unit(index, n, 0, 0);
  return static_cast<std::uint64_t>(std::floor(u * (static_cast<double>(nominal) + 1)));
}

}  // namespace

TEST_CASE("clients: the wait before try n is core's backoff, drawn at the request and try") {
  for (const std::uint64_t seed : {1ULL, 2ULL, 3ULL, 2026ULL}) {
    Scenario scenario = scenario_over("a", 10'000);
    scenario.seed = seed;
    server(scenario, 'a').latency = FixedLatency{0};
    add_fault(server(scenario, 'a'), ErrorFault{1, 503});
    Client client = persistent(4);
    client.backoff_base_ms = 30;
    client.backoff_cap_ms = 100;
    requests_at(scenario, {3, 7.25}).client = client;
    std::vector<std::string> lines;
    std::vector<std::pair<Nanos, std::string>> asked;
    for (std::uint64_t index = 0; index < 2; ++index) {
      Nanos t = index == 0 ? ms(3) : ms(7.25);
      for (std::uint32_t n = 0; n <= 4; ++n) {
        if (n > 0) t += wait_ms(seed, index, n, 30, 100) * NANOS_PER_MS;
        const std::string name = std::to_string(index) + (n == 0 ? "" : "+" + std::to_string(n));
        asked.emplace_back(t, time_text(t) + " " + name + " asks, " + time_text(t) + " " + name + " failed");
      }
    }
    std::stable_sort(asked.begin(), asked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string expected;
    for (const auto& [t, line] : asked) expected += (expected.empty() ? "" : ", ") + line;
    CHECK(diary_of(scenario) == expected);
  }
}

TEST_CASE("clients: every draw of a try has the try in its counter") {
  Scenario scenario = scenario_over("a", 5000);
  scenario.seed = 5;
  server(scenario, 'a').latency = UniformLatency{10, 90};
  add_fault(server(scenario, 'a'), ErrorFault{0.5, 503});
  std::vector<double> at;
  for (int n = 0; n < 10; ++n) at.push_back(500 * n);
  Traffic& entry = requests_at(scenario, at);
  entry.client = persistent(3);
  entry.abandon = Abandon{0.2, ms(40)};
  const Stream service(5, "service:api/a:1"), fault(5, "fault:a:1/0"), leaving(5, "abandon:0");
  std::string expected;
  const auto add = [&expected](Nanos t, const std::string& name, const char* what) {
    expected += (expected.empty() ? "" : ", ") + time_text(t) + " " + name + " " + what;
  };
  for (std::uint64_t index = 0; index < 10; ++index) {
    Nanos t = index * 500 * NANOS_PER_MS;
    for (std::uint32_t n = 0; n <= 3; ++n) {
      const std::string name = std::to_string(index) + (n == 0 ? "" : "+" + std::to_string(n));
      add(t, name, "asks");
      const auto takes = static_cast<Nanos>((10 + service.unit(index, n) * 80) * 1e6);
      if (leaving.unit(index, n) < 0.2 && takes > ms(40)) {
        add(t + ms(40), name, "leaves");
        break;  // for good
      }
      t += takes;
      const bool fails = fault.unit(index, n) < 0.5;
      add(t, name, fails ? "failed" : "ok");
      if (!fails) break;
    }
  }
  CHECK(diary_of(scenario) == expected);
  CHECK(expected.find("leaves") != std::string::npos);
  CHECK(expected.find("+3") != std::string::npos);
}

TEST_CASE("clients: the gateway's jitter and its balancer draw by the try too") {
  Scenario scenario = scenario_over("abc", 2000);
  scenario.seed = 9;
  api(scenario).load_balancer = Algorithm::random;
  api(scenario).retries = retry_at_once(1);
  api(scenario).retries.backoff_base_ms = api(scenario).retries.backoff_cap_ms = 50;
  for (const char letter : {'a', 'b', 'c'}) add_fault(server(scenario, letter), ErrorFault{1, 503});
  requests_at(scenario, {0}).client = persistent(5);
  const Timeline timeline = simulate(scenario);
  const Stream balance(9, "balance:api"), jitter(9, "retry-jitter:0");
  std::uint64_t t = 0;
  for (std::uint32_t n = 0; n <= 5; ++n) {
    for (std::uint32_t attempt = 0; attempt < 2; ++attempt) {
      if (attempt == 1) t += static_cast<std::uint64_t>(jitter.unit(0, n, 1) * 51);
      const auto words = balance.words(0, n, attempt);
      const auto pair = two_choices(words[0], words[1], 3);
      CHECK(timeline.lanes[std::min(pair.first, pair.second)].attempts.at(t) == 1);
      t += 10;
    }
  }
  CHECK(timeline.summary.attempts == 12);
}

TEST_CASE("clients: the key is who asks, the same at every try") {
  Scenario scenario = scenario_over("abcd", 2000);
  api(scenario).load_balancer = Algorithm::ip_hash;
  for (const char letter : {'a', 'b', 'c', 'd'}) add_fault(server(scenario, letter), ErrorFault{1, 503});
  Traffic& entry = requests_every(scenario, 50, 0, 1500);
  entry.keys = Keys{1000, 0};
  entry.client = persistent(3);
  const Timeline timeline = simulate(scenario);
  int called = 0;
  for (const EndpointLane& each : timeline.lanes) {
    for (std::size_t bin = 0; bin < 1500; bin += 50) {
      for (std::size_t n = 1; n <= 3; ++n) CHECK(each.attempts[bin + 10 * n] == each.attempts[bin]);
    }
    called += each.total_attempts > 0;
  }
  CHECK(called == 4);
  CHECK(timeline.summary.attempts == 30 * 4);
}

TEST_CASE("clients: Retry-After is the least that is waited, a longer backoff is waited out") {
  Scenario scenario = scenario_over("a", 20'000);
  scenario.seed = 3;
  api(scenario).breaker = open_after(1, 100);
  add_fault(server(scenario, 'a'), script({503}));
  Client client = persistent(1);
  client.backoff_base_ms = client.backoff_cap_ms = 3000;
  client.honours_retry_after = true;
  std::vector<double> at{0};
  for (int n = 0; n < 40; ++n) at.push_back(11 + n);
  requests_at(scenario, at).client = client;
  const std::string diary = diary_of(scenario);
  int longer = 0;
  for (std::uint64_t index = 1; index <= 40; ++index) {
    const std::uint64_t backoff = wait_ms(3, index, 1, 3000, 3000);
    longer += backoff > 1000;
    const std::uint64_t back = 10 + index + std::max<std::uint64_t>(1000, backoff);
    CHECK(diary.find(", " + std::to_string(back) + " " + std::to_string(index) + "+1 asks") !=
          std::string::npos);
  }
  CHECK(longer > 10);
  CHECK(longer < 40);
}
