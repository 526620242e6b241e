// Expectations of the form `metric`: a number of the run, or of a stretch of it, beside a bound.
#include <fmt/core.h>

#include <algorithm>

#include "sim/event_text.hpp"
#include "sim/expectations_detail.hpp"
#include "sim/metrics.hpp"
#include "sim/number_format.hpp"
#include "sim/truth_metrics.hpp"

namespace halfopen::sim::expectations_detail {

namespace {

const char* sign_of(Compare relation) {
  switch (relation) {
    case Compare::less: return "<";
    case Compare::at_most: return "<=";
    case Compare::equal: return "==";
    case Compare::not_equal: return "!=";
    case Compare::at_least: return ">=";
    case Compare::greater: return ">";
  }
  return "";
}

bool holds(double value, Compare relation, double bound) {
  switch (relation) {
    case Compare::less: return value < bound;
    case Compare::at_most: return value <= bound;
    case Compare::equal: return value == bound;
    case Compare::not_equal: return value != bound;
    case Compare::at_least: return value >= bound;
    case Compare::greater: return value > bound;
  }
  return false;
}

std::string expected_text(const ExpectMetric& expect) {
  std::string out = expect.metric;
  if (!expect.endpoint.empty()) out += " of " + expect.endpoint;
  out += fmt::format(" {} ", sign_of(expect.relation));
  append_double(out, expect.value);
  return out + when_text({{}, expect.between_ms});
}

std::string value_text(const Metric& metric, const MetricValue& value) {
  std::string out;
  if (const auto* count = std::get_if<std::uint64_t>(&value)) {
    append_uint(out, *count);
  } else if (metric.unit == "ms") {
    append_double_ms(out, std::get<double>(value));
    out += " ms";
  } else {
    append_double(out, std::get<double>(value));
  }
  return out;
}

// ---- what helps to understand a number ------------------------------------------------------------------

// Looks into the run for whom or what a metric's value is due to.
class Context {
 public:
  Context(const Metric& metric, const Timeline& timeline, const MetricScope& scope)
      : metric_(metric), timeline_(timeline), scope_(scope) {}

  // Why there is no number.
  std::string nothing() const {
    const std::string_view name = metric_.name;
    if (name.starts_with("latency_")) return "no request ended ok" + where();
    if (name == "success_ratio") return "no request ended" + where();
    if (name == "attempts_per_request") return "no request was admitted" + where();
    if (name == "time_to_detect_ms") return undetected();
    if (name == "time_to_return_ms") return unreturned();
    if (name.starts_with("survivor_load"))
      return "there is no bin at whose end somebody is ejected and somebody is left, with traffic in the "
             "bins "
             "before the first ejection" +
             where();
    return "it was not measured" + where();
  }

  // "; the slowest, …", or nothing.
  std::string cause() const {
    const std::string_view name = metric_.name;
    if (name == "time_to_detect_ms") return slowest_detected();
    if (name == "missed") return those_missed();
    if (name == "lost_before_ejection") return most_lost();
    if (name == "time_to_return_ms") return slowest_returned();
    if (name == "breaker_openings") return first_event(EventType::breaker_opened, {});
    if (name == "ejections") return first_event(EventType::endpoint_ejected, {});
    if (name == "false_ejections" || name == "false_ejection_ms")
      return first_event(EventType::endpoint_ejected, EjectionTruth::nothing);
    if (name == "overload") return first_event(EventType::endpoint_ejected, EjectionTruth::overload);
    return "";
  }

 private:
  using Pairs = std::vector<const Detection*>;

  std::string where() const { return scope_.window ? " in that time" : ""; }

  // "10.0.0.1:8080 (error from 30000 ms)"
  std::string pair_text(const Detection& pair) const {
    const EndpointLane& lane = timeline_.lanes[pair.lane];
    const std::string upstream =
        timeline_.upstream_names.size() > 1 ? timeline_.upstream_names[lane.upstream] + " " : "";
    return fmt::format("{}{} ({} from {})", upstream, lane.endpoint, timeline_.faults[pair.fault].kind,
                       ms_text(pair.from));
  }

  std::string undetected() const {
    const Pairs pairs = pairs_begun(timeline_, scope_);
    if (pairs.empty()) return "no failing fault begins" + where();
    return fmt::format("no failing fault was detected, the first is at {}", pair_text(*pairs[0]));
  }

  std::string unreturned() const {
    const Pairs pairs = pairs_ended(timeline_, scope_);
    const std::vector<Nanos> times = return_times(timeline_, pairs);
    const auto never = std::find(times.begin(), times.end(), NEVER);
    if (never == times.end()) return "no failing fault ends" + where();
    return pair_text(*pairs[static_cast<std::size_t>(never - times.begin())]) + " never returned";
  }

