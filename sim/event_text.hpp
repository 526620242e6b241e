// What happened, as sentences: the account for a person and the messages of failed expectations speak alike.
#pragma once

#include <cstdint>
#include <string>

#include "sim/timeline.hpp"

namespace halfopen::sim {

// The stored state as files and expectations spell it: a breaker's half_open is "half_open" as well.
const char* lane_state_name(LaneState state) noexcept;
const char* scope_name(Scope scope) noexcept;

// 0.07 is "7 %": a limit is shown as it was set, and a share next to it must not look as if it had reached
// it.
std::string limit_text(double share);

// "21 of 42 failed (50 %)"; `volume` is not 0.
std::string share_text(std::uint64_t failures, std::uint64_t volume);

// Whether an ejection came of an active probe, by whose limits it was judged.
bool judged_by_probes(const Because& because) noexcept;

// "10.0.0.1:8080", "the breaker of api"; with its upstream in front when the run has several.
std::string subject_text(const Timeline& timeline, const TimelineEvent& event);

// "ejected: 21 of 42 failed (50 %), limit 50 % from 20; streak 2 of 5; out for 30 s"
std::string reason_text(const TimelineEvent& event);

// "clock stepped back 5 s"
std::string clock_step_text(const ClockStep& step);

// "at 31.251 s: 10.0.0.1:8080 ejected: …"
std::string event_text(const Timeline& timeline, const TimelineEvent& event);

}  // namespace halfopen::sim
