// Every number that a run is summed up in, defined once: the summary of a timeline, expectations, sweeps and
// the account for a person all read this table. Pure functions of a timeline; safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/timeline.hpp"
#include "sim/window.hpp"

namespace halfopen::sim {

// A count is a whole number and is written as one; NaN: nothing was measured.
using MetricValue = std::variant<std::uint64_t, double>;

struct Metric {
  std::string_view name;
  std::string_view unit;        // "requests", "ms", "ratio", …; empty for a plain number
  bool takes_endpoint = false;  // can be asked of one endpoint
  bool takes_between = false;   // can be asked of a stretch of the run
  std::string_view about;       // one sentence: what exactly is counted

  // Where it comes from: a count or a measure of the summary, or a function of the whole timeline.
  using Function = MetricValue (*)(const Timeline&, const MetricScope&);
  std::variant<std::uint64_t Summary::*, double Summary::*, Function> source;
};

// In documented order, which is that of a summary's keys.
std::span<const Metric> metrics();

// Null if there is no metric of that name.
const Metric* find_metric(std::string_view name);

std::vector<std::string_view> metric_names();

// Without a window any timeline can be asked. A window is exact to the nanosecond, but its counts and
// percentiles are there only if the run was told of it beforehand: if an expectation of its scenario asks
// about the same window (and endpoint). Otherwise, and where the metric does not take what the scope names:
// NaN.
MetricValue measure(const Metric& metric, const Timeline& timeline, const MetricScope& scope = {});

// The same as one number; nothing where nothing was measured.
std::optional<double> value(const Metric& metric, const Timeline& timeline, const MetricScope& scope = {});
std::optional<double> as_number(const MetricValue& value);

// The ratios of a summary from its counts: NaN where the denominator is 0.
void fill_ratios(Summary& summary);

}  // namespace halfopen::sim
