#include "sim/writer_analysis.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sim/analysis_words.hpp"
#include "sim/text_layout.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace {

constexpr std::size_t LABEL = 28;
constexpr std::size_t COLUMN = 25;

struct Row {
  std::string label;
  std::vector<std::string> cells;
};

// Cells that are too long for a column go on lines of their own.
std::string row_text(const Row& row) {
  std::string out = "    " + pad_right(row.label, LABEL);
  const bool fits = std::all_of(row.cells.begin(), row.cells.end(),
                                [](const std::string& cell) { return columns_of(cell) + 1 < COLUMN; });
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const bool last = i + 1 == row.cells.size();
    if (!fits && i > 0) out += '\n' + std::string(4 + LABEL, ' ');
    out += last || !fits ? row.cells[i] : pad_right(row.cells[i], COLUMN - 1);
  }
  while (out.back() == ' ') out.pop_back();
  return out + '\n';
}

using Ask = std::function<std::string(const RuleAnalysis&)>;
struct Question {
  const char* label;
  Ask ask;
};

std::string onset_words(const RuleAnalysis& rule, exact::Bounds exact::Onset::*which) {
  return rule.onset ? time_words((*rule.onset).*which) : "-";
}

Ask of_cycle(std::function<std::string(const exact::Cycle&)> ask) {
  return [ask = std::move(ask)](const RuleAnalysis& rule) { return rule.cycle ? ask(*rule.cycle) : "-"; };
}

std::vector<Question> questions(bool breaker) {
  using exact::Cycle;
  using exact::Onset;
  using Rule = RuleAnalysis;
  return {
      {"after healthy traffic", [](const Rule&) { return std::string(); }},
      {"  half of them within", [](const Rule& r) { return onset_words(r, &Onset::median_s); }},
      {"  95 % within", [](const Rule& r) { return onset_words(r, &Onset::within_95_s); }},
      {"  how sure", [](const Rule& r) { return r.onset ? r.onset->bound : "-"; }},
      {"after a start or a return", [](const Rule&) { return std::string(); }},
      {"  mean", [](const Rule& r) { return time_words(r.ejection->mean_s); }},
      {"  half of them within", [](const Rule& r) { return time_words(r.ejection->median_s); }},
      {"  95 % within", [](const Rule& r) { return time_words(r.ejection->within_95_s); }},
      {"  chance within an hour", [](const Rule& r) { return chance_words(r.ejection->in_an_hour); }},
      {"  how sure", [](const Rule& r) { return r.ejection->bound; }},
      {breaker ? "closed, of the time" : "in rotation, of the time",
       of_cycle([](const Cycle& c) { return chance_words(c.in_rotation); })},
      {breaker ? "open for" : "out for", of_cycle([](const Cycle& c) {
         return c.outage_s.low == exact::FOREVER ? "good" : time_words(c.outage_s);
       })},
      {"trials an hour", of_cycle([](const Cycle& c) { return number_words(c.trials_per_hour); })},
      {breaker ? "refused, of the requests" : "trials, of its requests",
       of_cycle([breaker](const Cycle& c) { return chance_words(breaker ? c.turned_away : c.trial_share); })},
  };
}

std::string rule_table(const std::vector<std::string>& heads, const std::vector<const RuleAnalysis*>& rules,
                       bool breaker) {
  std::string out = row_text({"", heads});
  for (const Question& question : questions(breaker)) {
    Row row{question.label, {}};
    for (const RuleAnalysis* rule : rules) {
      row.cells.push_back(rule->ejection ? question.ask(*rule) : "no answer");
    }
    out += row_text(row);
  }
  return out;
}

std::string emptied_words(const exact::Bounds& per_hour) {
  if (per_hour.high <= 0) return "never, or less than can be told";
  return "once in " + time_words(exact::Bounds{3600 / per_hour.high,
                                               per_hour.low > 0 ? 3600 / per_hour.low : exact::FOREVER});
}

