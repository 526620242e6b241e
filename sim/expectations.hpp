// Judges what a scenario expects against what a run did. Every judgement says what was expected and what
// happened, so that a failure is understood without running anything again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario.hpp"
#include "sim/timeline.hpp"

namespace halfopen::sim {

struct Judgement {
  bool held = false;
  std::string expected;  // "exactly 1 endpoint_ejected of 10.0.0.1:8080, at 31250 ms"
  std::string got;       // what happened; after a failure also the nearest event with its reason
  const Expectation* expectation = nullptr;  // into the scenario, which must outlive this
};

// One judgement for each expectation, in their order.
std::vector<Judgement> judge(const Scenario& scenario, const Timeline& timeline);

// "file:line:column: expected …" and "got …" on a line of its own, without a line end after it.
std::string failure_text(const Judgement& judgement, std::string_view file);

}  // namespace halfopen::sim
