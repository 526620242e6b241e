// The tables of a run. Columns are named as in the timeline; times are ms as double, which holds every
// nanosecond of 104 days exactly enough to print it.
#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "core/check.hpp"
#include "python/bindings/run.hpp"
#include "sim/because.hpp"
#include "sim/event_text.hpp"

namespace halfopen::python {

namespace {

using sim::Nanos;

constexpr double NOTHING = std::numeric_limits<double>::quiet_NaN();
constexpr bool NULLABLE = true;

double ms_of(Nanos t) { return static_cast<double>(t) / 1e6; }

Column numbers(std::string_view name, std::vector<double> values) {
  return column_of(std::string(name), std::move(values), NULLABLE);
}

// What a transition was judged by; which of it is there depends on the transition.
class BecauseColumns {
 public:
  void add(const sim::TimelineEvent& event) {
    for (std::vector<double>& column : columns_) column.push_back(NOTHING);
    sim::tell_because(*this, event);
  }
  void uint(std::string_view name, std::uint64_t value) { number(name, static_cast<double>(value)); }
  void number(std::string_view name, double value) {
    const auto found = std::find(sim::BECAUSE_NAMES.begin(), sim::BECAUSE_NAMES.end(), name);
    HALFOPEN_CHECK(found != sim::BECAUSE_NAMES.end());
    columns_[static_cast<std::size_t>(found - sim::BECAUSE_NAMES.begin())].back() = value;
  }
  void finish(std::vector<Column>& out) {
    for (std::size_t n = 0; n < columns_.size(); ++n) {
      out.push_back(numbers(sim::BECAUSE_NAMES[n], std::move(columns_[n])));
    }
  }

 private:
  std::array<std::vector<double>, sim::BECAUSE_NAMES.size()> columns_;
};

class IntervalColumns {
 public:
  struct Subject {
    std::string_view kind, upstream, endpoint;
    const sim::FaultLane* fault = nullptr;
  };

  void add(const Subject& subject, const std::vector<sim::Interval>& intervals) {
    for (const sim::Interval& interval : intervals) {
      kind_.add(subject.kind);
      upstream_.add(subject.upstream);
      endpoint_.add(subject.endpoint);
      fault_.push_back(subject.fault != nullptr ? subject.fault->fault : NOTHING);
      fault_kind_.add(subject.fault != nullptr ? std::string_view(subject.fault->kind) : "");
      scope_.add(subject.fault != nullptr ? sim::scope_name(subject.fault->scope) : "");
      from_.push_back(ms_of(interval.from));
      to_.push_back(ms_of(interval.to));
      state_.add(sim::lane_state_name(interval.state));
      eligible_.push_back(interval.eligible ? ms_of(*interval.eligible) : NOTHING);
    }
  }

  Columns finish() {
    Columns out;
    out.rows = from_.size();
    out.columns.push_back(kind_.finish("kind"));
    out.columns.push_back(upstream_.finish("upstream", NULLABLE));
    out.columns.push_back(endpoint_.finish("endpoint", NULLABLE));
    out.columns.push_back(column_of("from_ms", std::move(from_)));
    out.columns.push_back(column_of("to_ms", std::move(to_)));
    out.columns.push_back(state_.finish("state"));
    out.columns.push_back(numbers("eligible_ms", std::move(eligible_)));
    out.columns.push_back(numbers("fault", std::move(fault_)));
    out.columns.push_back(fault_kind_.finish("fault_kind", NULLABLE));
    out.columns.push_back(scope_.finish("scope", NULLABLE));
    return out;
  }

