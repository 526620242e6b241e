#include "sim/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/hash.hpp"
#include "sim/expectations.hpp"
#include "sim/in_order.hpp"
#include "sim/json_source.hpp"
#include "sim/simulation.hpp"
#include "sim/sweep_json.hpp"
#include "sim/writer_parts.hpp"

namespace halfopen::sim {

namespace {

constexpr std::size_t KEPT_BYTES = std::size_t{256} << 20;

// Whether whoever sets `outer` undoes what was set at `inner`.
bool holds(const std::string& outer, const std::string& inner) {
  return inner == outer || inner.starts_with(outer + '/');
}

// The runs of a shard may skip points; the n-th of the points they touch.
struct Points {
  const SweepRuns& runs;
  std::uint64_t replicates;

  std::uint64_t number(std::uint64_t n) const {
    if (runs.stride > replicates) return (runs.number(n) - 1) / replicates;
    return (runs.first - 1) / replicates + n;
  }

  std::uint64_t count() const {
    if (runs.count == 0 || runs.stride > replicates) return runs.count;
    return (runs.number(runs.count - 1) - 1) / replicates - (runs.first - 1) / replicates + 1;
  }
};

}  // namespace

std::optional<std::string> sweep_problem(const SweepPlan& plan) {
  std::uint64_t runs = plan.replicates;
  bool too_many = runs > MAX_SWEEP_RUNS;
  for (std::size_t n = 0; n < plan.params.size(); ++n) {
    const SweepParam& param = plan.params[n];
    const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
    if (std::any_of(param.pointer.begin(), param.pointer.end(), control)) {
      return "a parameter's pointer has control characters, and could not be the name of a column";
    }
    if (param.values.empty()) return fmt::format("{} has no values", param.pointer);
    for (std::size_t earlier = 0; earlier < n; ++earlier) {
      const std::string& other = plan.params[earlier].pointer;
      if (other == param.pointer) return fmt::format("{} is given twice: give all its values at once", other);
      if (holds(param.pointer, other)) {
        return fmt::format("{} would undo {}, which is inside it: give it first", param.pointer, other);
      }
    }
    if (param.pointer == "/seed" && plan.load.seed) {
      return "a seed is given, which would undo every value of /seed: leave one of them away";
    }
    too_many = too_many || param.values.size() > MAX_SWEEP_RUNS / std::max<std::uint64_t>(runs, 1);
    if (!too_many) runs *= param.values.size();
  }
  if (runs == 0) return "there is nothing to run with 0 replicates";
  if (too_many) return fmt::format("the sweep has more than {} runs: sweep parts of it", MAX_SWEEP_RUNS);
  return std::nullopt;
}

// A scenario with the values of one point, and its effective JSON around the seed, over which the digest of
// each replicate is taken.
struct Sweep::Point {
  Scenario scenario;
  std::string before_seed, after_seed;

  std::uint64_t seed(const SweepRun& run) const { return scenario.seed + (run.replicate - 1); }

