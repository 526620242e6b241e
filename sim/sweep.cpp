#include "sim/sweep.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
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

// The points that runs touch, in order. Runs of a shard or a list may skip some.
class Points {
 public:
  Points(const SweepRuns& runs, std::uint64_t replicates) : runs_(runs), replicates_(replicates) {
    if (!runs.listed) return;
    for (std::uint64_t n = 0; n < runs.count; ++n) {
      const std::uint64_t point = of_run(n);
      if (listed_.empty() || listed_.back() != point) listed_.push_back(point);
    }
  }

  std::uint64_t number(std::uint64_t n) const {
    if (runs_.listed) return listed_[n];
    return skips() ? of_run(n) : of_run(0) + n;
  }

  std::uint64_t count() const {
    if (runs_.listed) return listed_.size();
    if (runs_.count == 0 || skips()) return runs_.count;
    return of_run(runs_.count - 1) - of_run(0) + 1;
  }

 private:
  bool skips() const { return runs_.stride > replicates_; }
  std::uint64_t of_run(std::uint64_t n) const { return (runs_.number(n) - 1) / replicates_; }

  const SweepRuns& runs_;
  std::uint64_t replicates_;
  std::vector<std::uint64_t> listed_;
};

}  // namespace

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

Sweep::Sweep(SweepPlan plan) : plan_(std::move(plan)), size_(sweep_size(plan_).value_or(0)) {}

SweepRuns Sweep::listed(std::vector<std::uint64_t> numbers) {
  const std::uint64_t count = numbers.size();
  return {0, 1, count, std::make_shared<const std::vector<std::uint64_t>>(std::move(numbers))};
}

SweepRuns Sweep::shard(std::uint64_t index, std::uint64_t of) const {
  return {index, of, index > size_ ? 0 : (size_ - index) / of + 1};
}

SweepRun Sweep::run(std::uint64_t number) const {
  return {number, (number - 1) / plan_.replicates, (number - 1) % plan_.replicates + 1};
}

const std::string& Sweep::value(const SweepRun& run, std::size_t param) const {
  if (!plan_.points.empty()) return plan_.points[run.point][param];
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
  {
    const std::lock_guard lock(mutex_);
    if (const auto kept = kept_.find(point); kept != kept_.end()) return kept->second;
  }
  return again(point);
}

std::vector<SweepMistake> Sweep::prepare(const SweepRuns& runs, const SweepWork& work) {
  const Points points{runs, plan_.replicates};
  // Roughly what a scenario becomes in memory: its text and structs of a few times that size.
  const std::size_t room = KEPT_BYTES / (plan_.text.size() * 6 + 4096);
  std::vector<SweepMistake> out;
  std::map<std::string, std::size_t> known;  // text of a mistake, its place in `out`
  std::uint64_t done = 0, bad = 0;
  std::map<std::uint64_t, PointPtr> kept;
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
    if (made.point && kept.size() < room) kept.emplace_hint(kept.end(), point, std::move(made.point));
  };
  in_order<Read>(points.count(), work.threads, make_reader, take,
                 [&work, &bad] { return bad < MAX_BAD_POINTS && (!work.pause || work.pause()); });
  const std::lock_guard lock(mutex_);
  kept_.swap(kept);
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
  Runner(const Sweep& sweep, const SweepRuns& runs, const std::atomic<bool>& stopping)
      : sweep_(sweep), runs_(runs) {
    hooks_.pause = [&stopping] { return !stopping; };
  }

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
    const Timeline timeline = simulate(scenario_, hooks_);
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
  RunHooks hooks_;
};

void Sweep::execute(const SweepRuns& runs, const SweepWork& work,
                    const std::function<void(SweepRecord&&)>& hand_over) {
  // Whatever ends the work early also ends the runs under way, which could take long.
  std::atomic<bool> stopping = false;
  const auto watched = [&stopping](const auto& step) {
    try {
      return step();
    } catch (...) {
      stopping = true;
      throw;
    }
  };
  const auto pause = [&] {
    const bool go_on = watched([&work] { return !work.pause || work.pause(); });
    if (!go_on) stopping = true;
    return go_on;
  };
  const auto give = [&](SweepRecord&& record) { watched([&] { hand_over(std::move(record)); }); };
  const auto make_runner = [&] { return Runner(*this, runs, stopping); };
  if (!work.as_done) return in_order<SweepRecord>(runs.count, work.threads, make_runner, give, pause);

  std::mutex mutex;
  std::vector<SweepRecord> done;
  const auto make_putter = [&] {
    return [&mutex, &done, runner = make_runner()](std::uint64_t n) mutable {
      SweepRecord record = runner(n);
      const std::lock_guard lock(mutex);
      done.push_back(std::move(record));
      return char{};
    };
  };
  const auto drain = [&] {
    std::vector<SweepRecord> taken;
    {
      const std::lock_guard lock(mutex);
      taken.swap(done);
    }
    for (SweepRecord& record : taken) give(std::move(record));
  };
  in_order<char>(
      runs.count, work.threads, make_putter, [](char) {},
      [&] {
        drain();
        return pause();
      });
  drain();
}

}  // namespace halfopen::sim
