#include "sim/truth_metrics.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

namespace halfopen::sim {
namespace {

constexpr double NOTHING = std::numeric_limits<double>::quiet_NaN();

double in_ms(Nanos length) { return static_cast<double>(length) / static_cast<double>(NANOS_PER_MS); }

std::vector<const Detection*> pairs(const Timeline& timeline, const MetricScope& scope, bool by_end) {
  std::vector<const Detection*> out;
  const Window window = scope.times();
  for (const Detection& pair : timeline.detections) {
    if (by_end && !pair.ends) continue;
    if (!scope.names(timeline.lanes[pair.lane].endpoint)) continue;
    if (window.holds(by_end ? pair.to : pair.from)) out.push_back(&pair);
  }
  return out;
}

std::uint64_t ejections_of(const Timeline& timeline, const MetricScope& scope, EjectionTruth truth) {
  const Window window = scope.times();
  return static_cast<std::uint64_t>(
      std::count_if(timeline.events.begin(), timeline.events.end(), [&](const TimelineEvent& event) {
        return event.type == EventType::endpoint_ejected && event.truth == truth && window.holds(event.t) &&
               scope.names(timeline.lanes[static_cast<std::size_t>(event.endpoint)].endpoint);
      }));
}

// Stretches of time in order of their begin, those that touch or overlap made one.
std::vector<Window> merged(std::vector<Window> windows) {
  std::sort(windows.begin(), windows.end(), [](const Window& a, const Window& b) {
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  });
  std::vector<Window> out;
  for (const Window& window : windows) {
    if (!out.empty() && window.from <= out.back().to)
      out.back().to = std::max(out.back().to, window.to);
    else
      out.push_back(window);
  }
  return out;
}

// When a lane was out because of an ejection that nothing justified: from there until its next recovery. One
// pass over its events beside one over its intervals, for there may be a million of both.
class FalselyOut {
 public:
  explicit FalselyOut(const EndpointLane& lane) {
    // A reload makes an endpoint healthy, or removes it, without an event.
    for (std::size_t i = 0; i < lane.intervals.size(); ++i) {
      const Interval& interval = lane.intervals[i];
      if (interval.state == LaneState::healthy) put_back_.push_back(interval.from);
      const bool last = i + 1 == lane.intervals.size() || lane.intervals[i + 1].from > interval.to;
      if (last) put_back_.push_back(interval.to);
    }
  }

  void ejected(Nanos t) {
    close_until(t);
    if (!since_) since_ = t;
  }
  void recovered(Nanos t) {
    close_until(t);
    if (since_) close(t);
  }
  const std::vector<Window>& finish() {
    close_until(NEVER);
    return windows_;
  }

 private:
  void close_until(Nanos t) {
    if (!since_) return;
    while (next_ < put_back_.size() && put_back_[next_] < *since_) ++next_;
    if (next_ < put_back_.size() && put_back_[next_] <= t) close(put_back_[next_]);
  }
  void close(Nanos t) {
    windows_.push_back({*since_, t});
    since_.reset();
  }

  std::vector<Nanos> put_back_;
  std::size_t next_ = 0;
  std::optional<Nanos> since_;
  std::vector<Window> windows_;
};

// Of each lane that has such ejections; disjoint and in order.
std::map<std::size_t, FalselyOut> falsely_out(const Timeline& timeline) {
  std::map<std::size_t, FalselyOut> out;
  for (const TimelineEvent& event : timeline.events) {
    if (event.endpoint < 0) continue;
    const auto lane = static_cast<std::size_t>(event.endpoint);
    if (event.type == EventType::endpoint_ejected && event.truth == EjectionTruth::nothing) {
      out.try_emplace(lane, timeline.lanes[lane]).first->second.ejected(event.t);
    } else if (event.type == EventType::endpoint_recovered) {
      if (const auto found = out.find(lane); found != out.end()) found->second.recovered(event.t);
    }
  }
  return out;
}

// ---- how much the others carry --------------------------------------------------------------------------

// The lanes of one upstream, bin by bin.
class SurvivorLoads {
 public:
  SurvivorLoads(const Timeline& timeline, const MetricScope& scope)
      : timeline_(timeline), scope_(scope), bins_(timeline.series.requests.size()) {
    if (bins_ > 0 && timeline.duration % timeline.sample != 0) --bins_;
  }