std::string pool_rows(const UpstreamAnalysis& upstream) {
  const auto& sick = *upstream.sick_pool;
  const auto& healthy = *upstream.healthy_pool;
  std::string out;
  if (sick) {
    const exact::PoolSick& all = *sick;
    if (all.no_quantile.empty()) out += row_text({"all turn sick: 95 % in", {time_words(all.within_95_s)}});
    out += row_text({"  before any returns", {chance_words(all.gone_before_return)}});
    out += row_text({"  then fails open for", {chance_words(all.fail_open_share) + " of the requests"}});
  }
  if (healthy) out += row_text({"healthy: emptied", {emptied_words(healthy->emptied_per_hour)}});
  return out.empty() ? out : "\n  The pool\n" + out;
}

std::string probe_rows(const ProbeAnalysis& probes) {
  if (!probes.detect || !probes.readmit) return "";
  const auto row = [](const char* label, const exact::ProbeWait& wait) {
    return row_text({label, {"mean " + time_words(wait.mean_s)}}) +
           row_text({"  95 % within", {time_words(wait.within_95_s)}}) +
           row_text({"  at most", {time_words(wait.most_s)}});
  };
  return row("dead until ejected", *probes.detect) + row("alive until taken back", *probes.readmit);
}

std::string head(const UpstreamAnalysis& upstream) {
  const UpstreamConfig& config = upstream.config;
  std::string out =
      hanging("", fmt::format("Upstream {}: {}, {}", config.name, plural(config.endpoints.size(), "endpoint"),
                              to_string(config.load_balancer)));
  if (upstream.no_rate.empty()) {
    out += hanging(
        "  ", fmt::format("{} req/s ({}), {} at each endpoint, {}", number_words(upstream.rate_rps.value),
                          upstream.rate_rps.from, number_words(upstream.at_endpoint.per_s),
                          upstream.at_endpoint.poisson ? "Poisson" : "evenly spaced"));
  } else {
    out += hanging("  ", "No rate, because " + upstream.no_rate + ": give one with --rate-rps.");
  }
  return out + hanging("  ", fmt::format("healthy: {} errors ({}); sick: {} ({})",
                                         chance_words(upstream.healthy.value), upstream.healthy.from,
                                         chance_words(upstream.sick.value), upstream.sick.from));
}

std::string upstream_text(const UpstreamAnalysis& upstream) {
  std::string out = head(upstream) + '\n';
  for (const std::string& sentence : sentences(upstream)) out += hanging("  - ", sentence);
  const std::string healthy = "healthy", sick = "sick";
  if (upstream.healthy_endpoint && upstream.sick_endpoint) {
    out += "\n  One endpoint, ejected by its traffic\n";
    out += rule_table({healthy, sick}, {&*upstream.healthy_endpoint, &*upstream.sick_endpoint}, false);
    out += pool_rows(upstream);
  }
  if (upstream.breaker) {
    const BreakerAnalysis& breaker = *upstream.breaker;
    out += "\n  The breaker\n";
    out +=
        rule_table({"all healthy", "one sick, not ejected"}, {&breaker.all_healthy, &breaker.one_sick}, true);
    out += rule_table({"all sick"}, {&breaker.all_sick}, true);
  }
  if (upstream.probes) out += "\n  Active probes\n" + probe_rows(*upstream.probes);
  if (!upstream.notes.empty()) out += '\n';
  for (const std::string& note : upstream.notes) out += hanging("  * ", note);
  return out;
}

}  // namespace

std::string analysis_text(const Analysis& analysis) {
  std::string out = analysis.name.empty() ? "" : hanging("", "Exact answers for " + analysis.name) + '\n';
  for (std::size_t i = 0; i < analysis.upstreams.size(); ++i) {
    if (i > 0) out += '\n';
    out += upstream_text(analysis.upstreams[i]);
  }
  return out;
}

}  // namespace halfopen::sim
