// What somebody who has run gateways for years would say on reading the settings of an upstream: settings
// that are allowed, that `validate` has nothing against, and that don't do what they look like. Each finding
// says why, with a number of the exact models (sim/exact.hpp) or of the settings themselves behind it, what
// to set instead, and which scenario of this repository shows it at work.
//
// What is read is the first generation; reloads are not. Rates are those of the scenario's traffic at its
// peak: rules about traffic are silent where it is a list of times, users who wait, or none. Endpoints
// without failures of their own are taken to fail ASSUMED_HEALTHY of the time (sim/analysis.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario.hpp"

namespace halfopen::sim {

// A warning is about settings that don't do what they say. A notice is about a choice that is usual, and may
// be meant, but that people are surprised by: it is told, and fails no build.
enum class LintLevel : std::uint8_t { warning, notice };
std::string_view lint_level_name(LintLevel level);

// Ids are a file format: they stand in comments and build scripts, so none is ever renamed or used again.
struct LintRule {
  std::string_view id;
  LintLevel level = LintLevel::warning;
  std::string_view about;     // when it is told, a sentence or two
  std::string_view shown_by;  // a scenario, beside this repository's root
};

// In the order of the reference, which is also that of the findings of one upstream.
std::span<const LintRule> lint_rules();
const LintRule* find_lint_rule(std::string_view id);  // null if there is none

struct LintNumber {
  std::string what;
  double value = 0;
  std::string unit;  // "s": a time in seconds; "share": 0 to 1; else a noun: "requests", "times"
};

struct LintChange {
  std::string pointer;  // into the scenario
  std::string value;    // as JSON: 0.833, "ignore"
};

struct LintFinding {
  std::string id, upstream;
  LintLevel level = LintLevel::warning;
  std::vector<std::string>
      pointers;          // JSON pointers of the values that it is about, the first where it stands
  std::string sentence;  // what will happen, or won't
  std::string why;
  std::vector<LintNumber> numbers;  // at least one
  std::string instead;              // what to set
  // The same for machines: alternatives, each of which, all else left as it is, makes this rule silent about
  // this upstream's health or breaker. None where what helps is no setting (another endpoint).
  std::vector<std::vector<LintChange>> instead_values;
  std::string shown_by;
};

// How sure a rule is before it speaks. At the number itself it does.
inline constexpr double LINT_FIRST_CHANCE = 0.001;   // ratio-never-first: the ratio comes first less often
inline constexpr double LINT_VOLUME_SHARE = 0.01;    // volume-out-of-reach: attempts that find the volume
inline constexpr double LINT_RARE_S = 3600;          // what comes less often, on average, is rare
inline constexpr double LINT_EARLY_CHANCE = 0.01;    // false-ejections: before the first window is full
inline constexpr double LINT_LOAD = 2;               // retries-double-load: attempts a request
inline constexpr std::uint64_t LINT_MANY_LOOPS = 5;  // probes-in-lockstep: probe loops at one endpoint
inline constexpr std::uint64_t MOST_BALANCERS = 100'000;

struct LintOptions {
  std::uint64_t balancers = 1;  // gateways that run these same settings; 1 to MOST_BALANCERS
};

// By upstream in file order, then by rule. Pure: from any thread, the same for the same scenario.
std::vector<LintFinding> lint(const Scenario& scenario, const LintOptions& options = {});

}  // namespace halfopen::sim
