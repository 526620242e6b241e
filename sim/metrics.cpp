#include "sim/metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sim/truth_metrics.hpp"

namespace halfopen::sim {
namespace {

constexpr double NOTHING = std::numeric_limits<double>::quiet_NaN();

// What can be asked of a metric besides the whole of it.
constexpr bool ENDPOINT = true, BETWEEN = true, NO_ENDPOINT = false, NO_BETWEEN = false;

constexpr std::array METRICS{
    Metric{"requests", "requests", NO_ENDPOINT, BETWEEN, "Requests that arrived.", &Summary::requests},
    Metric{"ok", "requests", NO_ENDPOINT, BETWEEN,
           "Requests that ended with a status below 500 and a whole body.", &Summary::ok},
    Metric{"failed", "requests", NO_ENDPOINT, BETWEEN,
           "Requests that ended in any other way, those that their caller left apart.", &Summary::failed},
    Metric{"fast_failed", "requests", NO_ENDPOINT, BETWEEN,
           "Those of the failed that the breaker refused or that found no endpoint.", &Summary::fast_failed},
    Metric{"unfinished", "requests", NO_ENDPOINT, NO_BETWEEN,
           "Requests that were under way when the run ended; they are in no ratio.", &Summary::unfinished},
    Metric{"abandoned", "requests", NO_ENDPOINT, BETWEEN,
           "Requests whose caller left before the end; they are in no ratio.", &Summary::abandoned},
    Metric{"attempts", "attempts", ENDPOINT, BETWEEN, "Attempts that were dispatched to an endpoint.",
           &Summary::attempts},
    Metric{"failures", "attempts", ENDPOINT, BETWEEN,
           "Failed outcomes of attempts; a body that breaks off is one.", &Summary::failures},
    Metric{"success_ratio", "ratio", NO_ENDPOINT, BETWEEN, "ok / (ok + failed).", &Summary::success_ratio},
    Metric{"attempts_per_request", "", NO_ENDPOINT, BETWEEN,
           "attempts / requests whose first attempt was admitted.", &Summary::attempts_per_request},
    Metric{"latency_p50_ms", "ms", NO_ENDPOINT, BETWEEN,
           "Median time from arrival to end, retries included, of the ok requests (nearest rank, lower edge "
           "of a 1/128 step).",
           &Summary::latency_p50_ms},
    Metric{"latency_p95_ms", "ms", NO_ENDPOINT, BETWEEN,
           "The time within which 95 % of the ok requests ended (nearest rank, lower edge of a 1/128 step).",
           &Summary::latency_p95_ms},
    Metric{"latency_p99_ms", "ms", NO_ENDPOINT, BETWEEN,
           "The time within which 99 % of the ok requests ended (nearest rank, lower edge of a 1/128 step).",
           &Summary::latency_p99_ms},
    Metric{"fail_open_picks", "picks", NO_ENDPOINT, BETWEEN,
           "Picks from the full set because no endpoint was in rotation.", &Summary::fail_open_picks},
    Metric{"late_reports_ignored", "reports", NO_ENDPOINT, BETWEEN,
           "Reports on attempts from before an ejection that late_reports ignore left out.",
           &Summary::late_reports_ignored},
    Metric{"ejections", "ejections", ENDPOINT, BETWEEN, "Times an endpoint was ejected.",
           &Summary::ejections},
    Metric{"breaker_openings", "openings", NO_ENDPOINT, BETWEEN, "Times a breaker opened.",
           &Summary::breaker_openings},
    Metric{"breaker_open_ms", "ms", NO_ENDPOINT, BETWEEN,
           "Time that breakers were stored as open, of all upstreams together.", &Summary::breaker_open_ms},
    Metric{"retries", "retries", NO_ENDPOINT, BETWEEN, "Retries that the budget granted.", &Summary::retries},
    Metric{"retries_denied", "retries", NO_ENDPOINT, BETWEEN, "Retries that the budget refused.",
           &Summary::retries_denied},
    Metric{"time_to_detect_ms", "ms", ENDPOINT, BETWEEN,
           "From the begin of a failing fault to its endpoint's first ejection while it is active; the "
           "slowest of those that were detected.",
           time_to_detect_ms},
    Metric{"missed", "faults", ENDPOINT, BETWEEN,
           "Failing faults, counted for each endpoint of an upstream that they hit, without an ejection of "
           "it while they were active.",
           missed},
    Metric{"lost_before_ejection", "attempts", ENDPOINT, BETWEEN,
           "Failed attempts that were dispatched to an endpoint from the begin of a failing fault to that "
           "ejection, or to the fault's end.",
           lost_before_ejection},
    Metric{"false_ejections", "ejections", ENDPOINT, BETWEEN,
           "Ejections whose triggering attempt or probe had met no failing fault, no overflow and no queue.",
           false_ejections},
    Metric{"overload", "ejections", ENDPOINT, BETWEEN,
           "Ejections whose triggering attempt or probe had met no failing fault, but overflow or a queue.",
           overload_ejections},
    Metric{"false_ejection_ms", "ms", ENDPOINT, BETWEEN,
           "Time from a false ejection to the endpoint's recovery, of all endpoints together.",
           false_ejection_ms},
    Metric{"in_rotation_while_failing_ms", "ms", ENDPOINT, BETWEEN,
           "Time that endpoints were stored as healthy while a failing fault was at work on them, of all "
           "endpoints together.",
           in_rotation_while_failing_ms},
    Metric{"time_to_return_ms", "ms", ENDPOINT, BETWEEN,
           "From the end of a failing fault to its endpoint's first recovery after it, 0 if it was healthy "
           "then; the slowest, nothing if one never returned.",
           time_to_return_ms},
    Metric{"survivor_load_max", "ratio", ENDPOINT, BETWEEN,
           "Attempts per endpoint that is not ejected, over the upstream's mean per endpoint and bin before "
           "its first ejection; the highest of all bins at whose end somebody is ejected.",
           survivor_load_max},
    Metric{"survivor_load_mean", "ratio", ENDPOINT, BETWEEN,
           "The same, the mean of all bins at whose end somebody is ejected.", survivor_load_mean},
};

// ---- a stretch of the run -------------------------------------------------------------------------------

// What had been counted until `t`; none if the run was not told to look then.
const CountMark* mark_at(const Timeline& timeline, Nanos t) {
  static const CountMark START;
  if (t == 0) return &START;
  const auto found = std::lower_bound(timeline.marks.begin(), timeline.marks.end(), t,
                                      [](const CountMark& mark, Nanos at) { return mark.at < at; });
  return found == timeline.marks.end() || found->at != t ? nullptr : &*found;
}

std::uint64_t events_in(const Timeline& timeline, const MetricScope& scope, EventType type) {
  return static_cast<std::uint64_t>(
      std::count_if(timeline.events.begin(), timeline.events.end(), [&](const TimelineEvent& event) {
        return event.type == type && scope.times().holds(event.t) &&
               (event.endpoint < 0 ||
                scope.names(timeline.lanes[static_cast<std::size_t>(event.endpoint)].endpoint));
      }));
}

double breaker_open_ms(const Timeline& timeline, const Window& window) {
  Nanos open = 0;
  for (const BreakerLane& lane : timeline.breakers) {
    for (const Interval& interval : lane.intervals) {
      if (interval.state == LaneState::open) open += overlap({interval.from, interval.to}, window);
    }
  }
  return static_cast<double>(open) / 1e6;
}

// The counts between two marks, everybody's.
Summary between(const CountMark& from, const CountMark& to) {
  Summary out = to.counts;
  for (const Metric& metric : METRICS) {
    if (const auto* count = std::get_if<std::uint64_t Summary::*>(&metric.source))
      out.*(*count) -= from.counts.*(*count);
  }
  out.admitted -= from.counts.admitted;
  fill_ratios(out);
  LatencyHistogram latency = to.latency;
  latency.subtract(from.latency);
  out.latency_p50_ms = latency.quantile_ms(0.50);
  out.latency_p95_ms = latency.quantile_ms(0.95);
  out.latency_p99_ms = latency.quantile_ms(0.99);
  return out;
}

// False if the marks do not know of the endpoint.
bool endpoint_between(const CountMark& from, const CountMark& to, const std::string& endpoint, Summary& out) {
  const auto last = to.endpoints.find(endpoint);
  if (last == to.endpoints.end()) return false;
  out.attempts = last->second.attempts;
  out.failures = last->second.failures;
  if (from.at == 0) return true;
  const auto first = from.endpoints.find(endpoint);
  if (first == from.endpoints.end()) return false;
  out.attempts -= first->second.attempts;
  out.failures -= first->second.failures;
  return true;
}

// The summary of a stretch of the run; none if the run was not told to look at its ends.
std::optional<Summary> summary_of(const Timeline& timeline, const MetricScope& scope) {
  const CountMark* from = mark_at(timeline, scope.window->from);
  const CountMark* to = mark_at(timeline, scope.window->to);
  if (from == nullptr || to == nullptr) return std::nullopt;
  Summary out = between(*from, *to);
  if (!scope.endpoint.empty() && !endpoint_between(*from, *to, scope.endpoint, out)) return std::nullopt;
  out.ejections = events_in(timeline, scope, EventType::endpoint_ejected);
  out.breaker_openings = events_in(timeline, scope, EventType::breaker_opened);
  out.breaker_open_ms = breaker_open_ms(timeline, *scope.window);
  return out;
}

// Attempts, failures and ejections of one endpoint, over the whole run.
Summary summary_of(const Timeline& timeline, const std::string& endpoint) {
  Summary out;
  for (const EndpointLane& lane : timeline.lanes) {
    if (lane.endpoint != endpoint) continue;
    out.attempts += lane.total_attempts;
    out.failures += lane.total_failures;
    out.ejections += lane.ejections;
  }
  return out;
}

struct Source {
  const Summary& summary;
  MetricValue operator()(std::uint64_t Summary::*count) const { return summary.*count; }
  MetricValue operator()(double Summary::*measure) const { return summary.*measure; }
  MetricValue operator()(Metric::Function) const { return NOTHING; }
};

}  // namespace

std::span<const Metric> metrics() { return METRICS; }

const Metric* find_metric(std::string_view name) {
  const auto found = std::find_if(METRICS.begin(), METRICS.end(),
                                  [name](const Metric& metric) { return metric.name == name; });
  return found == METRICS.end() ? nullptr : &*found;
}

std::vector<std::string_view> metric_names() {
  std::vector<std::string_view> out;
  for (const Metric& metric : METRICS) out.push_back(metric.name);
  return out;
}

MetricValue measure(const Metric& metric, const Timeline& timeline, const MetricScope& scope) {
  if ((!scope.endpoint.empty() && !metric.takes_endpoint) || (scope.window && !metric.takes_between))
    return NOTHING;
  MetricScope asked = scope;
  if (asked.window) {
    asked.window->to = std::min(asked.window->to, timeline.duration);
    if (asked.window->empty()) return NOTHING;
  }
  if (const auto* function = std::get_if<Metric::Function>(&metric.source))
    return (*function)(timeline, asked);
  if (asked.window) {
    const std::optional<Summary> summary = summary_of(timeline, asked);
    return summary ? std::visit(Source{*summary}, metric.source) : NOTHING;
  }
  if (asked.endpoint.empty()) return std::visit(Source{timeline.summary}, metric.source);
  return std::visit(Source{summary_of(timeline, asked.endpoint)}, metric.source);
}

std::optional<double> as_number(const MetricValue& value) {
  if (const auto* count = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*count);
  const double number = std::get<double>(value);
  return std::isnan(number) ? std::nullopt : std::optional<double>(number);
}

std::optional<double> value(const Metric& metric, const Timeline& timeline, const MetricScope& scope) {
  return as_number(measure(metric, timeline, scope));
}

void fill_ratios(Summary& summary) {
  const auto ratio = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? NOTHING : static_cast<double>(part) / static_cast<double>(whole);
  };
  summary.success_ratio = ratio(summary.ok, summary.ok + summary.failed);
  summary.attempts_per_request = ratio(summary.attempts, summary.admitted);
}

}  // namespace halfopen::sim
