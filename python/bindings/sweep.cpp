// Sweeps: numbered runs on all cores without the GIL, what came out as columns.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "python/bindings/bindings.hpp"
#include "python/bindings/mistakes.hpp"
#include "python/bindings/scenario.hpp"
#include "sim/number_format.hpp"
#include "sim/sweep.hpp"

namespace halfopen::python {

namespace {

using Clock = std::chrono::steady_clock;
using Numbers = std::vector<std::uint64_t>;
constexpr std::chrono::milliseconds LOOK{50};

// A sweep that lists its points, and what messages call its scenario.
struct BoundSweep {
  sim::Sweep sweep;
  std::string name;
};

std::unique_ptr<BoundSweep> make_sweep(const LoadedScenario& scenario, std::optional<std::uint64_t> seed,
                                       const std::vector<std::string>& pointers,
                                       std::vector<std::vector<std::string>> points,
                                       std::uint64_t replicates) {
  const LoadedScenario::Origin& origin = scenario.origin();
  sim::SweepPlan plan;
  plan.text = origin.text;
  plan.file = origin.file;
  plan.load = origin.options;
  const bool sets_seed = std::find(pointers.begin(), pointers.end(), "/seed") != pointers.end();
  if (seed || sets_seed) plan.load.seed = seed;  // the later word wins
  for (const std::string& pointer : pointers) plan.params.push_back({pointer, {}});
  plan.replicates = replicates;
  plan.points = std::move(points);
  if (plan.points.empty()) throw py::value_error("a sweep needs at least one point");
  if (const auto problem = sim::sweep_problem(plan)) throw py::value_error(*problem);
  return std::unique_ptr<BoundSweep>(new BoundSweep{sim::Sweep(std::move(plan)), origin.name});
}

sim::SweepRuns chosen(const sim::Sweep& sweep, Numbers numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (!numbers.empty() && (numbers.front() < 1 || numbers.back() > sweep.size())) {
    throw py::index_error("runs are numbered from 1 to " + std::to_string(sweep.size()));
  }
  return sim::Sweep::listed(std::move(numbers));
}

// Looks after Python's signals while C++ works: what a handler raises is kept for later, so that nothing that
// is done gets lost.
class Signals {
 public:
  bool go_on() {
    const auto now = Clock::now();
    if (now - looked_ < LOOK) return true;
    looked_ = now;
    const py::gil_scoped_acquire gil;
    return keep([] {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    });
  }

  // With the GIL. False: it raised.
  template <class Call>
  bool keep(const Call& call) {
    if (raised_) return false;
    try {
      call();
    } catch (const py::error_already_set& error) {
      raised_ = error;
    }
    return !raised_;
  }

  void raise() const {
    if (raised_) throw py::error_already_set(*raised_);
  }

