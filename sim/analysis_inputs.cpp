#include "sim/analysis_inputs.hpp"

#include <algorithm>
#include <variant>

#include "sim/arrivals.hpp"
#include "sim/latency.hpp"

namespace halfopen::sim {

namespace {

struct Entry {
  std::optional<double> per_s;
  bool evenly_spaced = false;
  std::string why_not;
};

Entry entry_rate(const Traffic& traffic, Nanos duration) {
  if (std::holds_alternative<ArrivalTimes>(traffic.source))
    return {std::nullopt, false, "its traffic is a list of times"};
  if (std::holds_alternative<Users>(traffic.source))
    return {std::nullopt, false, "its traffic is users who wait for their answers"};
  const Nanos end = std::min(traffic.to, duration);
  const double active_s = traffic.from < end ? static_cast<double>(end - traffic.from) / 1e9 : 0;
  if (const auto* every = std::get_if<ArrivalEvery>(&traffic.source))
    return {1e9 / static_cast<double>(every->every), true, ""};
  const auto& process = std::get<ArrivalProcess>(traffic.source);
  const bool constant = process.stages.empty() && !process.burst && !process.wave;
  if (constant) return {process.rate_rps, !process.poisson, ""};
  if (active_s <= 0) return {0.0, false, ""};
  return {expected_arrivals(traffic, duration) / active_s, false, ""};
}

std::optional<double> ratio_of(const FaultKind& kind, const UpstreamConfig& upstream) {
  const auto counts = [](std::uint16_t status) { return status >= 500; };
  if (const auto* error = std::get_if<ErrorFault>(&kind))
    return counts(error->status) ? std::optional(error->ratio) : std::nullopt;
  if (const auto* brownout = std::get_if<BrownoutFault>(&kind))
    return counts(brownout->status) ? std::optional(brownout->error_ratio) : std::nullopt;
  if (const auto* bursts = std::get_if<BurstsFault>(&kind))
    return counts(bursts->status) ? std::optional(bursts->error_ratio) : std::nullopt;
  if (const auto* hang = std::get_if<HangFault>(&kind))
    return upstream.timeouts.read_ms ? std::optional(hang->ratio) : std::nullopt;
  if (std::holds_alternative<DownFault>(kind) || std::holds_alternative<FlapFault>(kind)) return 1.0;
  return std::nullopt;
}

bool is_lasting(const Fault& fault, Nanos duration) {
  return fault.from == 0 && fault.to >= duration && std::holds_alternative<ErrorFault>(fault.kind);
}

// The largest ratio among a server's faults that traffic meets, 0 without any.
double largest(const Scenario& scenario, const UpstreamConfig& upstream, const ServerModel* server,
               bool lasting_only) {
  double out = 0;
  if (server == nullptr) return out;
  for (const Fault& fault : server->faults) {
    if (fault.scope == Scope::probes || (lasting_only && !is_lasting(fault, scenario.duration))) continue;
    out = std::max(out, ratio_of(fault.kind, upstream).value_or(0));
  }
  return out;
}

}  // namespace

const ServerModel* Servers::of(const EndpointConfig& endpoint) {
  const std::string name = endpoint.name();
  for (std::size_t looked = 0; looked < servers_.size(); ++looked) {
    if (next_ == servers_.size()) next_ = 0;
    const ServerModel& server = servers_[next_++];
    if (server.name == name) return &server;
  }
  return nullptr;
}

RateFound rate_of(const Scenario& scenario, const std::string& upstream) {
  RateFound out;
  std::size_t entries = 0;
  double sum = 0;
  for (const Traffic& traffic : scenario.traffic) {
    if (traffic.upstream != upstream) continue;
    const Entry entry = entry_rate(traffic, scenario.duration);
    if (!entry.per_s) return {std::nullopt, false, entry.why_not};
    sum += *entry.per_s;
    out.evenly_spaced = ++entries == 1 && entry.evenly_spaced;
  }
  if (sum <= 0) return {std::nullopt, false, "it has no traffic"};
  out.per_s = sum;
  return out;
}

std::optional<double> lasting_failures(const Scenario& scenario, const UpstreamConfig& upstream) {
  double out = 1;
  Servers servers(scenario);
  for (const EndpointConfig& endpoint : upstream.endpoints) {
    out = std::min(out, largest(scenario, upstream, servers.of(endpoint), true));
  }
  const double too_many = upstream.health ? upstream.health->failure_ratio : HealthParams{}.failure_ratio;
  return out > 0 && out < too_many ? std::optional(out) : std::nullopt;
}

std::optional<double> worst_failures(const Scenario& scenario, const UpstreamConfig& upstream) {
  double out = lasting_failures(scenario, upstream).value_or(0);
  const double healthy = out;
  Servers servers(scenario);
  for (const EndpointConfig& endpoint : upstream.endpoints) {
    out = std::max(out, largest(scenario, upstream, servers.of(endpoint), false));
  }
  return out > healthy ? std::optional(out) : std::nullopt;
}

// The mean over a thousand draws, evenly spread: every kind of latency alike, to about a percent.
double mean_latency_ms(const Scenario& scenario, const UpstreamConfig& upstream) {
  constexpr int DRAWS = 1000;
  double out = 0;
  Servers servers(scenario);
  for (const EndpointConfig& endpoint : upstream.endpoints) {
    const ServerModel* server = servers.of(endpoint);
    if (server == nullptr) continue;
    double sum = 0;
    for (int i = 0; i < DRAWS; ++i) sum += draw_ms(server->latency, (i + 0.5) / DRAWS);
    out = std::max(out, sum / DRAWS);
  }
  return out;
}

bool equal_weights(const UpstreamConfig& config) {
  return std::all_of(config.endpoints.begin(), config.endpoints.end(), [&](const EndpointConfig& endpoint) {
    return endpoint.weight == config.endpoints.front().weight;
  });
}

bool takes_turns(const UpstreamConfig& config) {
  return config.load_balancer == Algorithm::round_robin && equal_weights(config);
}

exact::FailureTurns one_sick(const UpstreamConfig& config, double healthy, double sick) {
  const std::size_t n = config.endpoints.size();
  if (!takes_turns(config) || n > exact::MAX_TURNS) {
    return {(sick + healthy * static_cast<double>(n - 1)) / static_cast<double>(n)};
  }
  exact::FailureTurns turns(n, healthy);
  turns.back() = sick;
  return turns;
}

}  // namespace halfopen::sim
