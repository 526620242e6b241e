// The exact answers of sim/exact.hpp for each upstream of a scenario, at rates and failure ratios taken from
// its own traffic and faults or given. What is analysed is the first generation; reloads are not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/exact.hpp"
#include "sim/scenario.hpp"

namespace halfopen::sim {

struct AnalysisOptions {
  std::optional<double> rate_rps;             // of every upstream, over 0 and at most 10^7
  std::optional<double> healthy_error_ratio;  // of every endpoint, within 0 and 1
  std::optional<double> sick_error_ratio;
};

// What is assumed where neither the scenario nor an option says it.
inline constexpr double ASSUMED_HEALTHY = 0.005, ASSUMED_SICK = 0.6;

struct Input {
  double value = 0;
  std::string from;  // "its traffic", "--rate-rps", "assumed" …
};

// One rule at one failure ratio.
struct RuleAnalysis {
  exact::Answer<exact::Ejection> ejection = exact::Answer<exact::Ejection>::refused("not asked");
  exact::Answer<exact::Cycle> cycle = exact::Answer<exact::Cycle>::refused("not asked");
  // From when it turns so, after a window or more of healthy traffic; not asked of what is healthy.
  exact::Answer<exact::Onset> onset = exact::Answer<exact::Onset>::refused("not asked");
};

struct BreakerAnalysis {
  RuleAnalysis all_healthy, one_sick, all_sick;  // one_sick: none ejected, equal shares
};

struct ProbeAnalysis {
  exact::Answer<exact::ProbeWait> detect = exact::Answer<exact::ProbeWait>::refused("not asked");
  exact::Answer<exact::ProbeWait> readmit = exact::Answer<exact::ProbeWait>::refused("not asked");
  double verdict_ms = 0;  // of a failing probe
};

struct UpstreamAnalysis {
  UpstreamConfig config;
  std::string no_rate;  // why there is no rate, and with it nothing but what probes do
  Input rate_rps, healthy, sick;
  exact::Arrivals at_endpoint, at_upstream;
  std::optional<RuleAnalysis> healthy_endpoint, sick_endpoint;  // with a health block, as the pools
  std::optional<exact::Answer<exact::PoolHealthy>> healthy_pool;
  std::optional<exact::Answer<exact::PoolSick>> sick_pool;
  std::optional<BreakerAnalysis> breaker;
  std::optional<ProbeAnalysis> probes;
  std::vector<std::string> notes;  // where this scenario departs from what the models assume
};

struct Analysis {
  std::string name;
  std::vector<UpstreamAnalysis> upstreams;
};

Analysis analyze(const Scenario& scenario, const AnalysisOptions& options = {});

}  // namespace halfopen::sim
