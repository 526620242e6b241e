// A sweep: the same scenario for every combination of some values of its settings, each with several seeds.
// Its runs are numbered from 1: the last parameter varies fastest but for the replicates, which vary fastest
// of all. Replicate 1 of a point has the point's own seed, the next one that seed + 1 and so on (modulo
// 2^64), and so the same replicate has the same luck at every point: what differs is due to the parameters.
// In place of every combination a plan may list its points, which are then swept in that order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/metrics.hpp"
#include "sim/scenario_json.hpp"

namespace halfopen::sim {

inline constexpr std::uint64_t MAX_SWEEP_RUNS = 10'000'000;

struct SweepParam {
  std::string pointer;              // JSON pointer of the setting; what LoadOptions::sets may name
  std::vector<std::string> values;  // JSON texts, at least one; none if the plan lists its points
};

struct SweepPlan {
  std::string text, file;  // the scenario; `file` names it in messages, files that it names are beside it
  LoadOptions load;        // sets: done before the parameters. seed: of each point's first replicate
  std::vector<SweepParam> params;
  std::uint64_t replicates = 1;
  // If there are any: these in place of every combination; each a JSON text for every parameter.
  std::vector<std::vector<std::string>> points{};
};

// How many runs it has; none: more than MAX_SWEEP_RUNS.
std::optional<std::uint64_t> sweep_size(const SweepPlan& plan);

// Why the plan can't be swept at all, as a sentence: too many runs, one setting given twice, a point without
// all its values.
std::optional<std::string> sweep_problem(const SweepPlan& plan);

struct SweepRun {
  std::uint64_t number = 1;     // from 1
  std::uint64_t point = 0;      // which combination of values, from 0
  std::uint64_t replicate = 1;  // from 1
};

// Some of a sweep's runs: first, first + stride, …, or those at these places of a list.
struct SweepRuns {
  std::uint64_t first = 1, stride = 1, count = 0;
  std::shared_ptr<const std::vector<std::uint64_t>> listed{};  // ascending

  std::uint64_t number(std::uint64_t n) const { return listed ? (*listed)[place(n)] : place(n); }
  SweepRuns without_first(std::uint64_t n) const { return {place(n), stride, count - n, listed}; }

 private:
  std::uint64_t place(std::uint64_t n) const { return first + n * stride; }
};

// What came out of one run.
struct SweepRecord {
  SweepRun run;
  std::uint64_t seed = 1, digest = 0, fingerprint = 0;
  std::uint64_t expectations = 0, held = 0;
  std::vector<MetricValue> metrics;  // every one of metrics(), of the whole run
};

// A mistake that combinations of values make, and in how many of them.
struct SweepMistake {
  Mistake mistake;
  SweepRun first;  // the first run of the first of those points
  std::uint64_t points = 1;
};

// A point that was in order could not be read again: a file that it names has changed meanwhile.
class SweepChanged : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct SweepWork {
  unsigned threads = 0;         // 0: as many as there are processors
  std::function<bool()> pause;  // see in_order.hpp; false ends the work early, runs under way with it
  bool as_done = false;  // execute() hands over what is done, before each pause, whatever came before it
};

class Sweep {
 public:
  // The plan must have no sweep_problem.
  explicit Sweep(SweepPlan plan);

  const SweepPlan& plan() const { return plan_; }
  std::uint64_t size() const { return size_; }
  SweepRuns all() const { return {1, 1, size_}; }
  SweepRuns only(std::uint64_t number) const { return {number, 1, 1}; }  // 1 … size()
  static SweepRuns listed(std::vector<std::uint64_t> numbers);  // each of them 1 … size(), ascending
  // Shard `index` of `of`, from 1; each run is in exactly one of them, and they differ by one run at most.
  SweepRuns shard(std::uint64_t index, std::uint64_t of) const;

  SweepRun run(std::uint64_t number) const;
  const std::string& value(const SweepRun& run, std::size_t param) const;

  // Reads the scenario at every point of `runs`, so that nothing runs before all is known to be in order, and
  // keeps what fits into a budget for execute(). Each distinct mistake comes once; warnings are among them.
  // Stops looking at MAX_BAD_POINTS bad points.
  static constexpr std::uint64_t MAX_BAD_POINTS = 1000;
  std::vector<SweepMistake> prepare(const SweepRuns& runs, const SweepWork& work);

  // Of runs whose points are in order. Throw SweepChanged.
  std::uint64_t seed(const SweepRun& run);
  std::uint64_t digest(const SweepRun& run);

  // Runs them and hands over what came out, on the calling thread and, unless `as_done`, in order. Throws
  // SweepChanged, and what `hand_over` and `pause` throw.
  void execute(const SweepRuns& runs, const SweepWork& work,
               const std::function<void(SweepRecord&&)>& hand_over);

 private:
  struct Point;
  struct Read;
  class Runner;
  using PointPtr = std::shared_ptr<const Point>;

  // With the seed of its first replicate, or another one.
  Read read(std::uint64_t point, std::optional<std::uint64_t> seed = std::nullopt) const;
  // Read again, or kept from before. Throw SweepChanged.
  PointPtr again(std::uint64_t point, std::optional<std::uint64_t> seed = std::nullopt) const;
  PointPtr find(std::uint64_t point) const;

  SweepPlan plan_;
  std::uint64_t size_ = 0;
  mutable std::mutex mutex_;  // of kept_: whoever watches execute() may prepare() more meanwhile
  std::map<std::uint64_t, PointPtr> kept_;  // changed by prepare() alone
  std::uint64_t last_point_ = 0;            // of seed() and digest(), which are asked run by run
  PointPtr last_;
};

}  // namespace halfopen::sim
