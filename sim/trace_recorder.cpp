#include "sim/trace_recorder.hpp"

#include <iterator>

#include "sim/outcome_text.hpp"

namespace halfopen::sim {

TracedRequest* TraceRecorder::find(const RequestName& name) {
  const auto ordinal = under_way_.find({name.entry, name.index, name.tryn});
  return ordinal == under_way_.end() ? nullptr : &kept_.at(ordinal->second);
}

void TraceRecorder::thin_out() {
  stride_ *= 2;
  std::erase_if(kept_, [this](const auto& entry) { return entry.first % stride_ != 0; });
  std::erase_if(under_way_, [this](const auto& entry) { return entry.second % stride_ != 0; });
}

void TraceRecorder::arrived(Nanos t, const RequestName& name, std::uint32_t upstream) {
  const std::uint64_t ordinal = arrivals_++;
  if (max_requests_ == 0 || ordinal % stride_ != 0) return;
  kept_.emplace(ordinal, TracedRequest{name, upstream, t, std::nullopt, RequestEnd::ok, {}});
  under_way_.emplace(Key{name.entry, name.index, name.tryn}, ordinal);
  while (kept_.size() > max_requests_) thin_out();
}

void TraceRecorder::attempted(Nanos t, const RequestName& name, std::uint32_t /*attempt*/, std::uint32_t lane,
                              bool fail_open, bool trial) {
  if (TracedRequest* request = find(name)) {
    request->attempts.push_back({t, std::nullopt, lane, fail_open, trial, false, {}});
  }
}

void TraceRecorder::ended(Nanos t, const RequestName& name, RequestEnd end) {
  TracedRequest* request = find(name);
  if (request == nullptr) return;
  request->to = t;
  request->end = end;
  under_way_.erase({name.entry, name.index, name.tryn});
}

void TraceRecorder::remember(Machine& machine, const Observation& seen) {
  machine.failures.push_back(seen);
  if (machine.failures.size() > MAX_FAILURES) machine.failures.pop_front();
}

// A failure that left every count as it was has not been counted (a late one, a probe below its threshold).
void TraceRecorder::judged(Machine& machine, const Observation& seen, bool out, std::uint64_t times_out,
                           bool breaker) {
  const bool went_out = out && (!machine.out || times_out != machine.times_out);
  const std::uint32_t streak = breaker ? seen.breaker->streak : seen.health->streak;
  if (is_failure(seen) && (went_out || streak != machine.streak)) remember(machine, seen);
  machine.out = out;
  machine.times_out = times_out;
  machine.streak = streak;
  if (!went_out) return;
  causes_.push_back({seen.t,
                     breaker,
                     breaker ? seen.upstream : seen.lane,
                     {machine.failures.begin(), machine.failures.end()}});
  if (!breaker) machine.failures.clear();  // as the tracker does; a breaker keeps its counts until it closes
}

void TraceRecorder::observed(const Observation& seen) {
  if (!seen.probe) {
    if (TracedRequest* request = find(seen.request); request != nullptr && !request->attempts.empty()) {
      TracedAttempt& attempt = request->attempts.back();
      attempt.to = seen.t;
      attempt.outcome = seen.outcome;
      attempt.body_broke = seen.body_broke;
    }
  }
  if (seen.health) {
    judged(trackers_[seen.lane], seen, seen.health->state == HealthState::ejected, seen.health->ejections,
           false);
  }
  if (seen.breaker && !seen.probe && !seen.body_broke) {
    judged(breakers_[seen.upstream], seen, seen.breaker->state == BreakerState::open, seen.breaker->openings,
           true);
  }
}

}  // namespace halfopen::sim
