// Failing faults and the lanes that they hit: when each lane was put out for it, and what that cost.
#include <algorithm>

#include "sim/recorder.hpp"

namespace halfopen::sim {

// A lane that exists before the run begins: faults are known from the start.
void Recorder::watch(std::uint32_t lane) {
  const auto server = servers_.find(timeline_.lanes[lane].endpoint);
  if (server == servers_.end()) return;
  const auto& faults = scenario_.servers[server->second].faults;
  for (std::uint32_t n = 0; n < faults.size(); ++n) {
    const Fault& fault = faults[n];
    const Nanos to = std::min(fault.to, scenario_.duration);
    if (!is_failing_fault(fault) || fault.from >= to) continue;
    watches_[lane].push_back(static_cast<std::uint32_t>(timeline_.detections.size()));
    timeline_.detections.push_back({lane,
                                    fault.from,
                                    to,
                                    fault.to < scenario_.duration,
                                    {},
                                    0,
                                    0,
                                    fault_lanes_.at({server->second, n}),
                                    at_work_at_times(fault.kind)});
    lanes_now_[lane].watched = true;
  }
}

void Recorder::close_watches(std::uint32_t lane) {
  for (const std::uint32_t place : watches_[lane]) {
    Detection& detection = timeline_.detections[place];
    if (detection.ejected || t_ < detection.from || t_ >= detection.to) continue;
    if (detection.at_times && !judging_.fault) continue;
    detection.ejected = t_;
    detection.before = lanes_now_[lane].sent;
  }
}

void Recorder::count_lost(std::uint32_t lane, const Sent& sent) {
  for (const std::uint32_t place : watches_[lane]) {
    Detection& detection = timeline_.detections[place];
    const bool within = sent.at >= detection.from && sent.at < detection.to;
    if (within && (!detection.ejected || sent.ordinal < detection.before)) ++detection.lost;
  }
}

}  // namespace halfopen::sim
