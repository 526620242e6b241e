// One run: its timeline and what became of the scenario's expectations, fresh or read back from a file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/bindings/columns.hpp"
#include "python/bindings/scenario.hpp"
#include "sim/expectations.hpp"
#include "sim/metrics.hpp"
#include "sim/timeline.hpp"
#include "sim/timeline_back_json.hpp"

namespace halfopen::python {

class Run : public std::enable_shared_from_this<Run> {
 public:
  // Throws sim::RunStopped, and whatever `pause` throws.
  static std::shared_ptr<Run> simulate(const LoadedScenario& scenario, const std::function<bool()>& pause);

  // What a file says, halfopen.timeline/1 as one document or as JSON lines. Throws BadFile.
  static std::shared_ptr<Run> read(std::string text, const std::string& name);

  const sim::Timeline& timeline() const { return timeline_; }
  const std::vector<sim::Judgement>& judgements() const { return judgements_; }

  // One document. Throws ValueError for what was read from JSON lines, which leave half of it out.
  std::string json() const;
  // What read() makes the same run of.
  std::string source() const { return back_ ? text_ : json(); }
  std::string digest() const;
  std::string fingerprint() const;
  std::string version() const;
  // ms to the nearest ns, as they are written; NaN: nothing was measured.
  std::vector<std::pair<std::string, sim::MetricValue>> summary() const;

  Columns events() const;
  Columns intervals() const;
  Columns series() const;
  Columns endpoints() const;
  Columns expectations() const;

 private:
  std::shared_ptr<const sim::Scenario> scenario_;  // of a fresh run: the judgements point into it
  std::optional<sim::TimelineBack> back_;          // of a file: the judgements point into it
  std::string text_;                               // of a file
  sim::Timeline timeline_;
  std::vector<sim::Judgement> judgements_;
};

}  // namespace halfopen::python
