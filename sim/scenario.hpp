// A scenario as plain structs: what the file says after every default is filled in, every latency
// and fault of "*" is merged into its endpoints and every reload is worked out. Nothing here reads files
// (scenario_json does) and nothing here runs (simulation does). Times are integer nanoseconds of virtual
// time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/event.hpp"
#include "core/params.hpp"

namespace halfopen::sim {

using Nanos = std::uint64_t;  // virtual time since the start of the run, or a length of it
inline constexpr Nanos NANOS_PER_MS = 1'000'000;
inline constexpr Nanos NEVER = ~Nanos{0};  // an open end: a fault without to_ms, traffic without to_ms

// ---- endpoints ------------------------------------------------------------------------------------

struct FixedLatency {
  double ms = 1;
};
struct UniformLatency {
  double min_ms = 0, max_ms = 0;
};
struct ExponentialLatency {
  double mean_ms = 0;
};
struct LognormalLatency {
  double mu = 0, sigma = 0;
};  // of ln(ms); both spellings of the file end here
struct ParetoLatency {
  double min_ms = 0, alpha = 0, max_ms = 0;
};
struct EmpiricalLatency {
  std::shared_ptr<const std::vector<double>> ms;
};  // never empty
using Latency = std::variant<FixedLatency, UniformLatency, ExponentialLatency, LognormalLatency,
                             ParetoLatency, EmpiricalLatency>;

struct Capacity {
  std::uint32_t concurrency = 1;
  std::uint32_t queue = 0;
  std::optional<std::uint16_t> overflow_status = 503;  // none: overflow is a reset
};

enum class DownKind : std::uint8_t { refused, reset, timeout };
enum class Scope : std::uint8_t { both, traffic, probes };

// One entry of an `outcomes` list: a status, or (status 0) a reset.
struct ScriptedOutcome {
  std::uint16_t status = 200;
};

struct ErrorFault {
  double ratio = 0;
  std::uint16_t status = 503;
};
struct DownFault {
  DownKind kind = DownKind::refused;
};
struct LatencyFault {
  double add_ms = 0, factor = 1;
  Nanos ramp = 0;
};
struct BrownoutFault {
  double error_ratio = 0;
  std::uint16_t status = 503;
  double latency_factor = 1, capacity_factor = 1;
};
struct FlapFault {
  Nanos up = 0, down = 0;
  double jitter_ms = 0;
  DownKind kind = DownKind::refused;
};
struct OutcomesFault {
  std::vector<ScriptedOutcome> list;
};
struct HangFault {
  double ratio = 0;
};
struct TruncateFault {
  double ratio = 0;
};
using FaultKind = std::variant<ErrorFault, DownFault, LatencyFault, BrownoutFault, FlapFault, OutcomesFault,
                               HangFault, TruncateFault>;

struct Fault {
  Nanos from = 0;    // included
  Nanos to = NEVER;  // excluded
  Scope scope = Scope::both;
  FaultKind kind;
};

// One simulated server: one address:port, shared by every upstream that names it.
struct ServerModel {
  std::string name;  // "address:port"
  Latency latency = FixedLatency{};
  std::optional<Capacity> capacity;  // none: unlimited
  std::vector<Fault> faults;         // those of "*" first; the place in this list is the <n> of its stream
};

// ---- traffic --------------------------------------------------------------------------------------

struct RateStage {
  double from_rps = 0, to_rps = 0;
  Nanos length = 0;
};
// `stages` empty: constant `rate_rps` until the entry ends. Otherwise linear pieces, then nothing.
struct ArrivalProcess {
  bool poisson = false;
  double rate_rps = 0;
  std::vector<RateStage> stages;
};
struct ArrivalTimes {
  std::vector<Nanos> at;
};  // in file order: the place in the list is the request's index
struct ArrivalEvery {
  Nanos every = 0;
};

struct Keys {
  std::uint64_t clients = 1;
  double zipf = 0;
};
struct Abandon {
  double ratio = 0;
  Nanos after = 0;
};

struct Traffic {
  std::string upstream;
  Nanos from = 0;    // included
  Nanos to = NEVER;  // excluded
  std::variant<ArrivalProcess, ArrivalTimes, ArrivalEvery> source;
  std::optional<Keys> keys;
  std::optional<Abandon> abandon;
};

// ---- the run --------------------------------------------------------------------------------------

struct ClockStep {
  Nanos at = 0;
  std::int64_t by_ms = 0;
};
struct Clock {
  std::uint64_t start_unix_ms = 1'700'000'000'000;
  bool monotonic = false;        // "monotonic" does not obey steps, "wall" does
  std::vector<ClockStep> steps;  // in file order
};

// The whole configuration from `at` on, patches already applied to what stood before.
struct Reload {
  Nanos at = 0;
  std::vector<UpstreamConfig> upstreams;
};

// ---- expectations ---------------------------------------------------------------------------------

// Where something stands in the file: 1-based; for the messages of failures.
struct SourcePlace {
  std::uint32_t line = 0, column = 0;
};

struct EventPattern {
  EventType type = EventType::endpoint_ejected;
  std::string endpoint, upstream;  // empty: any
  Rule rule = Rule::none;          // none: any
  Via via = Via::none;
};

struct TimeFilter {
  std::optional<std::uint64_t> at_ms;                   // floor(t_ms) == at_ms
  std::optional<std::pair<double, double>> between_ms;  // [a, b)
};

enum class CountIs : std::uint8_t { exactly, at_least, at_most };
struct ExpectEvent {
  EventPattern pattern;
  TimeFilter when;
  CountIs relation = CountIs::at_least;
  std::uint64_t count = 1;  // without any count in the file: at least one
};
struct ExpectNever {
  EventPattern pattern;
  TimeFilter when;
};
// `subject` is an endpoint ("address:port") or, where the state is a breaker's, an upstream's name.
struct ExpectState {
  std::string state, endpoint, upstream;
  TimeFilter when;
};
struct Expectation {
  std::variant<ExpectEvent, ExpectNever, ExpectState> what;
  SourcePlace place;
  std::string text;  // the expectation as written, compact JSON
  // Not empty: a sentence why it can't be evaluated (an event, rule, state, endpoint or upstream that does
  // not exist). Such an expectation has not held, whatever `what` says: `check` fails, the file is not bad.
  std::string problem;
};

struct Scenario {
  std::string name, question;
  std::uint64_t seed = 1;
  Nanos duration = 0;
  Nanos sample = 1000 * NANOS_PER_MS;
  Clock clock;
  std::vector<UpstreamConfig> upstreams;  // generation 0
  std::vector<Reload> reloads;            // by time, file order at one instant
  std::vector<ServerModel> servers;       // every endpoint of every generation, by first appearance
  std::vector<Traffic> traffic;
  std::vector<Expectation> expect;
  std::uint64_t digest = 0;  // h over the effective scenario, keys sorted
};

}  // namespace halfopen::sim
