// Two JSON values: how many values in them differ, and which of them first.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/json_source.hpp"

namespace halfopen::sim {

struct JsonDifference {
  std::vector<std::string> path;  // keys, and places in lists from 0
  const Json* a = nullptr;        // null: it is not there
  const Json* b = nullptr;
};

// Every place where they differ, in order, but not more than `most`; `count` counts all of them. Lists and
// objects that both have are compared by what is in them.
std::vector<JsonDifference> json_differences(const Json& a, const Json& b, std::size_t most,
                                             std::size_t& count);

// A few characters of a value, fit for a terminal; "nothing" for none.
std::string shown_or_nothing(const Json* value);

// meta without its version and, between equal events, summary, intervals, series and expectations: a
// paragraph for each that differs. `events_same`: also those that follow from the events.
struct TimelineFile;
std::string section_differences(const TimelineFile& a, const TimelineFile& b, bool events_same);

}  // namespace halfopen::sim
