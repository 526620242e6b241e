// Machines that were healthy for long and turn sick, judged against the bounds of sim/exact_onset.hpp.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sim/exact_onset.hpp"
#include "tests/sim/exact_judge.hpp"

namespace halfopen::sim::exact::judging {

struct Question {
  HealthParams rule;
  FailureTurns sick;
  double before = 0;
  Arrivals arrivals;
};

// When a machine that has seen one and a half windows of healthy traffic is out after the turn, in s. What is
// out before the turn is not asked: it starts again.
template <class Machine>
double out_after_s(const Question& q, Luck luck) {
  const double gap = 1000 / q.arrivals.per_s;
  const double turn_ms = 1.5 * static_cast<double>(q.rule.window_ms);
  for (;;) {
    Machine machine(q.rule);
    double t = q.arrivals.poisson ? 0 : -gap * luck.unit();  // the turn is anywhere in a gap
    std::size_t after = 0;
    for (;;) {
      t += q.arrivals.poisson ? luck.exponential(gap) : gap;
      const bool turned = t > turn_ms + 1e-6;
      const double p = turned ? q.sick[after++ % q.sick.size()] : q.before;
      if (!machine.report(1000 + static_cast<std::uint64_t>(t), luck.unit() < p)) continue;
      if (!turned) break;
      return (t - turn_ms) / 1000;
    }
  }
}

// Are the shares of the replicates that are out by each of several times within the bounds? `width`: how far
// apart the bounds may be, at most, at any of them.
template <class Machine>
void judge(const Question& asked, const Question& real, bool agree, double width,
           std::uint64_t replicates = 2'000) {
  const Answer<Ejection> sick = ejection(asked.rule, asked.sick, asked.arrivals);
  REQUIRE(sick);
  const Answer<Onset> exact = onset(*sick, asked.rule, asked.sick, asked.before);
  REQUIRE(exact);
  std::vector<double> times;
  const auto all_of_them = static_cast<double>(replicates);
  for (std::uint64_t r = 0; r < replicates; ++r) times.push_back(out_after_s<Machine>(real, Luck(71, r)));
  std::sort(times.begin(), times.end());
  bool all = true;
  double widest = 0;
  for (int i = 1; i < 20; ++i) {
    const double t = times[replicates * static_cast<std::uint64_t>(i) / 20];
    const double share =
        static_cast<double>(std::upper_bound(times.begin(), times.end(), t) - times.begin()) / all_of_them;
    const Answer<Bounds> by = onset_by(*sick, asked.rule, asked.sick, asked.before, t);
    REQUIRE(by);
    const double error = WIDTH * std::sqrt(share * (1 - share) / all_of_them);
    all = all && share + error >= by->low && share - error <= by->high;
    widest = std::max(widest, by->high - by->low);
  }
  CHECK(all == agree);
  if (agree) {
    CHECK(widest <= width);
    const auto at = [&](double level) { return times[static_cast<std::size_t>(level * all_of_them)]; };
    CHECK(at(0.97) >= exact->within_95_s.low);
    CHECK(at(0.93) <= exact->within_95_s.high);
  }
}

}  // namespace halfopen::sim::exact::judging