  std::uint64_t digest(std::uint64_t seed) const {
    StableHash hash;
    hash.add(before_seed);
    hash.add(std::to_string(seed));
    hash.add(after_seed);
    return hash.finish();
  }
};

struct Sweep::Read {
  PointPtr point;  // none if there is a mistake that is no warning
  std::vector<Mistake> mistakes;
};

Sweep::Sweep(SweepPlan plan) : plan_(std::move(plan)), size_(plan_.replicates) {
  for (const SweepParam& param : plan_.params) size_ *= param.values.size();
}

SweepRuns Sweep::shard(std::uint64_t index, std::uint64_t of) const {
  return {index, of, index > size_ ? 0 : (size_ - index) / of + 1};
}

SweepRun Sweep::run(std::uint64_t number) const {
  return {number, (number - 1) / plan_.replicates, (number - 1) % plan_.replicates + 1};
}

const std::string& Sweep::value(const SweepRun& run, std::size_t param) const {
  std::uint64_t rest = run.point;
  for (std::size_t n = plan_.params.size() - 1; n > param; --n) rest /= plan_.params[n].values.size();
  const std::vector<std::string>& values = plan_.params[param].values;
  return values[rest % values.size()];
}

Sweep::Read Sweep::read(std::uint64_t point, std::optional<std::uint64_t> seed) const {
  const SweepRun run = this->run(point * plan_.replicates + 1);
  LoadOptions options = plan_.load;
  if (seed) options.seed = seed;
  for (std::size_t n = 0; n < plan_.params.size(); ++n) {
    options.sets.emplace_back(plan_.params[n].pointer, value(run, n));
  }
  Loaded loaded = load_scenario_text(plan_.text, plan_.file, options);
  Read out{nullptr, std::move(loaded.mistakes)};
  if (!loaded.scenario) return out;
  Point made{*std::move(loaded.scenario), "", ""};
  if (!cut_at_seed(loaded.effective_json, made.before_seed, made.after_seed)) {
    throw std::logic_error("an effective scenario has no seed");
  }
  out.point = std::make_shared<const Point>(std::move(made));
  return out;
}

Sweep::PointPtr Sweep::again(std::uint64_t point, std::optional<std::uint64_t> seed) const {
  Read made = read(point, seed);
  if (made.point) return made.point;
  throw SweepChanged(made.mistakes.empty() ? plan_.file : made.mistakes.front().text());
}

Sweep::PointPtr Sweep::find(std::uint64_t point) const {
  const auto kept = kept_.find(point);
  return kept != kept_.end() ? kept->second : again(point);
}

std::vector<SweepMistake> Sweep::prepare(const SweepRuns& runs, const SweepWork& work) {
  const Points points{runs, plan_.replicates};
  // Roughly what a scenario becomes in memory: its text and structs of a few times that size.
  const std::size_t room = KEPT_BYTES / (plan_.text.size() * 6 + 4096);
  std::vector<SweepMistake> out;
  std::map<std::string, std::size_t> known;  // text of a mistake, its place in `out`
  std::uint64_t done = 0, bad = 0;
  kept_.clear();
  const auto make_reader = [this, &points] {
    return [this, &points](std::uint64_t n) { return read(points.number(n)); };
  };
  const auto take = [&](Read&& made) {
    const std::uint64_t point = points.number(done++);
    for (Mistake& mistake : made.mistakes) {
      const auto [at, is_new] = known.emplace(mistake.text(), out.size());
      if (is_new) {
        out.push_back({std::move(mistake), run(point * plan_.replicates + 1), 1});
      } else {
        ++out[at->second].points;
      }
    }
    if (!made.point) ++bad;
    if (made.point && kept_.size() < room) kept_.emplace_hint(kept_.end(), point, std::move(made.point));
  };
  in_order<Read>(points.count(), work.threads, make_reader, take,
                 [&work, &bad] { return bad < MAX_BAD_POINTS && (!work.pause || work.pause()); });
  return out;
}

std::uint64_t Sweep::seed(const SweepRun& run) {
  if (!last_ || last_point_ != run.point) {
    last_ = find(run.point);
    last_point_ = run.point;
  }
  return last_->seed(run);
}

std::uint64_t Sweep::digest(const SweepRun& run) {
  const std::uint64_t seed = this->seed(run);
  return last_->digest(seed);
}

// One thread's: keeps the scenario of its point, of which the next run changes only the seed.
class Sweep::Runner {
 public:
  Runner(const Sweep& sweep, const SweepRuns& runs) : sweep_(sweep), runs_(runs) {}

  SweepRecord operator()(std::uint64_t n) {
    SweepRecord out;
    out.run = sweep_.run(runs_.number(n));
    if (!point_ || number_ != out.run.point) {
      point_ = sweep_.find(out.run.point);
      number_ = out.run.point;
      scenario_ = point_->scenario;
    }
    out.seed = point_->seed(out.run);
    if (point_->scenario.drawn_from_seed) scenario_ = sweep_.again(number_, out.seed)->scenario;
    scenario_.seed = out.seed;
    scenario_.digest = out.digest = point_->digest(out.seed);
    const Timeline timeline = simulate(scenario_);
    const std::vector<Judgement> judgements = judge(scenario_, timeline);
    out.fingerprint = fingerprint(timeline);
    out.expectations = judgements.size();
    out.held = static_cast<std::uint64_t>(std::count_if(
        judgements.begin(), judgements.end(), [](const Judgement& judgement) { return judgement.held; }));
    for (const Metric& metric : metrics()) out.metrics.push_back(measure(metric, timeline));
    return out;
  }

 private:
  const Sweep& sweep_;
  const SweepRuns& runs_;
  std::uint64_t number_ = 0;
  PointPtr point_;
  Scenario scenario_;
};

void Sweep::execute(const SweepRuns& runs, const SweepWork& work,
                    const std::function<void(SweepRecord&&)>& hand_over) {
  in_order<SweepRecord>(
      runs.count, work.threads, [this, &runs] { return Runner(*this, runs); }, hand_over, work.pause);
}

}  // namespace halfopen::sim
