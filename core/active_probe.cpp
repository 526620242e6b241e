#include "core/active_probe.hpp"

#include <cmath>

namespace halfopen {

HealthParams probe_report_params(const HealthParams& passive, const ActiveParams& active) noexcept {
  HealthParams params = passive;
  params.consecutive_failures = active.failure_threshold;
  params.failure_ratio = 1.0;
  params.failure_min_volume = NO_RATIO_RULE;
  return params;
}

std::uint64_t ActiveProbe::sleep_ms(double u) const noexcept {
  return interval_ms_ + static_cast<std::uint64_t>(std::floor(u * static_cast<double>(jitter_ms_)));
}

// Successes from before an ejection are no evidence that it is over, so the streak starts again (departure
// b). Below the threshold a success is told only to a healthy endpoint, where it just resets the failure
// streak.
ActiveProbe::Told ActiveProbe::judge(std::uint64_t ejections, bool healthy, bool ok) noexcept {
  if (ejections > ejections_seen_) success_streak_ = 0;
  ejections_seen_ = ejections;
  if (!ok) {
    success_streak_ = 0;
    return Told::failure;
  }
  if (success_streak_ != UINT32_MAX) ++success_streak_;
  return success_streak_ >= success_threshold_ || healthy ? Told::success : Told::nothing;
}

}  // namespace halfopen
