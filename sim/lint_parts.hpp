// The rooms of the linter: each reads the settings of one upstream from its side. Internal to lint*.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/exact_law.hpp"
#include "sim/lint.hpp"

namespace halfopen::sim {

// One upstream, and what its traffic is at its peak, if that is a rate.
struct LintBlock {
  const Scenario& scenario;
  const LintOptions& options;
  const UpstreamConfig& config;
  std::string pointer;  // "/upstreams/0"

  // Requests. Evenly spaced at an endpoint only where round robin deals them out of one even stream; at the
  // endpoint with the largest weight.
  std::optional<exact::Arrivals> requests, requests_at_endpoint;
  // The same with the retries that the budget allows at most: what reaches the machines.
  std::optional<exact::Arrivals> attempts, attempts_at_endpoint;

  double endpoints() const { return static_cast<double>(config.endpoints.size()); }
  std::string at(std::string_view key) const { return pointer + '/' + std::string(key); }
  // A value to set, as a number; whole ones at most 2^53.
  LintChange change(std::string_view key, double value) const;
  // With id, level, upstream and shown_by; the first pointer is where it stands.
  LintFinding finding(std::string_view id, std::vector<std::string> keys) const;
};

using LintFindings = std::vector<LintFinding>;

inline constexpr double MOST_MS = 1e12;  // the longest time that a setting can say
// No window holds so many, so this volume says that there is no ratio rule.
inline constexpr std::uint32_t NO_VOLUME = std::numeric_limits<std::uint32_t>::max();

// Health and breaker under the names that the file gives their settings.
struct RuleNames {
  bool breaker = false;
  const char *block, *streak, *ratio, *volume, *acts, *acts_alone;
  std::string key(const char* name) const { return std::string(block) + '/' + name; }
};
inline constexpr RuleNames HEALTH_NAMES{
    false, "health", "consecutive_failures", "failure_ratio", "failure_min_volume", "eject", "eject"};
inline constexpr RuleNames BREAKER_NAMES{
    true, "breaker", "consecutive_failures", "error_ratio", "error_volume", "open", "open it"};

// Said so: by the volume, or a ratio of 1 that adds nothing to a streak no longer than the volume.
bool has_no_ratio_rule(const HealthParams& rule);
void lint_ratio(const LintBlock& block, const HealthParams& rule, const RuleNames& names, LintFindings& out);
void lint_false(const LintBlock& block, const HealthParams& rule, const RuleNames& names, LintFindings& out);

void lint_thresholds(const LintBlock& block, LintFindings& out);
void lint_breaker(const LintBlock& block, LintFindings& out);
void lint_ejection(const LintBlock& block, LintFindings& out);
void lint_probes(const LintBlock& block, LintFindings& out);
void lint_retries(const LintBlock& block, LintFindings& out);
// Probe loops of several upstreams meet at one endpoint: told of the first of them.
void lint_lockstep(const Scenario& scenario, const LintOptions& options, LintFindings& out);

// Attempts a request that fails with chance p each time: 1 + p + p^2 + … over the retries allowed, and at
// most what the budget adds. Independent failures, and a budget window that is full.
double attempts_per_request(const RetryParams& retries, double p);

// "1 observation", "0.62 observations".
std::string plural_words(double count, std::string_view noun);

// A value as a file has it: 0.9, 20000.
std::string setting_words(double value);

}  // namespace halfopen::sim
