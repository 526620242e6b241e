// The probe loop of one endpoint, without its sockets: when to probe, what a verdict means, when to give up
// (seed 001). The owner sleeps, probes and calls; so the same loop runs on real and on virtual time. One
// owner at a time: a loop is not thread-safe, its tracker is.
#pragma once

#include <cstdint>

#include "core/params.hpp"
#include "core/time.hpp"

namespace halfopen {

// The volume from which a probe's report would be judged by its ratio: out of reach. An event whose `because`
// has it comes of a probe.
inline constexpr std::uint32_t NO_RATIO_RULE = UINT32_MAX;

// The passive parameters with the active thresholds in their place and the ratio rule switched off.
HealthParams probe_report_params(const HealthParams& passive, const ActiveParams& active) noexcept;

class ActiveProbe {
 public:
  // `ejections`: the tracker's ejection count at the loop's start.
  ActiveProbe(const ActiveParams& params, const HealthParams& passive, std::uint64_t ejections) noexcept
      : interval_ms_(params.interval_ms),
        jitter_ms_(params.jitter_ms),
        success_threshold_(params.success_threshold),
        report_params_(probe_report_params(passive, params)),
        ejections_seen_(ejections) {}

  // The sleep before each probe: interval + floor(u * jitter) ms, u in [0, 1). The next sleep starts when the
  // verdict is in, so the period drifts late by the jitter and the probe's own duration.
  std::uint64_t sleep_ms(double u) const noexcept;

  // One probe's verdict, told to the tracker where the rule says so; asking and telling are one atomic step.
  // Tracker is a BasicEndpointHealth of either policy.
  template <class Tracker>
  void verdict(Tracker& tracker, Instant now, bool ok) noexcept {
    exceptions_in_a_row_ = 0;
    tracker.probe_verdict(report_params_, now, [this, ok](std::uint64_t ejections, auto state) noexcept {
      using Decision = typename Tracker::ProbeDecision;
      const bool healthy = static_cast<int>(state) == 0;
      switch (judge(ejections, healthy, ok)) {
        case Told::success: return Decision{Decision::Report::success, success_streak_, success_threshold_};
        case Told::failure: return Decision{Decision::Report::failure, 0, 0};
        case Told::nothing: break;
      }
      return Decision{};
    });
  }

  // An iteration threw. Answers whether to go on: after interval_ms without jitter, and no more after three
  // in a row, when the endpoint is passive-only until the next respawn.
  bool iteration_threw() noexcept { return iteration_threw(exceptions_in_a_row_); }
  // The same where its verdict may have been told already: `before` is exceptions_in_a_row() at its begin.
  bool iteration_threw(std::uint32_t before) noexcept {
    exceptions_in_a_row_ = before + 1;
    return exceptions_in_a_row_ < GIVE_UP_AFTER;
  }

  std::uint64_t interval_ms() const noexcept { return interval_ms_; }
  std::uint32_t success_streak() const noexcept { return success_streak_; }
  std::uint32_t exceptions_in_a_row() const noexcept { return exceptions_in_a_row_; }
  const HealthParams& report_params() const noexcept { return report_params_; }

  static constexpr std::uint32_t GIVE_UP_AFTER = 3;

 private:
  enum class Told : std::uint8_t { nothing, success, failure };
  Told judge(std::uint64_t ejections, bool healthy, bool ok) noexcept;

  std::uint64_t interval_ms_, jitter_ms_;
  std::uint32_t success_threshold_;
  HealthParams report_params_;
  std::uint64_t ejections_seen_;
  std::uint32_t success_streak_ = 0;
  std::uint32_t exceptions_in_a_row_ = 0;
};

}  // namespace halfopen
