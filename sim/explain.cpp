#include "sim/explain.hpp"

#include <algorithm>

#include "sim/outcome_text.hpp"

namespace halfopen::sim {

namespace {

bool concerns(const TimelineEvent& event, const Subject& subject) {
  if (event.upstream != subject.upstream || (event.endpoint < 0) != subject.breaker) return false;
  return subject.breaker || static_cast<std::uint32_t>(event.endpoint) == subject.lane;
}

bool goes_out(EventType type) {
  return type == EventType::endpoint_ejected || type == EventType::breaker_opened;
}

bool comes_back(EventType type) {
  return type == EventType::endpoint_recovered || type == EventType::breaker_closed;
}

bool is_in(LaneState state) { return state == LaneState::healthy || state == LaneState::closed; }

// A reload that brings a fresh machine, or takes it away, tells no event: only the lane shows it.
Nanos silent_end(const std::vector<Interval>& states, Nanos from, Nanos run_end) {
  Nanos reached = from;
  for (const Interval& state : states) {
    if (state.to <= from) continue;
    if (is_in(state.state) || state.from > reached) return std::max(from, std::min(reached, state.from));
    reached = state.to;
  }
  return std::min(reached, run_end);
}

void close_silently(Outage& outage, const std::vector<Interval>& states, Nanos run_end) {
  outage.to = silent_end(states, outage.from, run_end);
  outage.end = outage.to < run_end ? Outage::End::reload : Outage::End::run;
}

}  // namespace

const std::vector<Interval>& states_of(const Timeline& timeline, const Subject& subject) {
  static const std::vector<Interval> NONE;
  if (!subject.breaker) return timeline.lanes[subject.lane].intervals;
  for (const BreakerLane& lane : timeline.breakers) {
    if (lane.upstream == subject.upstream) return lane.intervals;
  }
  return NONE;
}

std::vector<Outage> outages_of(const Timeline& timeline, const Subject& subject) {
  const std::vector<Interval>& states = states_of(timeline, subject);
  std::vector<Outage> out;
  bool open = false;
  for (std::size_t i = 0; i < timeline.events.size(); ++i) {
    const TimelineEvent& event = timeline.events[i];
    if (!concerns(event, subject)) continue;
    // Only a failed trial puts out what is out; any other rule found it in, so a reload had ended the last.
    const bool anew = goes_out(event.type) && event.rule != Rule::half_open_probe_failed;
    if (anew) {
      if (open) close_silently(out.back(), states, timeline.duration);
      out.push_back({event.t, timeline.duration, Outage::End::run, {}});
      open = true;
    }
    if (!open) continue;
    out.back().events.push_back(i);
    if (!comes_back(event.type)) continue;
    out.back().to = event.t;
    out.back().end = Outage::End::back;
    open = false;
  }
  if (open) close_silently(out.back(), states, timeline.duration);
  return out;
}

const UpstreamConfig* config_at(const Scenario& scenario, const std::string& upstream, Nanos t) {
  const std::vector<UpstreamConfig>* generation = &scenario.upstreams;
  for (const Reload& reload : scenario.reloads) {
    if (reload.at <= t) generation = &reload.upstreams;
  }
  for (const UpstreamConfig& config : *generation) {
    if (config.name == upstream) return &config;
  }
  return nullptr;
}

// ---- listening --------------------------------------------------------------------------------------------

Listener::Listener(const Scenario& scenario, const Timeline& timeline, const Aim& aim)
    : scenario_(scenario), timeline_(timeline), aim_(aim) {
  for (const Traffic& entry : scenario.traffic) {
    entries_.push_back(entry.upstream == timeline.upstream_names[aim.subject.upstream]);
  }
}

bool Listener::concerns(std::uint32_t upstream, std::uint32_t lane) const {
  return aim_.subject.breaker ? upstream == aim_.subject.upstream : lane == aim_.subject.lane;
}

std::optional<Listener::State> Listener::state_in(const Observation& seen) const {
  State out;
  if (aim_.subject.breaker) {
    if (!seen.breaker || seen.probe || seen.body_broke) return std::nullopt;  // of these it is told nothing
    out.out = seen.breaker->state == BreakerState::open;
    out.in = seen.breaker->state == BreakerState::closed;
    out.times_out = seen.breaker->openings;
  } else {
    if (!seen.health) return std::nullopt;
    out.out = seen.health->state == HealthState::ejected;
    out.in = seen.health->state == HealthState::healthy;
    out.times_out = seen.health->ejections;
  }
  return out;
}

Heard Listener::heard(const Observation& seen) const {
  Heard out;
  out.t = seen.t;
  out.request = seen.request;
  out.attempt = seen.attempt;
  out.lane = seen.lane;
  out.outcome = seen.outcome;
  out.probe = seen.probe;
  out.failure = is_failure(seen);
  out.body_broke = seen.body_broke;
  out.streak = aim_.subject.breaker ? seen.breaker->streak : seen.health->streak;
  out.volume = aim_.subject.breaker ? seen.breaker->window_total : seen.health->window_total;
  out.failures = aim_.subject.breaker ? seen.breaker->window_failures : seen.health->window_failures;
  if (seen.probe) return out;
  const auto sent = under_way_.find({seen.request.entry, seen.request.index, seen.request.tryn});
  if (sent == under_way_.end()) return out;
  out.sent = sent->second.at;
  out.fail_open = sent->second.fail_open;
  out.trial = sent->second.trial;
  out.late = sent->second.changes != state_.changes;
  if (!out.late || aim_.subject.breaker) return out;
  const UpstreamConfig* config =
      config_at(scenario_, timeline_.upstream_names[aim_.subject.upstream], out.sent);
  out.ignored = config != nullptr && config->late_reports == LateReports::ignore;
  return out;
}

void Listener::attempted(Nanos t, const RequestName& name, std::uint32_t /*attempt*/, std::uint32_t lane,
                         bool fail_open, bool trial) {
  if (!concerns(timeline_.lanes[lane].upstream, lane)) return;
  under_way_[{name.entry, name.index, name.tryn}] = {t, state_.changes, fail_open, trial};
  if (phase_ != Phase::during) return;
  meanwhile_.fail_open += fail_open;
  meanwhile_.trials += trial;
}

void Listener::ended(Nanos t, const RequestName& name, RequestEnd end) {
  under_way_.erase({name.entry, name.index, name.tryn});
  const bool refused = end == RequestEnd::fast_failed && entries_[name.entry];
  if (refused && t >= aim_.from && t < aim_.to && phase_ == Phase::during) ++meanwhile_.refused;
}

void Listener::observed(const Observation& seen) {
  if (phase_ == Phase::after || !concerns(seen.upstream, seen.lane)) return;
  std::optional<State> state = state_in(seen);
  if (!state) return;
  const Heard now = heard(seen);
  const bool went_out = state->out && (!state_.out || state->times_out != state_.times_out);
  const bool came_back = state->in && !state_.in;
  state->changes = state_.changes + (went_out || came_back ? 1 : 0);
  state_ = *state;
  if (phase_ == Phase::before)
    before_it(now, went_out, came_back);
  else
    during_it(now, *state);
}

void Listener::before_it(const Heard& now, bool went_out, bool came_back) {
  if (!aim_.out_at && now.t > aim_.to) {
    phase_ = Phase::after;
    return;
  }
  if (came_back) {  // its counts begin anew
    led_.clear();
    led_total_ = 0;
  }
  if (!came_back || now.volume > 0 || now.streak > 0) {
    led_.push_back(now);
    ++led_total_;
  }
  if (led_.size() > aim_.keep) led_.pop_front();
  if (!aim_.out_at) return compare(now);
  if (!went_out || now.t != *aim_.out_at) return;
  if (aim_.skip > 0) {
    --aim_.skip;
    return;
  }
  phase_ = Phase::during;
}

void Listener::during_it(const Heard& now, const State& state) {
  if (now.t > aim_.to) {
    phase_ = Phase::after;
    return;
  }
  if (now.probe) {
    ++(now.failure ? meanwhile_.probes_failed : meanwhile_.probes_ok);
  } else if (now.late) {
    ++(now.failure ? meanwhile_.late_failed : meanwhile_.late_ok);
    meanwhile_.late_ignored += now.ignored;
  }
  if (!state.in) return;
  back_ = now;
  phase_ = Phase::after;
}

void Listener::compare(const Heard& now) {
  if (now.t < aim_.from) return;
  if (now.streak > 0 && (!longest_ || now.streak > longest_->streak)) longest_ = now;
  if (now.failures == 0 || now.volume < aim_.min_volume) return;
  const auto share = [](const Heard& h) {
    return static_cast<double>(h.failures) / static_cast<double>(h.volume);
  };
  if (!nearest_ || share(now) > share(*nearest_)) nearest_ = now;
}

}  // namespace halfopen::sim
