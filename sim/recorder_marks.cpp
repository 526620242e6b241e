// The recorder's marks: what had been counted at the begin and the end of every window that a metric of the
// scenario's expectations asks about.
#include <algorithm>
#include <variant>

#include "sim/recorder.hpp"
#include "sim/window.hpp"

namespace halfopen::sim {

void Recorder::plan_marks() {
  std::map<Nanos, CountMark> marks;
  const auto plan = [&marks](Nanos at, const std::string& endpoint) {
    CountMark& mark = marks[at];
    mark.at = at;
    if (!endpoint.empty()) mark.endpoints[endpoint] = {};
  };
  for (const Expectation& expectation : scenario_.expect) {
    const auto* metric = std::get_if<ExpectMetric>(&expectation.what);
    if (metric == nullptr || !metric->between_ms) continue;
    Window window = window_of(*metric->between_ms);
    window.to = std::min(window.to, scenario_.duration);
    if (window.empty()) continue;
    if (window.from > 0) plan(window.from, metric->endpoint);
    plan(window.to, metric->endpoint);
  }
  for (auto& [at, mark] : marks) timeline_.marks.push_back(std::move(mark));
}

void Recorder::set_stop() {
  stop_ = bin_end_;
  if (marks_taken_ < timeline_.marks.size()) stop_ = std::min(stop_, timeline_.marks[marks_taken_].at);
}

// The bins that are closed, and the part of one that is not.
void Recorder::take_mark(CountMark& mark) {
  Summary& counts = mark.counts;
  counts = summary_;
  counts.requests += bin_.requests;
  counts.ok += bin_.ok;
  counts.failed += bin_.failed;
  counts.fast_failed += bin_.fast_failed;
  counts.retries += bin_.retried;
  counts.fail_open_picks += bin_.fail_open_picks;
  if (late_reports_) counts.late_reports_ignored = late_reports_();
  counts.attempts = counts.failures = 0;
  for (std::size_t i = 0; i < lanes_now_.size(); ++i) {
    counts.attempts += timeline_.lanes[i].total_attempts + lanes_now_[i].attempts;
    counts.failures += timeline_.lanes[i].total_failures + lanes_now_[i].failures;
  }
  mark.latency = latency_;
  mark.latency.merge(bin_latency_);
  for (auto& [endpoint, count] : mark.endpoints) {
    for (std::uint32_t upstream = 0; upstream < upstreams_.size(); ++upstream) {
      const auto lane = lanes_.find({upstream, endpoint});
      if (lane == lanes_.end()) continue;
      count.attempts += timeline_.lanes[lane->second].total_attempts + lanes_now_[lane->second].attempts;
      count.failures += timeline_.lanes[lane->second].total_failures + lanes_now_[lane->second].failures;
    }
  }
}

}  // namespace halfopen::sim
