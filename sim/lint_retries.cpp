// Retries: what they add when a retry helps nobody.
#include <fmt/core.h>

#include <algorithm>

#include "sim/analysis_words.hpp"
#include "sim/lint_parts.hpp"
#include "sim/text_layout.hpp"

namespace halfopen::sim {

// A breaker that stays closed has seen less than error_ratio, so no more than that multiplies for long; what
// an open one lets through is nothing.
void lint_retries(const LintBlock& block, LintFindings& out) {
  const UpstreamConfig& config = block.config;
  const double p = config.breaker ? config.breaker->error_ratio : 1;
  const double load = attempts_per_request(config.retries, p);
  if (load < LINT_LOAD) return;
  LintFinding f = block.finding("retries-double-load", {"retries/budget_percent", "retries/attempts"});
  f.sentence = fmt::format("In a brownout of all endpoints, retries make {} attempts out of each request.",
                           number_words(load));
  f.why = fmt::format(
      "{}, and a budget that grants {} for 100 requests, add load just when there is too much of "
      "it{}.",
      config.retries.attempts == 1 ? "A retry" : grouped(config.retries.attempts) + " retries",
      config.retries.budget_percent,
      config.breaker ? fmt::format("; the breaker ends it only above error_ratio {}", setting_words(p)) : "");
  f.numbers = {{fmt::format("attempts a request while {} of them fail", chance_words(p)), load, "attempts"}};
  f.instead = "budget_percent of 10 to 20: one endpoint's failures fit into it, everybody's don't.";
  f.instead_values = {{block.change("retries/budget_percent", 20)}};
  out.push_back(std::move(f));
}

}  // namespace halfopen::sim
