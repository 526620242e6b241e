// What the parts of the judge share: how an expectation's time filter is read and retold, which events answer
// a pattern and which nearly do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/expectations.hpp"
#include "sim/window.hpp"

namespace halfopen::sim::expectations_detail {

// ---- time -----------------------------------------------------------------------------------------------

// `at_ms` N is the millisecond [N, N + 1), because floor(t_ms) is compared. Without a filter: everything.
Window span_of(const TimeFilter& when);

// ", at 31250 ms", ", in [30000, 40000) ms", or nothing.
std::string when_text(const TimeFilter& when);

std::string ms_text(Nanos value);  // "31250.75 ms"

// ---- events ---------------------------------------------------------------------------------------------

bool matches(const EventPattern& pattern, const Timeline& timeline, const TimelineEvent& event);
std::vector<const TimelineEvent*> matches(const EventPattern& pattern, const Window& span,
                                          const Timeline& timeline);

// "endpoint_ejected of 10.0.0.1:8080 by rule failure_ratio"
std::string pattern_text(const EventPattern& pattern);

// A pattern that no event can ever answer is a slip of the pen, and `never` must not hold because of it: a
// sentence why, or nothing.
std::string pattern_problem(const EventPattern& pattern);

// The event that comes closest without being one of those meant; none if nothing has the type or, as long as
// nothing at all was found, the subject.
const TimelineEvent* near_miss(const EventPattern& pattern, const Window& span, const Timeline& timeline,
                               bool same_type);

// "none", "2, at 301, 601 ms"
std::string found_text(const std::vector<const TimelineEvent*>& found);

// "1st", "2nd", "11th"
std::string ordinal(std::uint64_t n);

// ---- the forms ------------------------------------------------------------------------------------------

Judgement judge_event(const ExpectEvent& expect, const Timeline& timeline);
Judgement judge_state(const ExpectState& expect, const Timeline& timeline);
Judgement judge_sequence(const ExpectSequence& expect, const Timeline& timeline);
Judgement judge_metric(const ExpectMetric& expect, const Timeline& timeline);
Judgement judge_fingerprint(const ExpectFingerprint& expect, const Timeline& timeline);

// Has not held, because `why` (a sentence without its end).
Judgement not_evaluated(std::string expected, const std::string& why);

}  // namespace halfopen::sim::expectations_detail
