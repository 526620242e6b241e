#include "sim/analysis_inputs.hpp"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "sim/latency.hpp"

namespace halfopen::sim {

namespace {

// A linear piece of one entry's rate, over [from, to).
struct RatePiece {
  Nanos from = 0, to = 0;
  double from_rps = 0, to_rps = 0;
  bool even = false;

  double at(Nanos t) const {
    const double share = static_cast<double>(t - from) / static_cast<double>(to - from);
    return from_rps == to_rps ? from_rps : from_rps + (to_rps - from_rps) * share;
  }
};

std::string no_rate_of(const Traffic& traffic) {
  if (std::holds_alternative<ArrivalTimes>(traffic.source)) return "its traffic is a list of times";
  if (std::holds_alternative<Users>(traffic.source)) return "its traffic is users who wait for their answers";
  return "";
}

void add_pieces(std::vector<RatePiece>& out, const Traffic& traffic, Nanos duration) {
  const Nanos end = std::min(traffic.to, duration);
  const auto add = [&](Nanos from, Nanos to, double from_rps, double to_rps, bool even) {
    if (to > from && std::max(from_rps, to_rps) > 0) out.push_back({from, to, from_rps, to_rps, even});
  };
  if (const auto* every = std::get_if<ArrivalEvery>(&traffic.source)) {
    const double rps = 1e9 / static_cast<double>(every->every);
    return add(traffic.from, end, rps, rps, true);
  }
  const auto& process = std::get<ArrivalProcess>(traffic.source);
  if (process.stages.empty()) {
    const double rps = process.burst  ? process.burst->rps
                       : process.wave ? process.wave->mean_rps + process.wave->amplitude_rps
                                      : process.rate_rps;
    return add(traffic.from, end, rps, rps, !process.poisson && !process.burst && !process.wave);
  }
  Nanos from = traffic.from;
  for (const RateStage& stage : process.stages) {
    if (from >= end) return;
    if (stage.length == 0) continue;
    const Nanos to = end - from < stage.length ? end : from + stage.length;
    RatePiece whole{from, from + stage.length, stage.from_rps, stage.to_rps};
    add(from, to, stage.from_rps, whole.at(to), !process.poisson && stage.from_rps == stage.to_rps);
    from = to;
  }
}

struct Busy {
  double per_s = 0;
  bool even = false;
};

Busy busy_at(const std::vector<RatePiece>& active, Nanos t) {
  Busy out{0, active.size() == 1 && active[0].even};
  for (const RatePiece& piece : active) out.per_s += piece.at(t);
  return out;
}

// A sum of linear pieces is largest where one of them begins or ends.
Busy busiest(std::vector<RatePiece> pieces) {
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const RatePiece& a, const RatePiece& b) { return a.from < b.from; });
  std::vector<Nanos> borders;
  for (const RatePiece& piece : pieces) borders.insert(borders.end(), {piece.from, piece.to});
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  Busy most;
  const auto look = [&](const Busy& busy) {
    if (busy.per_s == most.per_s) most.even = most.even && busy.even;
    if (busy.per_s > most.per_s) most = busy;
  };
  std::vector<RatePiece> active;
  auto next = pieces.begin();
  for (const Nanos t : borders) {
    look(busy_at(active, t));
    active.erase(
        std::remove_if(active.begin(), active.end(), [&](const RatePiece& piece) { return piece.to == t; }),
        active.end());
    for (; next != pieces.end() && next->from == t; ++next) active.push_back(*next);
    look(busy_at(active, t));
  }
  return most;
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
  std::vector<RatePiece> pieces;
  for (const Traffic& traffic : scenario.traffic) {
    if (traffic.upstream != upstream) continue;
    if (std::string why = no_rate_of(traffic); !why.empty()) return {std::nullopt, false, std::move(why)};
    add_pieces(pieces, traffic, scenario.duration);
  }
  const Busy most = busiest(std::move(pieces));
  if (most.per_s <= 0) return {std::nullopt, false, "it has no traffic"};
  return {most.per_s, most.even, ""};
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

// A thousand draws, evenly spread: every kind of latency alike, to about a percent.
Latencies latencies_of(const Scenario& scenario, const UpstreamConfig& upstream) {
  constexpr int DRAWS = 1000;
  Latencies out;
  Servers servers(scenario);
  for (const EndpointConfig& endpoint : upstream.endpoints) {
    const ServerModel* server = servers.of(endpoint);
    if (server == nullptr) continue;
    double sum = 0, late = 0;
    for (int i = 0; i < DRAWS; ++i) {
      const double ms = draw_ms(server->latency, (i + 0.5) / DRAWS);
      sum += ms;
      late += upstream.timeouts.read_ms && ms > static_cast<double>(*upstream.timeouts.read_ms);
    }
    out.mean_ms = std::max(out.mean_ms, sum / DRAWS);
    out.too_late = std::max(out.too_late, late / DRAWS);
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
