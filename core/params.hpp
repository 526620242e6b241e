// The settings of every machine, with the defaults of the seed documents. Plain values: nothing here
// validates (core/validate.hpp does) and nothing reads files. What each field means, its unit, range and
// default are described once, in core/param_table.cpp; validation, `--help` and reference come from there.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halfopen {

// Passive health: when real traffic ejects an endpoint and what lets it back (seed 000).
struct HealthParams {
  std::uint64_t window_ms = 60000;
  std::uint32_t consecutive_failures = 5;
  double failure_ratio = 0.5;
  std::uint32_t failure_min_volume = 20;
  std::uint64_t eject_ms = 30000;
  std::uint32_t half_open_probes = 1;
  friend bool operator==(const HealthParams&, const HealthParams&) = default;
};

enum class ProbeKind : std::uint8_t { http, tcp };

// Active health: the probe loop of one endpoint (seed 001).
struct ActiveParams {
  ProbeKind kind = ProbeKind::http;
  std::string path = "/healthz";
  std::uint64_t interval_ms = 5000;
  std::uint64_t timeout_ms = 2000;
  std::uint32_t success_threshold = 2;
  std::uint32_t failure_threshold = 3;
  std::uint64_t jitter_ms = 500;
  friend bool operator==(const ActiveParams&, const ActiveParams&) = default;
};

// The breaker above the balancer (seed 004). Its window is BREAKER_WINDOW_MS, fixed.
struct BreakerParams {
  std::uint32_t consecutive_failures = 5;
  double error_ratio = 0.5;
  std::uint32_t error_volume = 20;
  std::uint64_t open_ms = 30000;
  std::uint32_t half_open_probes = 1;
  friend bool operator==(const BreakerParams&, const BreakerParams&) = default;
};

inline constexpr std::uint64_t BREAKER_WINDOW_MS = 60000;
inline constexpr std::uint64_t RETRY_WINDOW_MS = 10000;
inline constexpr std::uint64_t HALF_OPEN_RETRY_AFTER_MS = 1000;

// A set of HTTP statuses 0 … 599.
using StatusSet = std::bitset<600>;

inline StatusSet default_retry_statuses() {
  StatusSet set;
  return set.set(502).set(503).set(504);
}

struct RetryParams {
  std::uint32_t attempts = 0;  // retries beyond the first attempt, at most 10
  std::uint64_t backoff_base_ms = 25;
  std::uint64_t backoff_cap_ms = 250;
  StatusSet retry_statuses = default_retry_statuses();
  bool retry_transport = true;
  std::uint32_t budget_percent = 10;
  std::optional<std::uint64_t> total_deadline_ms;  // none: no deadline
  friend bool operator==(const RetryParams&, const RetryParams&) = default;
};

struct TimeoutParams {
  std::uint64_t connect_ms = 5000;
  std::optional<std::uint64_t> read_ms;  // none: a hanging attempt is never given up
  std::uint64_t happy_eyeballs_ms = 250;
  friend bool operator==(const TimeoutParams&, const TimeoutParams&) = default;
};

enum class Algorithm : std::uint8_t { round_robin, least_requests, random, ip_hash };
enum class Protocol : std::uint8_t { http1, http2, https };

// What a report does whose dispatch was picked under an older generation of the tracker.
enum class LateReports : std::uint8_t { count, ignore };

struct EndpointConfig {
  std::string address;  // name, IPv4 or IPv6 literal without brackets
  std::uint16_t port = 0;
  std::uint32_t weight = 1;
  friend bool operator==(const EndpointConfig&, const EndpointConfig&) = default;

  // "10.0.0.1:8080", "[::1]:8080": how events, timelines and scenarios name an endpoint.
  std::string name() const;
};

struct UpstreamConfig {
  std::string name;
  Algorithm load_balancer = Algorithm::round_robin;
  std::uint64_t slow_start_ms = 0;
  Protocol protocol = Protocol::http1;
  std::vector<EndpointConfig> endpoints;
  std::optional<HealthParams> health;
  std::optional<ActiveParams> active_health;
  std::optional<BreakerParams> breaker;
  RetryParams retries;
  TimeoutParams timeouts;
  std::string trusted_ca_file;
  LateReports late_reports = LateReports::count;
  friend bool operator==(const UpstreamConfig&, const UpstreamConfig&) = default;
};

// The words that files use. `parse` leaves `out` alone and answers false for any other word.
const char* to_string(Algorithm algorithm) noexcept;
const char* to_string(Protocol protocol) noexcept;
const char* to_string(ProbeKind kind) noexcept;
const char* to_string(LateReports late) noexcept;
bool parse(std::string_view word, Algorithm& out) noexcept;
bool parse(std::string_view word, Protocol& out) noexcept;
bool parse(std::string_view word, ProbeKind& out) noexcept;
bool parse(std::string_view word, LateReports& out) noexcept;

// "[::1]" is how people write an IPv6 address beside a port; configuration holds it without brackets.
std::string without_brackets(std::string_view address);

}  // namespace halfopen
