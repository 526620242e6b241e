// Small sweeps, and what came of them.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "sim/sweep.hpp"
#include "tests/sim/scenario_texts.hpp"

namespace halfopen::sim::testing {

// Two endpoints, 20 requests, one expectation that holds and one that does not.
inline const std::string SMALL = scenario(
    R"("seed": 5, "traffic": [ { "upstream": "api", "arrivals": "poisson", "rate_rps": 20 } ],
       "expect": [ { "never": "endpoint_ejected" }, { "event": "endpoint_ejected", "at_least": 1 } ])");

inline SweepPlan plan(std::vector<SweepParam> params, std::uint64_t replicates = 1,
                      std::string text = SMALL) {
  SweepPlan out;
  out.text = std::move(text);
  out.file = "t.json";
  out.params = std::move(params);
  out.replicates = replicates;
  return out;
}

inline std::vector<SweepRecord> records(Sweep& sweep, const SweepRuns& runs, unsigned threads) {
  std::vector<SweepRecord> out;
  CHECK(sweep.prepare(runs, {threads, {}}).empty());
  sweep.execute(runs, {threads, {}}, [&out](SweepRecord&& record) { out.push_back(std::move(record)); });
  return out;
}

inline std::vector<std::uint64_t> numbers(const SweepRuns& runs) {
  std::vector<std::uint64_t> out;
  for (std::uint64_t n = 0; n < runs.count; ++n) out.push_back(runs.number(n));
  return out;
}

inline const SweepParam RATES{"/traffic/0/rate_rps", {"10", "20", "40"}};
inline const SweepParam EJECTS{"/upstreams/0/health", {R"({"eject_ms":5})", R"({"eject_ms":7})"}};

}  // namespace halfopen::sim::testing
