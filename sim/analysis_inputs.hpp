// What a scenario says plainly about rates, failure ratios and latencies, for its analysis.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis.hpp"

namespace halfopen::sim {

// The servers behind an upstream's endpoints, of quick use where they are asked for in the file's order: each
// is looked for from behind the one that was found before.
class Servers {
 public:
  explicit Servers(const Scenario& scenario) : servers_(scenario.servers) {}
  const ServerModel* of(const EndpointConfig& endpoint);  // null if there is none

 private:
  const std::vector<ServerModel>& servers_;
  std::size_t next_ = 0;
};

// Requests a second for an upstream at its busiest moment: the largest sum of what its traffic entries bring
// at the same time, within the run. Stages count as they stand at the moment, bursts and waves with their own
// peak for as long as the entry lasts, since they come again and again. Nothing, and why, where any of the
// traffic is a list of times or users who wait for answers, or where there is none.
struct RateFound {
  std::optional<double> per_s;
  bool evenly_spaced = false;  // whenever it is so busy, one entry alone is active, at a constant rate
  std::string why_not;
};
RateFound rate_of(const Scenario& scenario, const std::string& upstream);

// The share of attempts that fail at a healthy endpoint: errors (status >= 500) that every endpoint has from
// the beginning to the end, as long as they stay below the upstream's ratio rule. And at a sick one: the
// largest ratio of any fault that traffic meets; 1 of a server that is down or flaps. None where no fault
// tells one.
std::optional<double> lasting_failures(const Scenario& scenario, const UpstreamConfig& upstream);
std::optional<double> worst_failures(const Scenario& scenario, const UpstreamConfig& upstream);

// Of the slowest of an upstream's endpoints, without faults: the mean, and the share that is over read_ms.
struct Latencies {
  double mean_ms = 0, too_late = 0;
};
Latencies latencies_of(const Scenario& scenario, const UpstreamConfig& upstream);

bool equal_weights(const UpstreamConfig& config);
// Whether each endpoint has every n-th attempt: round robin over equal weights.
bool takes_turns(const UpstreamConfig& config);

// What a breaker sees while one endpoint fails at `sick` and is not ejected, the others at `healthy`: its
// turn comes last in each round, or, where they don't take turns, any one is as likely.
exact::FailureTurns one_sick(const UpstreamConfig& config, double healthy, double sick);

}  // namespace halfopen::sim
