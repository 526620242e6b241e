#include "sim/event_text.hpp"

#include <fmt/core.h>

#include "core/active_probe.hpp"
#include "sim/text_layout.hpp"

namespace halfopen::sim {

namespace {

std::string window_text(const Because& because) {
  return because.volume == 0 ? "" : share_text(because.failures, because.volume);
}

// The rule that decided comes first, then how far the other one was.
std::string counts_text(Rule rule, const Because& because) {
  const std::string window = window_text(because);
  if (rule == Rule::consecutive_failures) {
    std::string out =
        fmt::format("{} in a row, limit {}", plural(because.streak, "failure"), grouped(because.threshold));
    if (judged_by_probes(because)) out += " (active health)";
    return window.empty() ? out : out + "; " + window;
  }
  if (rule == Rule::half_open_probe_failed) return "a trial failed";
  return fmt::format("{}, limit {} from {}; streak {} of {}", window, limit_text(because.limit),
                     grouped(because.min_volume), grouped(because.streak), grouped(because.threshold));
}

std::string put_out_text(const char* verb, const char* how_long, const TimelineEvent& event) {
  return fmt::format("{}{}: {}; {} for {}", verb, event.rule == Rule::half_open_probe_failed ? " again" : "",
                     counts_text(event.rule, event.because), how_long,
                     length_text(event.because.for_ms * NANOS_PER_MS));
}

std::string trials_text(const Because& because) {
  return "half-open: " + plural(because.slots, "trial") + " granted";
}

std::string recovered_text(const TimelineEvent& event) {
  switch (event.via) {
    case Via::half_open_probe: return "recovered: a trial succeeded";
    case Via::active_probe:
      return fmt::format("recovered: {} in a row succeeded, limit {}",
                         plural(event.because.successes, "probe"), grouped(event.because.threshold));
    case Via::fail_open: return "recovered: it answered a fail-open pick";
    case Via::late_report: return "recovered: a late answer from before the ejection";
    case Via::none: break;
  }
  return "recovered";
}

}  // namespace

std::string limit_text(double share) { return decimal(share * 100, 4) + " %"; }

std::string share_text(std::uint64_t failures, std::uint64_t volume) {
  return fmt::format("{} of {} failed ({})", grouped(failures), grouped(volume),
                     percent(static_cast<double>(failures) / static_cast<double>(volume)));
}

// Files may say that volume as well, to have no ratio rule; a ratio of 1 beside it is the probes' own.
bool judged_by_probes(const Because& because) noexcept {
  return because.min_volume == NO_RATIO_RULE && because.limit >= 1;
}

const char* lane_state_name(LaneState state) noexcept {
  switch (state) {
    case LaneState::healthy: return "healthy";
    case LaneState::ejected: return "ejected";
    case LaneState::half_open:
    case LaneState::breaker_half_open: return "half_open";
    case LaneState::closed: return "closed";
    case LaneState::open: return "open";
    case LaneState::active: return "active";
  }
  return "";
}

const char* scope_name(Scope scope) noexcept {
  switch (scope) {
    case Scope::both: return "both";
    case Scope::traffic: return "traffic";
    case Scope::probes: return "probes";
  }
  return "";
}

std::string subject_text(const Timeline& timeline, const TimelineEvent& event) {
  const std::string& upstream = timeline.upstream_names[event.upstream];
  if (event.endpoint < 0) return "the breaker of " + upstream;
  const std::string& endpoint = timeline.lanes[static_cast<std::size_t>(event.endpoint)].endpoint;
  return timeline.upstream_names.size() > 1 ? upstream + " " + endpoint : endpoint;
}

std::string reason_text(const TimelineEvent& event) {
  switch (event.type) {
    case EventType::endpoint_ejected: return put_out_text("ejected", "out", event);
    case EventType::breaker_opened: return put_out_text("opened", "open", event);
    case EventType::endpoint_half_open:
    case EventType::breaker_half_open: return trials_text(event.because);
    case EventType::endpoint_recovered: return recovered_text(event);
    // What its window held does not matter any more: closing has emptied it.
    case EventType::breaker_closed: return "closed: a trial succeeded";
  }
  return "";
}

std::string clock_step_text(const ClockStep& step) {
  const bool back = step.by_ms < 0;
  const auto length = static_cast<Nanos>(back ? -step.by_ms : step.by_ms) * NANOS_PER_MS;
  return fmt::format("clock stepped {} {}", back ? "back" : "forward", length_text(length));
}

std::string event_text(const Timeline& timeline, const TimelineEvent& event) {
  return "at " + instant_text(event.t) + ": " + subject_text(timeline, event) + " " + reason_text(event);
}

}  // namespace halfopen::sim
