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
// Gilbert-Elliott: a good and a bad state in turn, exponential stays, begins good; errors in the bad one.
struct BurstsFault {
  double mean_good_ms = 0, mean_bad_ms = 0;
  double error_ratio = 0;
  std::uint16_t status = 503;
};
// Slower for a while after every return from `down` or from a flap's down phase.
struct ColdStartFault {
  Nanos length = 0;
  double latency_factor = 1;
};
using FaultKind = std::variant<ErrorFault, DownFault, LatencyFault, BrownoutFault, FlapFault, OutcomesFault,
                               HangFault, TruncateFault, BurstsFault, ColdStartFault>;

struct Fault {
  // The <n> of its stream: its place among the endpoint's faults, those of "*" first and counted whether or
  // not their selection takes this endpoint, so that a wider selection shifts nobody's luck.
  std::uint32_t number = 0;
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
  std::vector<Fault> faults;         // those of "*" that select it first
};

// ---- traffic --------------------------------------------------------------------------------------

struct RateStage {
  double from_rps = 0, to_rps = 0;
  Nanos length = 0;
};
// `rps` for `length`, then nothing, every `every`; the first begins with the entry.
struct BurstShape {
  double rps = 0;
  Nanos length = 0, every = 0;
};
// mean + amplitude * sin(2 pi t / period) per second, t since the entry's begin; amplitude <= mean.
struct WaveShape {
  double mean_rps = 0, amplitude_rps = 0;
  Nanos period = 0;
};
// At most one of stages (linear pieces, then nothing; `step` ends here too), burst and wave. None: constant
// `rate_rps` until the entry ends.
struct ArrivalProcess {
  bool poisson = false;
  double rate_rps = 0;
  std::vector<RateStage> stages;
  std::optional<BurstShape> burst{};
  std::optional<WaveShape> wave{};
};
struct ArrivalTimes {
  std::vector<Nanos> at;
};  // in file order: the place in the list is the request's index
struct ArrivalEvery {
  Nanos every = 0;
};
// Closed loop: each user asks, waits for the end, thinks, asks again. User u starts at
// from_ms + floor(u * think_ms / count) ms; the index of its request is u * 2^32 + iteration.
struct Users {
  std::uint64_t count = 1;
  Nanos think = 0;
};

struct Keys {
  std::uint64_t clients = 1;
  double zipf = 0;
};
struct Abandon {
  double ratio = 0;
  Nanos after = 0;
};

// Who gives up and comes again: a storm's engine. A timeout is an abandon for the gateway.
struct Client {
  Nanos timeout = NEVER;
  std::uint32_t retries = 0;  // tries after the first
  std::uint64_t backoff_base_ms = 25, backoff_cap_ms = 250;
  bool honours_retry_after = false;
};

struct Traffic {
  std::string upstream;
  Nanos from = 0;    // included
  Nanos to = NEVER;  // excluded
  std::variant<ArrivalProcess, ArrivalTimes, ArrivalEvery, Users> source;
  std::optional<Keys> keys;
  std::optional<Abandon> abandon;
  std::optional<Client> client{};
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
  // From 1: this one of those that the pattern chooses, whatever their times; then `when` judges its time.
  std::optional<std::uint64_t> nth{};
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
// The steps in this order, other events in between unless `exact`: then no other event of the endpoints (for
// breaker events: upstreams) that the steps name.
struct SequenceStep {
  EventPattern pattern;
  TimeFilter when;
};
struct ExpectSequence {
  std::vector<SequenceStep> steps;
  bool exact = false;
};
enum class Compare : std::uint8_t { less, at_most, equal, not_equal, at_least, greater };
struct ExpectMetric {
  std::string metric;  // a name of sim/metrics.hpp
  Compare relation = Compare::equal;
  double value = 0;
  std::optional<std::pair<double, double>> between_ms;
  std::string endpoint;  // empty: of the whole run
};
struct ExpectFingerprint {
  std::string digits;  // 16 hexadecimal ones
};
struct Expectation {
  std::variant<ExpectEvent, ExpectNever, ExpectState, ExpectSequence, ExpectMetric, ExpectFingerprint> what;
  SourcePlace place;
  std::string text;  // the expectation as written, compact JSON
  // Not empty: a sentence why it can't be evaluated (an event, rule, state, endpoint or upstream that does
  // not exist). Such an expectation has not held, whatever `what` says: `check` fails, the file is not bad.
  std::string problem;
};

struct Scenario {
  std::string name, question;
  std::uint64_t seed = 1;
  bool drawn_from_seed = false;  // something here was: with another seed it is to be read again
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
