// The metrics of a run as columns of numbers: every metric of the timeline's summary, in its order and under
// its name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/timeline.hpp"

namespace halfopen::sim {

// How a column is written; see number_format.hpp.
enum class MetricKind : std::uint8_t { count, ratio, ms };

struct MetricColumn {
  std::string_view name;
  MetricKind kind;
};

const std::vector<MetricColumn>& sweep_columns();

// One value a column; NaN where nothing was measured. Counts are exact: none reaches 2^53.
std::vector<double> sweep_metrics(const Timeline& timeline);

}  // namespace halfopen::sim
