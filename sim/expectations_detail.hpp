// What the two halves of the judge share: how an expectation's time filter is read and retold.
#pragma once

#include <string>

#include "sim/expectations.hpp"

namespace halfopen::sim::expectations_detail {

// [from, to) of virtual time.
struct Span {
  Nanos from = 0, to = NEVER;
};

// `at_ms` N is the millisecond [N, N + 1), because floor(t_ms) is compared. Without a filter: everything.
Span span_of(const TimeFilter& when);

// ", at 31250 ms", ", in [30000, 40000) ms", or nothing.
std::string when_text(const TimeFilter& when);

Judgement judge_event(const ExpectEvent& expect, const Timeline& timeline);
Judgement judge_state(const ExpectState& expect, const Timeline& timeline);

}  // namespace halfopen::sim::expectations_detail