  // Attempts per endpoint that is left, over the mean before the first ejection; for each bin in which
  // somebody is out, of every upstream in turn.
  std::vector<double> all() {
    std::vector<std::vector<const EndpointLane*>> members(timeline_.upstream_names.size());
    for (const EndpointLane& lane : timeline_.lanes) members[lane.upstream].push_back(&lane);
    std::vector<Nanos> first(members.size(), NEVER);
    for (const TimelineEvent& event : timeline_.events) {
      if (event.type == EventType::endpoint_ejected)
        first[event.upstream] = std::min(first[event.upstream], event.t);
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (first[i] != NEVER) add(members[i], first[i]);
    }
    return std::move(loads_);
  }

 private:
  struct Share {
    std::uint64_t attempts = 0, endpoints = 0;
    double mean() const { return static_cast<double>(attempts) / static_cast<double>(endpoints); }
  };

  static std::int8_t state(const EndpointLane& lane, std::size_t bin) {
    return bin < lane.state.size() ? lane.state[bin] : std::int8_t{-1};
  }
  static bool ejected(const EndpointLane& lane, std::size_t bin) {
    return state(lane, bin) == static_cast<std::int8_t>(LaneState::ejected);
  }

  // What those who are configured carried in a bin; without the ejected ones if `left` says so.
  void carry(Share& share, const std::vector<const EndpointLane*>& lanes, std::size_t bin, bool left) const {
    for (const EndpointLane* lane : lanes) {
      if (!scope_.names(lane->endpoint) || state(*lane, bin) < 0 || (left && ejected(*lane, bin))) continue;
      share.attempts += lane->attempts[bin];
      ++share.endpoints;
    }
  }

  void add(const std::vector<const EndpointLane*>& lanes, Nanos first_ejection) {
    Share before;
    const std::size_t first = std::min<std::size_t>(first_ejection / timeline_.sample, bins_);
    for (std::size_t bin = 0; bin < first; ++bin) carry(before, lanes, bin, false);
    if (before.attempts == 0) return;
    const Window window = scope_.times();
    for (std::size_t bin = 0; bin < bins_; ++bin) {
      const Nanos from = bin * timeline_.sample;
      if (from < window.from || from + timeline_.sample > window.to) continue;
      const bool anybody_out = std::any_of(lanes.begin(), lanes.end(),
                                           [&](const EndpointLane* lane) { return ejected(*lane, bin); });
      if (!anybody_out) continue;
      Share left;
      carry(left, lanes, bin, true);
      if (left.endpoints > 0) loads_.push_back(left.mean() / before.mean());
    }
  }

