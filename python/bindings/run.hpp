// One run: its timeline and what became of the scenario's expectations, fresh or read back from a file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "python/bindings/columns.hpp"
#include "python/bindings/scenario.hpp"
#include "sim/expectations.hpp"
#include "sim/metrics.hpp"
#include "sim/timeline.hpp"

namespace halfopen::python {

class Run : public std::enable_shared_from_this<Run> {
 public:
  // Throws sim::RunStopped, and whatever `pause` throws.
  static std::shared_ptr<Run> simulate(const LoadedScenario& scenario, const std::function<bool()>& pause);

  const sim::Timeline& timeline() const { return timeline_; }
  const std::vector<sim::Judgement>& judgements() const { return judgements_; }

  std::string json() const;
  std::string fingerprint() const;
  std::string version() const;
  std::vector<std::pair<std::string, sim::MetricValue>> summary() const;

  Columns events() const;
  Columns intervals() const;
  Columns series() const;
  Columns endpoints() const;
  Columns expectations() const;

 private:
  std::shared_ptr<const sim::Scenario> scenario_;  // the judgements point into it
  sim::Timeline timeline_;
  std::vector<sim::Judgement> judgements_;
};

}  // namespace halfopen::python
