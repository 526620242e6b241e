#include "sim/recorder.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/metrics.hpp"

namespace halfopen::sim {
namespace {

constexpr std::array FAULT_NAMES = {"error",    "down", "latency",  "brownout", "flap",
                                    "outcomes", "hang", "truncate", "bursts",   "cold_start"};

LaneState lane_state_of(EventType type) {
  switch (type) {
    case EventType::endpoint_ejected: return LaneState::ejected;
    case EventType::endpoint_half_open: return LaneState::half_open;
    case EventType::endpoint_recovered: return LaneState::healthy;
    case EventType::breaker_opened: return LaneState::open;
    case EventType::breaker_half_open: return LaneState::breaker_half_open;
    case EventType::breaker_closed: return LaneState::closed;
  }
  return LaneState::healthy;
}

bool is_breaker_event(EventType type) { return type >= EventType::breaker_opened; }

// Whether the run alone knows when it is at work: phases, warm-ups.
bool moves_by_itself(const FaultKind& kind) {
  return std::holds_alternative<FlapFault>(kind) || std::holds_alternative<BurstsFault>(kind) ||
         std::holds_alternative<ColdStartFault>(kind);
}

}  // namespace

Recorder::Recorder(const Scenario& scenario, const VirtualClock& clock)
    : scenario_(scenario), clock_(clock), bin_end_(scenario.sample) {
  timeline_.name = scenario.name;
  timeline_.question = scenario.question;
  timeline_.seed = scenario.seed;
  timeline_.digest = scenario.digest;
  timeline_.duration = scenario.duration;
  timeline_.sample = scenario.sample;
  name_faults();
  plan_marks();
  set_stop();
}

std::uint32_t Recorder::upstream(const std::string& name) {
  const auto [place, is_new] = upstreams_.try_emplace(name, static_cast<std::uint32_t>(upstreams_.size()));
  if (is_new) {
    timeline_.upstream_names.push_back(name);
    open_breakers_.emplace_back();
    timeline_.breakers.push_back({place->second, {}});
  }
  return place->second;
}

std::uint32_t Recorder::lane(std::uint32_t upstream, const std::string& endpoint) {
  const auto [place, is_new] =
      lanes_.try_emplace({upstream, endpoint}, static_cast<std::uint32_t>(lanes_.size()));
  if (is_new) {
    EndpointLane lane;
    lane.upstream = upstream;
    lane.endpoint = endpoint;
    lane.attempts.assign(bin_index_, 0);  // it was not there in the bins before
    lane.failures.assign(bin_index_, 0);
    lane.state.assign(samples_, -1);
    timeline_.lanes.push_back(std::move(lane));
    lanes_now_.emplace_back();
    open_lanes_.emplace_back();
    watches_.emplace_back();
    watch(place->second);
  }
  return place->second;
}

void Recorder::move_lane(std::vector<Interval>& intervals, OpenInterval& open, int state,
                         std::optional<Nanos> eligible) {
  if (open.state == state && state != static_cast<int>(LaneState::ejected)) return;
  // A state that lasted no time is told by the events, not by the lane.
  if (open.state >= 0 && open.since < t_) {
    intervals.push_back({open.since, t_, static_cast<LaneState>(open.state), open.eligible});
  }
  open = {state, t_, eligible};
}

void Recorder::lane_state(std::uint32_t lane, int state) {
  if (open_lanes_[lane].state == state) return;
  move_lane(timeline_.lanes[lane].intervals, open_lanes_[lane], state, std::nullopt);
}

void Recorder::breaker_state(std::uint32_t upstream, int state) {
  if (open_breakers_[upstream].state == state) return;
  move_lane(timeline_.breakers[upstream].intervals, open_breakers_[upstream], state, std::nullopt);
}

void Recorder::offer(const Event& event) noexcept {
  TimelineEvent told;
  told.t = t_;
  told.type = event.type;
  told.rule = event.rule;
  told.via = event.via;
  told.because = event.because;
  told.upstream = upstreams_.at(event.subject->upstream);
  const int state = static_cast<int>(lane_state_of(event.type));
  if (is_breaker_event(event.type)) {
    summary_.breaker_openings += event.type == EventType::breaker_opened;
    move_lane(timeline_.breakers[told.upstream].intervals, open_breakers_[told.upstream], state,
              std::nullopt);
  } else {
    const std::uint32_t lane = lanes_.at({told.upstream, event.subject->endpoint});
    told.endpoint = static_cast<std::int32_t>(lane);
    std::optional<Nanos> eligible;
    if (event.type == EventType::endpoint_ejected) {
      ++timeline_.lanes[lane].ejections;
      told.truth = judging_.fault      ? EjectionTruth::fault
                   : judging_.overload ? EjectionTruth::overload
                                       : EjectionTruth::nothing;
      if (lanes_now_[lane].watched) close_watches(lane);
      const Nanos when = clock_.first_time_at(event.at + Duration{event.because.for_ms}, t_);
      if (when != NEVER) eligible = when;
    }
    move_lane(timeline_.lanes[lane].intervals, open_lanes_[lane], state, eligible);
  }
  timeline_.events.push_back(told);
}

// Each fault has its lane, in file order; the periods are known from the start but for those that move.
void Recorder::name_faults() {
  for (std::uint32_t server = 0; server < scenario_.servers.size(); ++server) {
    const ServerModel& model = scenario_.servers[server];
    servers_.emplace(model.name, server);
    for (std::uint32_t n = 0; n < model.faults.size(); ++n) {
      const Fault& fault = model.faults[n];
      fault_lanes_[{server, n}] = static_cast<std::uint32_t>(timeline_.faults.size());
      timeline_.faults.push_back({model.name,
                                  fault.number,
                                  FAULT_NAMES[fault.kind.index()],
                                  fault.scope,
                                  {},
                                  is_failing_fault(fault)});
      if (!moves_by_itself(fault.kind)) fault_active(server, n, fault.from, fault.to);
    }
  }
}

void Recorder::fault_active(std::uint32_t server, std::uint32_t fault, Nanos from, Nanos to) {
  to = std::min(to, scenario_.duration);
  if (from >= to) return;
  std::vector<Interval>& intervals = timeline_.faults[fault_lanes_.at({server, fault})].intervals;
  if (!intervals.empty() && intervals.back().to == from)
    intervals.back().to = to;  // bursts whose good phase lasted no time, a warm-up told anew
  else
    intervals.push_back({from, to, LaneState::active, std::nullopt});
}

void Recorder::fault_active_anew(std::uint32_t server, std::uint32_t fault, Nanos from, Nanos to) {
  std::vector<Interval>& intervals = timeline_.faults[fault_lanes_.at({server, fault})].intervals;
  if (!intervals.empty() && intervals.back().to > t_) {
    if (intervals.back().from < t_)
      intervals.back().to = t_;
    else
      intervals.pop_back();
  }
  fault_active(server, fault, from, to);
}

void Recorder::roll() {
  while (t_ >= stop_) {
    if (stop_ < bin_end_) {
      take_mark(timeline_.marks[marks_taken_++]);
    } else {
      close_bin();
      bin_end_ += scenario_.sample;
    }
    set_stop();
  }
}

void Recorder::close_bin() {
  Series& series = timeline_.series;
  series.requests.push_back(bin_.requests);
  series.ok.push_back(bin_.ok);
  series.failed.push_back(bin_.failed);
  series.fast_failed.push_back(bin_.fast_failed);
  series.retried.push_back(bin_.retried);
  series.fail_open_picks.push_back(bin_.fail_open_picks);
  series.latency_p50_ms.push_back(bin_latency_.quantile_ms(0.50));
  series.latency_p95_ms.push_back(bin_latency_.quantile_ms(0.95));
  series.latency_p99_ms.push_back(bin_latency_.quantile_ms(0.99));
  latency_.merge(bin_latency_);
  bin_latency_.clear();
  for (std::size_t i = 0; i < lanes_now_.size(); ++i) {
    EndpointLane& lane = timeline_.lanes[i];
    lane.attempts.push_back(lanes_now_[i].attempts);
    lane.failures.push_back(lanes_now_[i].failures);
    lane.total_attempts += lanes_now_[i].attempts;
    lane.total_failures += lanes_now_[i].failures;
    lanes_now_[i].attempts = lanes_now_[i].failures = 0;
  }
  summary_.requests += bin_.requests;
  summary_.ok += bin_.ok;
  summary_.failed += bin_.failed;
  summary_.fast_failed += bin_.fast_failed;
  summary_.retries += bin_.retried;
  summary_.fail_open_picks += bin_.fail_open_picks;
  bin_ = {};
  ++bin_index_;
}

void Recorder::sample() {
  timeline_.series.in_flight.push_back(in_flight_);
  for (std::size_t i = 0; i < open_lanes_.size(); ++i) {
    timeline_.lanes[i].state.push_back(static_cast<std::int8_t>(open_lanes_[i].state));
  }
  ++samples_;
}

void Recorder::close_lanes() {
  for (std::size_t i = 0; i < open_lanes_.size(); ++i)
    move_lane(timeline_.lanes[i].intervals, open_lanes_[i], -1, {});
  for (std::size_t i = 0; i < open_breakers_.size(); ++i) {
    move_lane(timeline_.breakers[i].intervals, open_breakers_[i], -1, {});
  }
  std::erase_if(timeline_.breakers, [](const BreakerLane& lane) { return lane.intervals.empty(); });
}

void Recorder::sum_up() {
  if (late_reports_) summary_.late_reports_ignored = late_reports_();
  summary_.unfinished = in_flight_;
  for (const EndpointLane& lane : timeline_.lanes) {
    summary_.attempts += lane.total_attempts;
    summary_.failures += lane.total_failures;
    summary_.ejections += lane.ejections;
  }
  Nanos open = 0;
  for (const BreakerLane& lane : timeline_.breakers) {
    for (const Interval& interval : lane.intervals) {
      if (interval.state == LaneState::open) open += interval.to - interval.from;
    }
  }
  summary_.breaker_open_ms = static_cast<double>(open) / 1e6;
  fill_ratios(summary_);
  summary_.latency_p50_ms = latency_.quantile_ms(0.50);
  summary_.latency_p95_ms = latency_.quantile_ms(0.95);
  summary_.latency_p99_ms = latency_.quantile_ms(0.99);
}

Timeline Recorder::finish() {
  t_ = scenario_.duration;
  while (bin_end_ - scenario_.sample < scenario_.duration) {
    close_bin();
    bin_end_ += scenario_.sample;
  }
  while (samples_ < bin_index_) sample();
  close_lanes();
  sum_up();
  while (marks_taken_ < timeline_.marks.size()) take_mark(timeline_.marks[marks_taken_++]);
  timeline_.summary = summary_;
  return std::move(timeline_);
}

}  // namespace halfopen::sim
