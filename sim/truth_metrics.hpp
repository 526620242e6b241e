// Metrics that need what only a simulation knows: which faults were at work, and whether an ejection was
// right. Each is one of the table in metrics.hpp, where it is defined in a sentence.
#pragma once

#include <vector>

#include "sim/metrics.hpp"
#include "sim/timeline.hpp"
#include "sim/window.hpp"

namespace halfopen::sim {

// Of the pairs of a failing fault and an endpoint whose fault begins in the window.
MetricValue time_to_detect_ms(const Timeline& timeline, const MetricScope& scope);
MetricValue missed(const Timeline& timeline, const MetricScope& scope);
MetricValue lost_before_ejection(const Timeline& timeline, const MetricScope& scope);

MetricValue false_ejections(const Timeline& timeline, const MetricScope& scope);
MetricValue overload_ejections(const Timeline& timeline, const MetricScope& scope);
MetricValue false_ejection_ms(const Timeline& timeline, const MetricScope& scope);
MetricValue in_rotation_while_failing_ms(const Timeline& timeline, const MetricScope& scope);

// Of the pairs whose fault ends in the window.
MetricValue time_to_return_ms(const Timeline& timeline, const MetricScope& scope);

MetricValue survivor_load_max(const Timeline& timeline, const MetricScope& scope);
MetricValue survivor_load_mean(const Timeline& timeline, const MetricScope& scope);

// The pairs that time_to_detect_ms, missed and lost_before_ejection are of.
std::vector<const Detection*> pairs_begun(const Timeline& timeline, const MetricScope& scope);
// The pairs that time_to_return_ms is of.
std::vector<const Detection*> pairs_ended(const Timeline& timeline, const MetricScope& scope);
// Of each of them, how long after its fault's end its endpoint was back; NEVER if it was not.
std::vector<Nanos> return_times(const Timeline& timeline, const std::vector<const Detection*>& pairs);

}  // namespace halfopen::sim