 private:
  Clock::time_point looked_ = Clock::now();
  std::optional<py::error_already_set> raised_;
};

// A mistake as its author can use it: with the runs that make it.
sim::Mistake told(const sim::SweepMistake& found, const BoundSweep& self) {
  sim::Mistake mistake = found.mistake;
  called(mistake, self.sweep.plan().file, self.name);
  for (std::size_t n = 0; n < self.sweep.plan().params.size(); ++n) {
    of_a_change(mistake, self.sweep.plan().params[n].pointer, self.sweep.value(found.first, n));
  }
  mistake.what += " (first in run " + std::to_string(found.first.number);
  if (found.points > 1) mistake.what += ", " + std::to_string(found.points) + " points in all";
  mistake.what += ")";
  return mistake;
}

py::tuple prepare(BoundSweep& self, Numbers numbers, unsigned threads) {
  Signals signals;
  std::vector<sim::Mistake> mistakes;
  {
    const py::gil_scoped_release release;
    const sim::SweepRuns runs = chosen(self.sweep, std::move(numbers));
    for (const sim::SweepMistake& found :
         self.sweep.prepare(runs, {threads, [&signals] { return signals.go_on(); }})) {
      mistakes.push_back(told(found, self));
    }
  }
  signals.raise();
  const bool bad = std::any_of(mistakes.begin(), mistakes.end(), [](const auto& m) { return !m.warning; });
  if (bad) throw BadFile(std::move(mistakes));
  return mistakes_tuple(mistakes);
}

py::list hex_list(const Numbers& values) {
  py::list out;
  for (const std::uint64_t value : values) out.append(sim::hex16(value));
  return out;
}

py::array array_of(const Numbers& values) {
  return py::array_t<std::uint64_t>(static_cast<py::ssize_t>(values.size()), values.data());
}

py::tuple identities(BoundSweep& self, Numbers numbers) {
  Numbers seeds, digests;
  {
    const py::gil_scoped_release release;
    const sim::SweepRuns runs = chosen(self.sweep, std::move(numbers));
    for (std::uint64_t n = 0; n < runs.count; ++n) {
      const sim::SweepRun run = self.sweep.run(runs.number(n));
      seeds.push_back(self.sweep.seed(run));
      digests.push_back(self.sweep.digest(run));
    }
  }
  return py::make_tuple(array_of(seeds), hex_list(digests));
}

// What some runs have come to, by column; a metric is a column of whole numbers if all of them are counts.
py::dict columns(const std::vector<sim::SweepRecord>& records) {
  const auto counts = [&records](const auto& get) {
    py::array_t<std::int64_t> out(static_cast<py::ssize_t>(records.size()));
    auto* const to = out.mutable_data();
    for (std::size_t n = 0; n < records.size(); ++n) to[n] = static_cast<std::int64_t>(get(records[n]));
    return out;
  };
  const auto words = [&records](const auto& get) {
    Numbers out;
    for (const sim::SweepRecord& record : records) out.push_back(get(record));
    return out;
  };
  py::dict out;
  out["run"] = counts([](const auto& record) { return record.run.number; });
  out["seed"] = array_of(words([](const auto& record) { return record.seed; }));
  for (std::size_t m = 0; m < sim::metrics().size(); ++m) {
    const py::str name(std::string(sim::metrics()[m].name));
    const bool whole = std::all_of(records.begin(), records.end(), [m](const auto& record) {
      return std::holds_alternative<std::uint64_t>(record.metrics[m]);
    });
    if (whole) {
      out[name] = counts([m](const auto& record) { return std::get<std::uint64_t>(record.metrics[m]); });
      continue;
    }
    py::array_t<double> numbers(static_cast<py::ssize_t>(records.size()));
    std::transform(records.begin(), records.end(), numbers.mutable_data(), [m](const auto& record) {
      return std::visit([](const auto value) { return static_cast<double>(value); }, record.metrics[m]);
    });
    out[name] = numbers;
  }
  out["expectations"] = counts([](const auto& record) { return record.expectations; });
  out["held"] = counts([](const auto& record) { return record.held; });
  out["fingerprint"] = hex_list(words([](const auto& record) { return record.fingerprint; }));
  out["digest"] = hex_list(words([](const auto& record) { return record.digest; }));
  return out;
}

// Hands over what is done every `every_s` seconds and at the end, also if that is an interrupt.
void execute(BoundSweep& self, Numbers numbers, unsigned threads, double every_s, const py::object& take) {
  const std::chrono::duration<double> every(every_s);
  Signals signals;
  std::vector<sim::SweepRecord> records;
  auto handed = Clock::now();
  const auto hand_over = [&] {  // with the GIL
    handed = Clock::now();
    if (!records.empty()) take(columns(std::exchange(records, {})));
  };
  const auto pause = [&] {
    if (!signals.go_on()) return false;
    if (records.empty() || Clock::now() - handed < every) return true;
    const py::gil_scoped_acquire gil;
    return signals.keep(hand_over);
  };
  try {
    const py::gil_scoped_release release;
    const sim::SweepRuns runs = chosen(self.sweep, std::move(numbers));
    self.sweep.execute(runs, {threads, pause, true},
                       [&records](sim::SweepRecord&& record) { records.push_back(std::move(record)); });
  } catch (const sim::SweepChanged& error) {
    hand_over();
    throw std::runtime_error("a file that the scenario names has changed during the sweep: " +
                             std::string(error.what()));
  }
  hand_over();
  signals.raise();
}

}  // namespace

void bind_sweep(py::module_& m) {
  py::class_<BoundSweep>(m, "Sweep", "Numbered runs of one scenario at several points, several seeds each.")
      .def(py::init(&make_sweep), py::arg("scenario"), py::arg("seed"), py::arg("pointers"),
           py::arg("points"), py::arg("replicates"))
      .def("__len__", [](const BoundSweep& self) { return self.sweep.size(); })
      .def("prepare", &prepare, py::arg("numbers"), py::arg("threads") = 0,
           "Reads the scenario at every point of those runs; its warnings. Raises ScenarioError.")
      .def("identities", &identities, py::arg("numbers"), "Seeds and digests of runs, ascending.")
      .def("execute", &execute, py::arg("numbers"), py::arg("threads"), py::arg("every_s"), py::arg("take"),
           "Runs them in any order without the GIL; `take(columns)` gets what is done, on this thread.");
  m.attr("MAX_SWEEP_RUNS") = sim::MAX_SWEEP_RUNS;
}

}  // namespace halfopen::python