  const Timeline& timeline_;
  const MetricScope& scope_;
  std::size_t bins_;  // whole ones: in a part of one less arrives than in those that it is compared with
  std::vector<double> loads_;
};

}  // namespace

std::vector<const Detection*> pairs_begun(const Timeline& timeline, const MetricScope& scope) {
  return pairs(timeline, scope, false);
}

std::vector<const Detection*> pairs_ended(const Timeline& timeline, const MetricScope& scope) {
  return pairs(timeline, scope, true);
}

MetricValue time_to_detect_ms(const Timeline& timeline, const MetricScope& scope) {
  std::optional<Nanos> slowest;
  for (const Detection* pair : pairs_begun(timeline, scope)) {
    if (pair->ejected) slowest = std::max(slowest.value_or(0), *pair->ejected - pair->from);
  }
  return slowest ? in_ms(*slowest) : NOTHING;
}

MetricValue missed(const Timeline& timeline, const MetricScope& scope) {
  std::uint64_t out = 0;
  for (const Detection* pair : pairs_begun(timeline, scope)) out += !pair->ejected;
  return out;
}

MetricValue lost_before_ejection(const Timeline& timeline, const MetricScope& scope) {
  std::uint64_t out = 0;
  for (const Detection* pair : pairs_begun(timeline, scope)) out += pair->lost;
  return out;
}

MetricValue false_ejections(const Timeline& timeline, const MetricScope& scope) {
  return ejections_of(timeline, scope, EjectionTruth::nothing);
}

MetricValue overload_ejections(const Timeline& timeline, const MetricScope& scope) {
  return ejections_of(timeline, scope, EjectionTruth::overload);
}

MetricValue false_ejection_ms(const Timeline& timeline, const MetricScope& scope) {
  Nanos out = 0;
  auto lanes = falsely_out(timeline);
  for (auto& [lane, falsely] : lanes) {
    if (!scope.names(timeline.lanes[lane].endpoint)) continue;
    for (const Window& window : falsely.finish()) out += overlap(window, scope.times());
  }
  return in_ms(out);
}

MetricValue in_rotation_while_failing_ms(const Timeline& timeline, const MetricScope& scope) {
  std::map<std::string_view, std::vector<Window>> failing;
  for (const FaultLane& fault : timeline.faults) {
    if (!fault.failing || !scope.names(fault.endpoint)) continue;
    for (const Interval& interval : fault.intervals)
      failing[fault.endpoint].push_back({interval.from, interval.to});
  }
  for (auto& [endpoint, windows] : failing) windows = merged(std::move(windows));
  Nanos out = 0;
  for (const EndpointLane& lane : timeline.lanes) {
    const auto found = failing.find(lane.endpoint);
    if (found == failing.end()) continue;
    auto window = found->second.begin();
    for (const Interval& interval : lane.intervals) {
      if (interval.state != LaneState::healthy) continue;
      const Window asked{std::max(interval.from, scope.times().from),
                         std::min(interval.to, scope.times().to)};
      while (window != found->second.end() && window->to <= interval.from) ++window;
      for (auto at = window; at != found->second.end() && at->from < interval.to; ++at)
        out += overlap(*at, asked);
    }
  }
  return in_ms(out);
}

std::vector<Nanos> return_times(const Timeline& timeline, const std::vector<const Detection*>& pairs) {
  std::map<std::size_t, std::vector<Nanos>> recovered;
  for (const TimelineEvent& event : timeline.events) {
    if (event.type == EventType::endpoint_recovered)
      recovered[static_cast<std::size_t>(event.endpoint)].push_back(event.t);
  }
  std::vector<Nanos> out;
  for (const Detection* pair : pairs) {
    const auto& intervals = timeline.lanes[pair->lane].intervals;
    const auto at = std::upper_bound(intervals.begin(), intervals.end(), pair->to,
                                     [](Nanos t, const Interval& interval) { return t < interval.to; });
    const bool in_rotation = at != intervals.end() && at->from <= pair->to && at->state == LaneState::healthy;
    const auto& times = recovered[pair->lane];
    const auto back = std::lower_bound(times.begin(), times.end(), pair->to);
    out.push_back(in_rotation ? 0 : back == times.end() ? NEVER : *back - pair->to);
  }
  return out;
}

MetricValue time_to_return_ms(const Timeline& timeline, const MetricScope& scope) {
  const std::vector<Nanos> times = return_times(timeline, pairs_ended(timeline, scope));
  const auto slowest = std::max_element(times.begin(), times.end());
  return slowest == times.end() || *slowest == NEVER ? NOTHING : in_ms(*slowest);
}

MetricValue survivor_load_max(const Timeline& timeline, const MetricScope& scope) {
  const std::vector<double> loads = SurvivorLoads(timeline, scope).all();
  return loads.empty() ? NOTHING : *std::max_element(loads.begin(), loads.end());
}

MetricValue survivor_load_mean(const Timeline& timeline, const MetricScope& scope) {
  const std::vector<double> loads = SurvivorLoads(timeline, scope).all();
  double sum = 0;
  for (const double load : loads) sum += load;
  return loads.empty() ? NOTHING : sum / static_cast<double>(loads.size());
}

}  // namespace halfopen::sim
