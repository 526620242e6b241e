// Writes down what happens: counts by bin, lanes by transition, and the machines' own events with their
// reasons. It is the gateway's event sink; it decides nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/event.hpp"
#include "sim/latency_histogram.hpp"
#include "sim/timeline.hpp"
#include "sim/truth.hpp"
#include "sim/virtual_clock.hpp"

namespace halfopen::sim {

// An attempt's dispatch, in time and among those of its lane.
struct Sent {
  Nanos at = 0;
  std::uint64_t ordinal = 0;
};

class Recorder final : public EventSink {
 public:
  Recorder(const Scenario& scenario, const VirtualClock& clock);

  // Every record below carries a time that never goes back.
  void at(Nanos t) {
    t_ = t;
    if (t >= stop_) roll();
  }

  void request() {
    ++bin_.requests;
    ++in_flight_;
  }
  void admitted() { ++summary_.admitted; }
  Sent attempt(std::uint32_t lane, bool fail_open) {
    ++lanes_now_[lane].attempts;
    bin_.fail_open_picks += fail_open;
    return {t_, lanes_now_[lane].sent++};
  }
  void probe(std::uint32_t lane, bool ok) {
    ++timeline_.lanes[lane].probes;
    timeline_.lanes[lane].failed_probes += !ok;
  }
  void reload() { timeline_.reloads.push_back(t_); }
  void clock_step(const ClockStep& step) { timeline_.clock_steps.push_back(step); }
  void failure(std::uint32_t lane, const Sent& sent) {
    ++lanes_now_[lane].failures;
    if (lanes_now_[lane].watched) [[unlikely]]
      count_lost(lane, sent);
  }
  // Whatever is reported next comes of an attempt or probe that met this.
  void judging(const AttemptTruth& truth) { judging_ = truth; }
  void retried() { ++bin_.retried; }
  void retry_denied() { ++summary_.retries_denied; }
  void ended_ok(Nanos latency) {
    ++bin_.ok;
    --in_flight_;
    bin_latency_.add(latency);
  }
  void ended_failed(bool fast) {
    ++bin_.failed;
    bin_.fast_failed += fast;
    --in_flight_;
  }
  void abandoned() {
    ++summary_.abandoned;
    --in_flight_;
  }
  // Core counts them: asked at the end, and at each mark.
  void late_reports_from(std::function<std::uint64_t()> count) { late_reports_ = std::move(count); }

  // Lanes are numbered by first appearance over all generations.
  std::uint32_t upstream(const std::string& name);
  std::uint32_t lane(std::uint32_t upstream, const std::string& endpoint);
  // What the machines say their state is after a build or a reload; -1: not configured.
  void lane_state(std::uint32_t lane, int state);
  void breaker_state(std::uint32_t upstream, int state);

  // A fault's active period: also the bad phase of a flap or of bursts. `server` is a place in
  // Scenario::servers. Of one fault in order of time; nothing if it does not begin before `to`.
  void fault_active(std::uint32_t server, std::uint32_t fault, Nanos from, Nanos to);
  // The same in place of what was said so far of the time from now on: a warm-up that something cut short.
  void fault_active_anew(std::uint32_t server, std::uint32_t fault, Nanos from, Nanos to);

  // The gauges of the bin that ends now, after everything at its end.
  void sample();

  void offer(const Event& event) noexcept override;

  // Once, at the end of the run.
  Timeline finish();

 private:
  struct BinCounts {
    std::uint64_t requests = 0, ok = 0, failed = 0, fast_failed = 0, retried = 0, fail_open_picks = 0;
  };
  struct LaneCounts {
    std::uint64_t attempts = 0, failures = 0;  // of the bin
    std::uint64_t sent = 0;                    // of the run
    bool watched = false;                      // has failing faults, see Timeline::detections
  };
  struct OpenInterval {
    int state = -1;
    Nanos since = 0;
    std::optional<Nanos> eligible;
  };

  void roll();  // closes bins up to the one that t_ falls in, and takes the marks until t_
  void close_bin();
  void plan_marks();
  void take_mark(CountMark& mark);
  void set_stop();
  void name_faults();
  void watch(std::uint32_t lane);
  void count_lost(std::uint32_t lane, const Sent& sent);
  void close_watches(std::uint32_t lane);
  void move_lane(std::vector<Interval>& intervals, OpenInterval& open, int state,
                 std::optional<Nanos> eligible);
  void close_lanes();
  void sum_up();

  const Scenario& scenario_;
  const VirtualClock& clock_;
  Timeline timeline_;
  Summary summary_;
  Nanos t_ = 0, bin_end_ = 0;
  Nanos stop_ = 0;  // the end of the bin or the next mark, whichever comes first
  std::size_t bin_index_ = 0, samples_ = 0, marks_taken_ = 0;
  std::function<std::uint64_t()> late_reports_;
  BinCounts bin_;
  LatencyHistogram bin_latency_, latency_;
  std::uint64_t in_flight_ = 0;
  AttemptTruth judging_;
  // By lane: its failing faults, as places in Timeline::detections.
  std::vector<std::vector<std::uint32_t>> watches_;
  std::vector<LaneCounts> lanes_now_;
  std::vector<OpenInterval> open_lanes_, open_breakers_;  // by lane; by upstream
  std::map<std::string, std::uint32_t> servers_;
  std::map<std::string, std::uint32_t> upstreams_;
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> lanes_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> fault_lanes_;
};

}  // namespace halfopen::sim
