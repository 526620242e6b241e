// An ejection: does it last long enough, and is there anybody left to serve meanwhile?
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "sim/analysis_inputs.hpp"
#include "sim/analysis_words.hpp"
#include "sim/exact_law.hpp"
#include "sim/lint_parts.hpp"
#include "sim/text_layout.hpp"

namespace halfopen::sim {

namespace {

std::string ms_words(std::uint64_t ms) { return length_text(ms * NANOS_PER_MS); }

// The whole block, because a file may have none.
std::string shorter_timeouts(const TimeoutParams& timeouts, std::uint64_t most_ms) {
  std::string out = fmt::format(R"({{"connect_ms":{},"happy_eyeballs_ms":{})",
                                std::min(timeouts.connect_ms, most_ms), timeouts.happy_eyeballs_ms);
  if (timeouts.read_ms) out += fmt::format(R"(,"read_ms":{})", std::min(*timeouts.read_ms, most_ms));
  return out + '}';
}

void lint_timeout(const LintBlock& block, LintFindings& out) {
  const UpstreamConfig& config = block.config;
  const std::uint64_t eject_ms = config.health->eject_ms, read_ms = config.timeouts.read_ms.value_or(0);
  const bool connect = config.timeouts.connect_ms > read_ms;
  const std::uint64_t timeout_ms = connect ? config.timeouts.connect_ms : read_ms;
  if (eject_ms >= timeout_ms || config.late_reports == LateReports::ignore) return;
  const char* const name = connect ? "connect_ms" : "read_ms";
  LintFinding f =
      block.finding("eject-shorter-than-timeout", {"health/eject_ms", std::string("timeouts/") + name});
  f.sentence = fmt::format("An ejection of {} is over before an attempt of {} ({}) has timed out.",
                           ms_words(eject_ms), ms_words(timeout_ms), name);
  f.why =
      "Attempts from before the ejection that nobody answers fail after it. Each is a verdict about the "
      "past: "
      "it fails a trial, or counts against an endpoint that is well again.";
  const double after_s = static_cast<double>(timeout_ms - eject_ms) / 1000;
  f.numbers = {{"verdicts come after the end of the ejection for up to", after_s, "s"}};
  if (block.requests_at_endpoint) {
    f.numbers.push_back({"attempts that may come to an end so late",
                         std::ceil(block.requests_at_endpoint->per_s * after_s - 1e-9), "attempts"});
  }
  const bool both = std::min(config.timeouts.connect_ms, read_ms) > eject_ms;
  f.instead = fmt::format("eject_ms of at least {}, or {} of at most {}, or late_reports \"ignore\".",
                          timeout_ms, both ? "connect_ms and read_ms" : name, eject_ms);
  f.instead_values = {{block.change("health/eject_ms", static_cast<double>(timeout_ms))},
                      {{block.at("timeouts"), shorter_timeouts(config.timeouts, eject_ms)}},
                      {{block.at("late_reports"), "\"ignore\""}}};
  out.push_back(std::move(f));
}

// Whether a reload makes more of it.
bool grows(const LintBlock& block) {
  const auto has_more = [&](const UpstreamConfig& config) {
    return config.name == block.config.name && config.endpoints.size() > 1;
  };
  return std::any_of(block.scenario.reloads.begin(), block.scenario.reloads.end(), [&](const Reload& reload) {
    return std::any_of(reload.upstreams.begin(), reload.upstreams.end(), has_more);
  });
}

void lint_pool_of_one(const LintBlock& block, LintFindings& out) {
  if (grows(block)) return;
  LintFinding f = block.finding("pool-of-one", {"health", "endpoints"});
  f.sentence = "Ejecting the only endpoint changes nothing: with nobody else left it goes on serving.";
  f.why = "When no endpoint may be picked the whole set serves (fail-open), and here that is the same one.";
  f.numbers = {{"its share of the requests while it is ejected", 1, "share"}};
  f.instead = block.config.breaker ? "A second endpoint; the breaker is what protects a single one."
                                   : "A second endpoint; or a breaker instead of health, which refuses.";
  out.push_back(std::move(f));
}

// The least concurrency among its servers; none where one of them has no limit.
std::optional<double> least_concurrency(const LintBlock& block) {
  std::optional<double> out;
  Servers servers(block.scenario);
  for (const EndpointConfig& endpoint : block.config.endpoints) {
    const ServerModel* const server = servers.of(endpoint);
    if (server == nullptr || !server->capacity) return std::nullopt;
    out = std::min(out.value_or(exact::FOREVER), static_cast<double>(server->capacity->concurrency));
  }
  return out;
}

// Offered load over capacity of a server with an equal share of the requests (Little's law).
void lint_spare(const LintBlock& block, LintFindings& out) {
  const RateFound rate = rate_of(block.scenario, block.config.name);
  const std::optional<double> concurrency = least_concurrency(block);
  if (!rate.per_s || !concurrency) return;
  const double n = block.endpoints();
  const double in_service = *rate.per_s * latencies_of(block.scenario, block.config).mean_ms / 1000;
  const double before = in_service / n / *concurrency, after = in_service / (n - 1) / *concurrency;
  if (before >= 1 || after < 1) return;
  LintFinding f = block.finding("pool-without-spare", {"endpoints", "health"});
  f.sentence = fmt::format("Without one of its {} endpoints, the others have more to do than they can.",
                           block.config.endpoints.size());
  f.why = fmt::format(
      "{} req/s of {} each keep a server busy for {} of its {} places; with one out, for {}.",
      number_words(*rate.per_s), time_words(latencies_of(block.scenario, block.config).mean_ms / 1000),
      number_words(before * *concurrency), number_words(*concurrency), number_words(after * *concurrency));
  f.numbers = {{"load of a server, all in rotation", before, "share"}, {"with one ejected", after, "times"}};
  f.instead =
      fmt::format("At least {} endpoints, or more capacity in each: an ejection must not eject the next.",
                  setting_words(std::floor(in_service / *concurrency) + 2));
  out.push_back(std::move(f));
}

}  // namespace

void lint_ejection(const LintBlock& block, LintFindings& out) {
  if (!block.config.health) return;
  if (block.config.endpoints.size() == 1) return lint_pool_of_one(block, out);
  lint_timeout(block, out);
  lint_spare(block, out);
}

}  // namespace halfopen::sim
