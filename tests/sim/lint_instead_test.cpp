// What the linter advises is tried: set alone, each of its alternatives makes the rule silent.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "sim/lint.hpp"
#include "sim/scenario_json.hpp"

using namespace halfopen;
using namespace halfopen::sim;

namespace {

using Sets = std::vector<std::pair<std::string, std::string>>;

constexpr const char* FILE_TEXT = R"({
  "duration_ms": 100000,
  "upstreams": [ {
    "name": "api",
    "endpoints": [ { "address": "a", "port": 1 }, { "address": "b", "port": 1, "weight": 2 } ],
    "health": {}, "active_health": {}, "breaker": {}, "retries": {}
  } ],
  "endpoints": { "*": { "capacity": { "concurrency": 1000 } } },
  "traffic": [ { "upstream": "api", "arrivals": "poisson", "rate_rps": 100 } ]
})";

// Values around which the rules change their minds.
const std::vector<std::pair<std::string, std::vector<std::string>>> CHOICES{
    {"/upstreams/0/health/consecutive_failures", {"1", "2", "3", "5", "8", "30", "4294967295"}},
    {"/upstreams/0/health/failure_ratio", {"0.02", "0.3", "0.5", "0.7", "0.85", "0.97", "1"}},
    {"/upstreams/0/health/failure_min_volume", {"1", "3", "7", "20", "33", "150", "4294967295"}},
    {"/upstreams/0/health/window_ms", {"1000", "10000", "40000"}},
    {"/upstreams/0/health/eject_ms", {"10", "3000", "30000", "1000000000000"}},
    {"/upstreams/0/active_health/interval_ms", {"2000", "5000", "600000"}},
    {"/upstreams/0/active_health/success_threshold", {"1", "2", "9"}},
    {"/upstreams/0/active_health/jitter_ms", {"0", "500"}},
    {"/upstreams/0/active_health/kind", {"\"http\"", "\"tcp\""}},
    {"/upstreams/0/breaker/consecutive_failures", {"1", "2", "5", "12", "4294967295"}},
    {"/upstreams/0/breaker/error_ratio", {"0.05", "0.34", "0.5", "0.9", "1"}},
    {"/upstreams/0/breaker/error_volume", {"1", "6", "20", "100", "4294967295"}},
    {"/upstreams/0/retries/attempts", {"0", "1", "3", "10"}},
    {"/upstreams/0/retries/budget_percent", {"10", "100", "300"}},
    {"/upstreams/0/timeouts", {"{}", R"({"read_ms":1})", R"({"connect_ms":1,"read_ms":90000})"}},
    {"/upstreams/0/load_balancer", {"\"round_robin\"", "\"ip_hash\"", "\"random\""}},
    {"/upstreams/0/endpoints/1/weight", {"1", "2"}},
    {"/traffic/0/rate_rps", {"0.0001", "0.01", "0.5", "3", "8"}},
    {"/traffic/0/arrivals", {"\"poisson\"", "\"uniform\""}},
    {"/endpoints/*/faults",
     {"[]", R"([{"error":{"ratio":0.04,"status":503}}])", R"([{"error":{"ratio":0.3,"status":503}}])",
      R"([{"from_ms":5,"scope":"traffic","brownout":{"error_ratio":0.7,"latency_factor":1,"capacity_factor":1}}])"}},
};

Sets drawn(std::uint64_t number) {
  Sets out;
  for (std::uint64_t n = 0; n < CHOICES.size(); ++n) {
    const auto& [pointer, values] = CHOICES[n];
    const double u = halfopen::unit(philox_word0(number, n, 0, 0, 17, 0x6c696e74));
    out.emplace_back(pointer, values[static_cast<std::size_t>(u * static_cast<double>(values.size()))]);
  }
  return out;
}

Scenario loaded(const Sets& sets) {
  LoadOptions options;
  options.sets = sets;
  Loaded out = load_scenario_text(FILE_TEXT, "mine.json", options);
  std::string wrong;
  for (const Mistake& mistake : out.mistakes) wrong += mistake.text() + '\n';
  INFO(wrong);
  REQUIRE(out.scenario);
  return *out.scenario;
}

// "/upstreams/0/health": a rule is asked of health and breaker apart.
std::string block_of(const LintFinding& finding) {
  const std::string& pointer = finding.pointers.front();
  return pointer.substr(0, pointer.rfind('/'));
}

bool says_still(const Scenario& scenario, const LintFinding& before, std::uint64_t balancers) {
  const std::vector<LintFinding> found = lint(scenario, {balancers});
  return std::any_of(found.begin(), found.end(), [&](const LintFinding& one) {
    return one.id == before.id && block_of(one) == block_of(before);
  });
}

}  // namespace

TEST_CASE("lint: every alternative that a finding advises can be set and makes its rule silent") {
  std::map<std::string, int> tried;
  std::vector<std::uint64_t> numbers{182, 215, 354,
                                     362};  // a ratio that is raised makes faults count as healthy
  for (std::uint64_t number = 0; number < 60; ++number) numbers.push_back(number);
  for (const std::uint64_t number : numbers) {
    const Sets sets = drawn(number);
    const std::uint64_t balancers = number % 2 == 0 ? 1 : 5;
    for (const LintFinding& finding : lint(loaded(sets), {balancers})) {
      CHECK_FALSE(finding.instead.empty());
      for (const std::vector<LintChange>& alternative : finding.instead_values) {
        Sets changed = sets;
        std::string words;
        for (const LintChange& change : alternative) {
          changed.emplace_back(change.pointer, change.value);
          words += change.pointer + " = " + change.value + ' ';
        }
        CAPTURE(number);
        CAPTURE(finding.sentence);
        CAPTURE(words);
        CHECK_FALSE(says_still(loaded(changed), finding, balancers));
        ++tried[finding.id];
      }
    }
  }
  for (const LintRule& rule : lint_rules()) {
    const bool structural = rule.id == "pool-of-one" || rule.id == "pool-without-spare";
    CAPTURE(rule.id);
    CHECK((tried[std::string(rule.id)] >= 5) != structural);
  }
}
