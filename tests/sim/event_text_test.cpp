// Whose limits an ejection was judged by.
#include "sim/event_text.hpp"

#include <doctest/doctest.h>

#include "core/active_probe.hpp"
#include "core/endpoint_health.hpp"

using namespace halfopen;
using namespace halfopen::sim;

TEST_CASE("event text: a volume that says there is no ratio rule makes no probe of traffic") {
  HealthParams traffic;
  traffic.failure_min_volume = NO_RATIO_RULE;
  CHECK_FALSE(judged_by_probes(counts_as_judged(traffic, 5, {})));
  CHECK(judged_by_probes(counts_as_judged(probe_report_params(traffic, {}), 3, {})));
}
