// A timeline that somebody wrote, as the struct that a run leaves behind: for whoever shows runs and files alike.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/expectations.hpp"
#include "sim/metrics.hpp"
#include "sim/scenario_json.hpp"
#include "sim/timeline.hpp"

namespace halfopen::sim {

struct TimelineBack {
  // What a file says of it. Not: truths and detections, marks, reloads, clock steps, and in its summary nothing.
  Timeline timeline;
  std::vector<Expectation> expectations;  // their text alone
  std::vector<Judgement> judgements;      // into `expectations`, of which moving is no copy
  std::vector<std::pair<std::string, MetricValue>> summary;  // of metrics that this version knows; NaN: null
  std::string version, digest, fingerprint;                  // as written
  bool whole = false;                                        // one document: intervals and series are there
};

struct TimelineBackRead {
  std::optional<TimelineBack> back;  // none if there is any mistake
  std::vector<Mistake> mistakes;
};

// One document or one object a line. No exception leaves but std::bad_alloc.
TimelineBackRead timeline_back(std::string_view text, const std::string& file);

}  // namespace halfopen::sim
