// Where two timelines first part, for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario_json.hpp"

namespace halfopen::sim {

struct TimelineDiff {
  std::vector<Mistake> mistakes;  // of both files; if there are any, nothing was compared
  bool same = false;              // meta.version apart
  std::string text;               // lines of 80 columns
};

// Two texts of halfopen.timeline/1, each one document or one object a line; names are for messages.
TimelineDiff diff_timelines(std::string_view a, const std::string& name_a, std::string_view b,
                            const std::string& name_b);

// The same for two files.
TimelineDiff diff_timeline_files(const std::string& a, const std::string& b);

}  // namespace halfopen::sim
