// Every state that the two small machines can reach with thresholds of two, and what holds in all of them.
// What is never the case is paired with what sometimes is, or it might hold of a machine that does nothing.
#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "tests/property/explore.hpp"
#include "tests/property/small_machines.hpp"

namespace halfopen {
namespace {

using testing::BreakerMachine;
using testing::HealthMachine;
using testing::Path;
using testing::TRIALS;

using Edge = std::pair<int, int>;
const std::set<Edge> LEGAL_EDGES{{0, 1}, {1, 2}, {1, 0}, {2, 0}, {2, 1}};

// How often something was seen, by name.
class Sometimes {
 public:
  void note(const std::string& what, bool seen) { seen_[what] += seen; }
  void all_were_seen() const {
    for (const auto& one : seen_) {
      CAPTURE(one.first);
      CHECK(one.second > 0);
    }
  }

 private:
  std::map<std::string, int> seen_;
};

// One event for each change of state and none without.
void check_events(const testing::EventLog& log, bool moved) { REQUIRE(log.events.size() == (moved ? 1 : 0)); }

void check_health_state(const HealthMachine& machine) {
  const auto seen = machine.health.snapshot();
  REQUIRE(seen.window_total == machine.window.total());
  REQUIRE(seen.window_failures == machine.window.failures());
  check_events(machine.log, machine.before != seen.state);
  const bool half_open = seen.state == HealthState::half_open;
  REQUIRE(machine.trials_of_now() + seen.slots <= TRIALS);
  if (half_open) REQUIRE(machine.trials_of_now() + seen.slots == TRIALS);  // none lost either
  if (!half_open) REQUIRE(seen.slots == 0);
  if (seen.state == HealthState::healthy) REQUIRE(seen.streak < machine.params.consecutive_failures);
  const bool new_generation = machine.before != seen.state && !half_open;
  REQUIRE(seen.generation == machine.generation_before + (new_generation ? 1 : 0));
  if (seen.state == HealthState::ejected) REQUIRE(seen.until.ms <= machine.now + HealthMachine::EJECT_MS);
  if (machine.before == HealthState::healthy && seen.state == HealthState::ejected) REQUIRE(seen.streak == 0);
  const bool eligible = seen.state == HealthState::healthy || (half_open && seen.slots > 0) ||
                        (seen.state == HealthState::ejected && machine.now >= seen.until.ms);
  REQUIRE(machine.health.is_available(Instant{machine.now}) == eligible);
}

TEST_CASE("exploration: every state of endpoint health, every legal edge and no other") {
  std::set<Edge> edges;
  Sometimes sometimes;
  const auto look = [&](const Path&, const HealthMachine& machine, bool) {
    check_health_state(machine);
    const auto from = static_cast<int>(machine.before), to = static_cast<int>(machine.health.stored_state());
    if (from != to) edges.insert({from, to});
    sometimes.note("a trial is granted", machine.granted);
    sometimes.note("as many trials as allowed are under way", machine.trials_of_now() == TRIALS);
    sometimes.note("an abandoned trial gives its slot back", machine.returned);
    sometimes.note("a standing ejection refuses", machine.refused_early);
    sometimes.note("a trial outlives its half-open", machine.held.size() > machine.trials_of_now());
    for (const Via via : {Via::half_open_probe, Via::active_probe, Via::fail_open, Via::late_report}) {
      sometimes.note(to_string(via), !machine.log.events.empty() && machine.log.events[0].via == via);
    }
    for (const Rule rule : {Rule::consecutive_failures, Rule::failure_ratio, Rule::half_open_probe_failed}) {
      sometimes.note(to_string(rule), !machine.log.events.empty() && machine.log.events[0].rule == rule);
    }
  };
  CHECK(testing::explore<HealthMachine>(look) == 525);
  CHECK(edges == LEGAL_EDGES);
  sometimes.all_were_seen();
}

TEST_CASE(
    "exploration: endpoint health wedges in no state, when all attempts are abandoned a trial still recovers "
    "it") {
  testing::explore<HealthMachine>([](const Path& path, HealthMachine&, bool is_new) {
    if (!is_new) return;
    const auto machine = testing::replay<HealthMachine>(path);
    while (machine->apply(HealthMachine::abandon)) {
    }
    for (std::uint64_t i = 0; i < HealthMachine::EJECT_MS; ++i) machine->apply(HealthMachine::tick);
    REQUIRE(machine->health.is_available(Instant{machine->now}));
    machine->apply(HealthMachine::pick);
    machine->apply(HealthMachine::trial_ok);
    REQUIRE(machine->health.stored_state() == HealthState::healthy);
  });
}

void check_breaker_state(const BreakerMachine& machine) {
  const auto seen = machine.breaker.snapshot(Instant{machine.now});
  const auto unaged = machine.window.at(machine.now);
  REQUIRE(seen.window_total == unaged.total());
  REQUIRE(seen.window_failures == unaged.failures());
  check_events(machine.log, machine.before != seen.state);
  const bool half_open = seen.state == BreakerState::half_open;
  if (half_open) REQUIRE(machine.trials_of_now() + seen.slots == TRIALS);
  if (!half_open) REQUIRE(seen.slots == 0);
  if (seen.state == BreakerState::closed) REQUIRE(seen.streak < machine.params.consecutive_failures);
  if (seen.state == BreakerState::open) REQUIRE(seen.until.ms <= machine.now + machine.params.open_ms);
  if (machine.before == BreakerState::closed) REQUIRE_FALSE(machine.refused);
}

TEST_CASE("exploration: every state of the breaker, every legal edge but the one that only trackers have") {
  std::set<Edge> edges;
  Sometimes sometimes;
  const auto look = [&](const Path&, const BreakerMachine& machine, bool) {
    check_breaker_state(machine);
    const auto from = static_cast<int>(machine.before), to = static_cast<int>(machine.breaker.state());
    if (from != to) edges.insert({from, to});
    sometimes.note("a trial is granted", machine.granted);
    sometimes.note("as many trials as allowed are under way", machine.trials_of_now() == TRIALS);
    sometimes.note("an abandoned trial gives its slot back", machine.returned);
    sometimes.note("it outlives attempts from before", machine.held.size() > machine.trials_of_now());
    for (const Rule rule : {Rule::consecutive_failures, Rule::error_ratio, Rule::half_open_probe_failed}) {
      sometimes.note(to_string(rule), !machine.log.events.empty() && machine.log.events[0].rule == rule);
    }
  };
  CHECK(testing::explore<BreakerMachine>(look) == 905);
  std::set<Edge> expected = LEGAL_EDGES;
  expected.erase({1, 0});  // open, a report changes nothing
  CHECK(edges == expected);
  sometimes.all_were_seen();
}

TEST_CASE(
    "exploration: the breaker wedges in no state, when all attempts are abandoned a trial still closes it") {
  int refusals = 0;
  testing::explore<BreakerMachine>([&](const Path& path, BreakerMachine&, bool is_new) {
    if (!is_new) return;
    const auto machine = testing::replay<BreakerMachine>(path);
    machine->apply(BreakerMachine::check);
    refusals += machine->refused;
    while (machine->apply(BreakerMachine::abandon)) {
    }
    for (int i = 0; i < 2; ++i) machine->apply(BreakerMachine::tick);
    machine->apply(BreakerMachine::check);
    REQUIRE_FALSE(machine->refused);
    machine->apply(BreakerMachine::answer_ok);
    REQUIRE(machine->breaker.state() == BreakerState::closed);
  });
  CHECK(refusals > 0);
}

}  // namespace
}  // namespace halfopen
