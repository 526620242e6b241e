#include "sim/sweep_columns.hpp"

#include <iterator>

namespace halfopen::sim {

namespace {

using Value = double (*)(const Summary& summary);

struct Row {
  MetricColumn column;
  Value value;
};

double number(std::uint64_t count) { return static_cast<double>(count); }

constexpr MetricKind COUNT = MetricKind::count, RATIO = MetricKind::ratio, MS = MetricKind::ms;

constexpr Row ROWS[] = {
    {{"requests", COUNT}, [](const Summary& s) { return number(s.requests); }},
    {{"ok", COUNT}, [](const Summary& s) { return number(s.ok); }},
    {{"failed", COUNT}, [](const Summary& s) { return number(s.failed); }},
    {{"fast_failed", COUNT}, [](const Summary& s) { return number(s.fast_failed); }},
    {{"unfinished", COUNT}, [](const Summary& s) { return number(s.unfinished); }},
    {{"abandoned", COUNT}, [](const Summary& s) { return number(s.abandoned); }},
    {{"attempts", COUNT}, [](const Summary& s) { return number(s.attempts); }},
    {{"failures", COUNT}, [](const Summary& s) { return number(s.failures); }},
    {{"success_ratio", RATIO}, [](const Summary& s) { return s.success_ratio; }},
    {{"attempts_per_request", RATIO}, [](const Summary& s) { return s.attempts_per_request; }},
    {{"latency_p50_ms", MS}, [](const Summary& s) { return s.latency_p50_ms; }},
    {{"latency_p95_ms", MS}, [](const Summary& s) { return s.latency_p95_ms; }},
    {{"latency_p99_ms", MS}, [](const Summary& s) { return s.latency_p99_ms; }},
    {{"fail_open_picks", COUNT}, [](const Summary& s) { return number(s.fail_open_picks); }},
    {{"late_reports_ignored", COUNT}, [](const Summary& s) { return number(s.late_reports_ignored); }},
    {{"ejections", COUNT}, [](const Summary& s) { return number(s.ejections); }},
    {{"breaker_openings", COUNT}, [](const Summary& s) { return number(s.breaker_openings); }},
    {{"breaker_open_ms", MS}, [](const Summary& s) { return s.breaker_open_ms; }},
    {{"retries", COUNT}, [](const Summary& s) { return number(s.retries); }},
    {{"retries_denied", COUNT}, [](const Summary& s) { return number(s.retries_denied); }},
};

}  // namespace

const std::vector<MetricColumn>& sweep_columns() {
  static const std::vector<MetricColumn> columns = [] {
    std::vector<MetricColumn> out;
    for (const Row& row : ROWS) out.push_back(row.column);
    return out;
  }();
  return columns;
}

std::vector<double> sweep_metrics(const Timeline& timeline) {
  std::vector<double> out;
  out.reserve(std::size(ROWS));
  for (const Row& row : ROWS) out.push_back(row.value(timeline.summary));
  return out;
}

}  // namespace halfopen::sim
