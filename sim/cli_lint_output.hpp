// What `lint` has found in each file, as plain values, and the ways to tell it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sim/lint.hpp"

namespace halfopen::sim {

inline constexpr std::string_view LINT_FORMAT = "halfopen.lint/1",
                                  LINT_RULES_FORMAT = "halfopen.lint-rules/1";

struct PlacedFinding {
  LintFinding finding;
  std::string file;  // the scenario, or the gateway's file where its upstreams come from there
  SourcePlace place;
};

struct LintedFile {
  std::string file;
  std::vector<PlacedFinding> findings;
  std::size_t suppressed = 0;  // findings that a comment or --disable keeps quiet
};

std::size_t warnings_in(const LintedFile& file);

// For a terminal of 80 columns; only a place may be longer. What is said alike of several upstreams of a file
// is said once, below all their places.
std::string lint_text(const std::vector<LintedFile>& files);

// One JSON object with a line end: a member of `files` for each file, findings with their numbers, times in
// seconds and shares from 0 to 1; null is a time that never comes.
std::string lint_json(const std::vector<LintedFile>& files);

// Workflow commands of GitHub Actions, a warning or a notice a finding.
std::string lint_github(const std::vector<LintedFile>& files);

// Every rule: its id, its level unless a finding says another, when it is told, the scenario that shows it.
std::string lint_rules_text();
std::string lint_rules_json();

}  // namespace halfopen::sim
