// What the account for a person says of injected faults.
#include <doctest/doctest.h>

#include "sim/writer_text.hpp"
#include "tests/sim/handmade.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::handmade;

TEST_CASE("writer_text: what was done about the faults is told where there were any") {
  Timeline timeline = brownout();
  timeline.faults[0].failing = true;
  timeline.detections = {{0, 30'000 * MS, 60'000 * MS, true, timeline.events[0].t, 7500, 1234}};
  timeline.events.push_back(handmade::ejection(90'000 * MS, 1));
  timeline.events.back().truth = EjectionTruth::nothing;
  timeline.lanes[1].intervals = {{0, 90'000 * MS, LaneState::healthy, {}},
                                 {90'000 * MS, 120'000 * MS, LaneState::ejected, {}}};
  for (std::size_t bin = 90; bin < 120; ++bin) {
    timeline.lanes[0].attempts[bin] = 375;
    timeline.lanes[1].state[bin] = static_cast<std::int8_t>(LaneState::ejected);
  }
  const std::string text = timeline_text(timeline, {}, "x.json", {});
  check_page(text);
  CHECK(contains(text,
                 "  against the faults\n"
                 "  detected in    1.251 s    false ejections      1    survivor load  1.5 x\n"
                 "  - missed             0    - out for         30 s    - at most      1.5 x\n"
                 "  - lost before    1,234    by overload          0\n"
                 "  - in rotation  1.251 s    back in          1.3 s\n"));
  timeline.faults.clear();
  CHECK_FALSE(contains(timeline_text(timeline, {}, "x.json", {}), "against the faults"));
}
