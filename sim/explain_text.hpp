// An explanation for a person, never wider than 80 columns: what happened to an endpoint or a breaker, what
// had been reported to it, how near each rule was, what brought it back, and what a change would have done.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/explain.hpp"
#include "sim/text_layout.hpp"

namespace halfopen::sim {

struct Tried {
  std::string label, instead;  // "consecutive_failures 6", "ejected 12 ms later, by …"
};

struct Explanation {
  Subject subject;
  std::vector<Outage> outages;
  std::optional<std::size_t> which;  // the outage that is told; none: a stretch without one
  std::optional<Nanos> at;           // the instant that was asked for
  std::optional<Interval> stretch;   // without an outage: where it was in; none: it was not configured
  std::vector<Tried> tried;
  std::string not_tried;  // why nothing was tried; empty: no reason to tell
};

std::string explanation_text(const Scenario& scenario, const Timeline& timeline, const Explanation& what,
                             const Listener& heard, const TextStyle& style);

}  // namespace halfopen::sim