  std::string slowest_detected() const {
    const Detection* slowest = nullptr;
    for (const Detection* pair : pairs_begun(timeline_, scope_)) {
      if (!pair->ejected) continue;
      if (slowest == nullptr || *pair->ejected - pair->from > *slowest->ejected - slowest->from)
        slowest = pair;
    }
    if (slowest == nullptr) return "";
    std::string out = "; the slowest, " + pair_text(*slowest);
    for (const TimelineEvent& event : timeline_.events) {
      const bool it = event.t == *slowest->ejected && event.type == EventType::endpoint_ejected &&
                      static_cast<std::uint32_t>(event.endpoint) == slowest->lane;
      if (it) return out + ", " + event_text(timeline_, event);
    }
    return out;
  }

  std::string those_missed() const {
    constexpr std::size_t SHOWN = 3;
    std::string out;
    std::size_t count = 0;
    for (const Detection* pair : pairs_begun(timeline_, scope_)) {
      if (!pair->ejected && count++ < SHOWN) out += (out.empty() ? "; " : ", ") + pair_text(*pair);
    }
    return out + (count > SHOWN ? ", ..." : "");
  }

  std::string most_lost() const {
    const Pairs pairs = pairs_begun(timeline_, scope_);
    const auto most = std::max_element(
        pairs.begin(), pairs.end(), [](const Detection* a, const Detection* b) { return a->lost < b->lost; });
    if (most == pairs.end() || (*most)->lost == 0) return "";
    return fmt::format("; most at {}: {}", pair_text(**most), (*most)->lost);
  }

  std::string slowest_returned() const {
    const Pairs pairs = pairs_ended(timeline_, scope_);
    const std::vector<Nanos> times = return_times(timeline_, pairs);
    const auto slowest = std::max_element(times.begin(), times.end());
    if (slowest == times.end()) return "";
    const Detection& pair = *pairs[static_cast<std::size_t>(slowest - times.begin())];
    return fmt::format("; the slowest, {}, which ended at {}", pair_text(pair), ms_text(pair.to));
  }

  std::string first_event(EventType type, std::optional<EjectionTruth> truth) const {
    for (const TimelineEvent& event : timeline_.events) {
      if (event.type != type || (truth && event.truth != *truth) || !scope_.times().holds(event.t)) continue;
      const bool named = event.endpoint < 0 ||
                         scope_.names(timeline_.lanes[static_cast<std::size_t>(event.endpoint)].endpoint);
      if (named) return "; the first, " + event_text(timeline_, event);
    }
    return "";
  }

  const Metric& metric_;
  const Timeline& timeline_;
  const MetricScope& scope_;
};

// A sentence why the run can't be asked this, or nothing.
std::string refused(const ExpectMetric& expect, const Metric* metric, const MetricScope& scope,
                    const Timeline& timeline) {
  if (metric == nullptr) return fmt::format("there is no metric \"{}\"", expect.metric);
  if (!scope.endpoint.empty() && !metric->takes_endpoint)
    return fmt::format("metric {} is of the whole run, it takes no endpoint", expect.metric);
  const auto known = [&](const EndpointLane& lane) { return lane.endpoint == scope.endpoint; };
  if (!scope.endpoint.empty() && std::none_of(timeline.lanes.begin(), timeline.lanes.end(), known))
    return "this run has no " + scope.endpoint;
  if (!scope.window) return "";
  if (!metric->takes_between)
    return fmt::format("metric {} is known when the run has ended, it takes no between_ms", expect.metric);
  if (scope.window->from >= timeline.duration) return "the run ended at " + ms_text(timeline.duration);
  return scope.window->empty() ? "there is no instant to look at" : "";
}

}  // namespace

Judgement judge_metric(const ExpectMetric& expect, const Timeline& timeline) {
  Judgement out;
  out.expected = expected_text(expect);
  MetricScope scope;
  if (expect.between_ms) scope.window = window_of(*expect.between_ms);
  scope.endpoint = expect.endpoint;
  const Metric* metric = find_metric(expect.metric);
  const std::string why = refused(expect, metric, scope, timeline);
  if (!why.empty()) return not_evaluated(out.expected, why);
  const MetricValue measured = measure(*metric, timeline, scope);
  const std::optional<double> number = as_number(measured);
  const Context context(*metric, timeline, scope);
  if (!number) {
    out.got = "no value: " + context.nothing();
    return out;
  }
  out.held = holds(*number, expect.relation, expect.value);
  out.got = value_text(*metric, measured);
  if (!out.held) out.got += context.cause();
  return out;
}

}  // namespace halfopen::sim::expectations_detail
