// Workload W on halfopen: the production machines decide, timeline and series are recorded. Only simulate()
// is timed; rounds, interleaving and medians are the driver's (run.py).
//
//   workload_w <endpoints> [seconds] [seed]   ->
//   {"n":4,"requests":120394,"wall_s":0.021,"cpu_s":0.021,"fingerprint":"…",…} workload_w <endpoints> …
//   --scenario       the scenario instead, for `halfopen run`
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "sim/number_format.hpp"
#include "sim/scenario_json.hpp"
#include "sim/simulation.hpp"
#include "sim/writer_parts.hpp"

namespace {

using namespace halfopen;

constexpr std::uint64_t RATE_PER_ENDPOINT = 250;

std::string address(std::uint64_t i) {
  return "10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250 + 1);
}

// Every setting of W is written out, so that no change of a default changes the workload.
constexpr const char* SCENARIO = R"({
  "name": "workload-w", "question": "How fast is workload W?",
  "seed": $SEED, "duration_ms": $DURATION, "sample_ms": 1000,
  "upstreams": [{
    "name": "api", "load_balancer": "round_robin",
    "endpoints": [$ENDPOINTS],
    "health": {"window_ms": 60000, "consecutive_failures": 5, "failure_ratio": 0.5, "failure_min_volume": 20,
               "eject_ms": 30000, "half_open_probes": 1}
  }],
  "endpoints": {
    "*": {"latency": {"exponential": {"mean_ms": 20}}},
    "$FAULTY": {"faults": [{"from_ms": 30000, "to_ms": 60000, "error": {"ratio": 0.6, "status": 503}}]}
  },
  "traffic": [{"upstream": "api", "arrivals": "poisson", "rate_rps": $RATE}]
}
)";

void replace(std::string& text, std::string_view word, const std::string& by) {
  text.replace(text.find(word), word.size(), by);
}

std::string scenario_of(std::uint64_t n, std::uint64_t seconds, std::uint64_t seed) {
  std::string endpoints;
  for (std::uint64_t i = 0; i < n; ++i) {
    endpoints += std::string(i == 0 ? "" : ", ") + R"({"address": ")" + address(i) + R"(", "port": 8080})";
  }
  std::string text = SCENARIO;
  replace(text, "$SEED", std::to_string(seed));
  replace(text, "$DURATION", std::to_string(1000 * seconds));
  replace(text, "$ENDPOINTS", endpoints);
  replace(text, "$FAULTY", address(0) + ":8080");
  replace(text, "$RATE", std::to_string(RATE_PER_ENDPOINT * n));
  return text;
}

int run(const std::string& text, std::uint64_t n) {
  const sim::Loaded loaded = sim::load_scenario_text(text, "workload-w");
  for (const sim::Mistake& mistake : loaded.mistakes) std::fprintf(stderr, "%s\n", mistake.text().c_str());
  if (!loaded.scenario) return 2;
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t cpu_start = std::clock();
  const sim::Timeline timeline = sim::simulate(*loaded.scenario);
  const double cpu_s = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  std::printf("{\"n\":%llu,\"requests\":%llu,\"wall_s\":%.6f,\"cpu_s\":%.6f,",
              static_cast<unsigned long long>(n), static_cast<unsigned long long>(timeline.summary.requests),
              wall.count(), cpu_s);
  std::printf("\"fingerprint\":\"%s\",\"failures\":%llu,\"ejections\":%llu}\n",
              sim::hex16(sim::fingerprint(timeline)).c_str(),
              static_cast<unsigned long long>(timeline.summary.failures),
              static_cast<unsigned long long>(timeline.summary.ejections));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::uint64_t> numbers;
  bool only_show = false;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--scenario")
      only_show = true;
    else
      numbers.push_back(std::strtoull(argv[i], nullptr, 10));
  }
  const auto number = [&](std::size_t i, std::uint64_t otherwise) {
    return i < numbers.size() ? numbers[i] : otherwise;
  };
  const std::uint64_t n = number(0, 4), seconds = number(1, 120), seed = number(2, 1);
  if (n == 0 || n > 60'000 || seconds == 0) {
    std::fputs("usage: workload_w <endpoints> [seconds] [seed] [--scenario]\n", stderr);
    return 2;
  }
  const std::string text = scenario_of(n, seconds, seed);
  if (!only_show) return run(text, n);
  std::fputs(text.c_str(), stdout);
}