 private:
  Categories kind_, upstream_, endpoint_, state_, fault_kind_, scope_;
  std::vector<double> from_, to_, eligible_, fault_;
};

std::vector<double> bin_starts(const sim::Timeline& timeline, std::size_t bins) {
  std::vector<double> out;
  out.reserve(bins);
  for (std::size_t n = 0; n < bins; ++n) out.push_back(ms_of(timeline.sample * n));
  return out;
}

}  // namespace

Columns Run::events() const {
  Categories type, upstream, endpoint, rule, via;
  std::vector<double> t_ms;
  BecauseColumns because;
  Words reasons;
  for (const sim::TimelineEvent& event : timeline_.events) {
    t_ms.push_back(ms_of(event.t));
    type.add(to_string(event.type));
    upstream.add(timeline_.upstream_names[event.upstream]);
    endpoint.add(event.endpoint < 0 ? ""
                                    : timeline_.lanes[static_cast<std::size_t>(event.endpoint)].endpoint);
    rule.add(to_string(event.rule));
    via.add(to_string(event.via));
    because.add(event);
    reasons.push_back(sim::reason_text(event));
  }
  Columns out;
  out.rows = t_ms.size();
  out.columns.push_back(column_of("t_ms", std::move(t_ms)));
  out.columns.push_back(type.finish("type"));
  out.columns.push_back(upstream.finish("upstream"));
  out.columns.push_back(endpoint.finish("endpoint", NULLABLE));
  out.columns.push_back(rule.finish("rule", NULLABLE));
  out.columns.push_back(via.finish("via", NULLABLE));
  because.finish(out.columns);
  out.columns.push_back(column_of_texts("reason", std::move(reasons)));
  return out;
}

Columns Run::intervals() const {
  IntervalColumns out;
  for (const sim::EndpointLane& lane : timeline_.lanes) {
    out.add({"endpoint", timeline_.upstream_names[lane.upstream], lane.endpoint}, lane.intervals);
  }
  for (const sim::BreakerLane& lane : timeline_.breakers) {
    out.add({"breaker", timeline_.upstream_names[lane.upstream], ""}, lane.intervals);
  }
  for (const sim::FaultLane& lane : timeline_.faults) {
    out.add({"fault", "", lane.endpoint, &lane}, lane.intervals);
  }
  return out.finish();
}

Columns Run::series() const {
  const sim::Series& series = timeline_.series;
  const std::shared_ptr<const void> owner = shared_from_this();
  Columns out;
  out.rows = series.requests.size();
  out.columns.push_back(column_of("t_ms", bin_starts(timeline_, out.rows)));
  const auto count = [&](const char* name, const std::vector<std::uint64_t>& values) {
    out.columns.push_back(column_over(name, values, owner));
  };
  const auto latency = [&](const char* name, const std::vector<double>& values) {
    out.columns.push_back(column_over(name, values, owner));
    out.columns.back().nullable = true;
  };
  count("requests", series.requests);
  count("ok", series.ok);
  count("failed", series.failed);
  count("fast_failed", series.fast_failed);
  count("retried", series.retried);
  count("fail_open_picks", series.fail_open_picks);
  latency("latency_p50_ms", series.latency_p50_ms);
  latency("latency_p95_ms", series.latency_p95_ms);
  latency("latency_p99_ms", series.latency_p99_ms);
  count("in_flight", series.in_flight);
  return out;
}

Columns Run::endpoints() const {
  Categories upstream, endpoint, state;
  std::vector<double> t_ms;
  std::vector<std::uint64_t> attempts, failures;
  for (const sim::EndpointLane& lane : timeline_.lanes) {
    for (std::size_t bin = 0; bin < lane.attempts.size(); ++bin) {
      t_ms.push_back(ms_of(timeline_.sample * bin));
      upstream.add(timeline_.upstream_names[lane.upstream]);
      endpoint.add(lane.endpoint);
      attempts.push_back(lane.attempts[bin]);
      failures.push_back(lane.failures[bin]);
      state.add(lane.state[bin] < 0 ? ""
                                    : sim::lane_state_name(static_cast<sim::LaneState>(lane.state[bin])));
    }
  }
  Columns out;
  out.rows = t_ms.size();
  out.columns.push_back(column_of("t_ms", std::move(t_ms)));
  out.columns.push_back(upstream.finish("upstream"));
  out.columns.push_back(endpoint.finish("endpoint"));
  out.columns.push_back(column_of("attempts", std::move(attempts)));
  out.columns.push_back(column_of("failures", std::move(failures)));
  out.columns.push_back(state.finish("state", NULLABLE));
  return out;
}

Columns Run::expectations() const {
  std::vector<std::uint8_t> held;
  Words expect, expected, got;
  for (const sim::Judgement& judgement : judgements_) {
    held.push_back(judgement.held);
    expect.push_back(judgement.expectation->text);
    expected.push_back(judgement.expected);
    got.push_back(judgement.got);
  }
  Columns out;
  out.rows = held.size();
  out.columns.push_back(column_of("held", std::move(held)));
  out.columns.push_back(column_of_texts("expect", std::move(expect)));
  out.columns.push_back(column_of_texts("expected", std::move(expected)));
  out.columns.push_back(column_of_texts("got", std::move(got)));
  return out;
}

}  // namespace halfopen::python
