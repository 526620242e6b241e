#include "python/bindings/run.hpp"

#include <pybind11/stl.h>

#include <chrono>
#include <cmath>
#include <optional>

#include "python/bindings/bindings.hpp"
#include "python/bindings/mistakes.hpp"
#include "python/bindings/table.hpp"
#include "sim/number_format.hpp"
#include "sim/simulation.hpp"
#include "sim/writer_json.hpp"
#include "sim/writer_parts.hpp"

namespace halfopen::python {

std::shared_ptr<Run> Run::simulate(const LoadedScenario& scenario, const std::function<bool()>& pause) {
  auto out = std::make_shared<Run>();
  out->scenario_ = scenario.shared();
  sim::RunHooks hooks;
  hooks.pause = pause;
  out->timeline_ = sim::simulate(*out->scenario_, hooks);
  out->judgements_ = sim::judge(*out->scenario_, out->timeline_);
  return out;
}

std::shared_ptr<Run> Run::read(std::string text, const std::string& name) {
  sim::TimelineBackRead read = sim::timeline_back(text, name);
  if (!read.back) throw BadFile(std::move(read.mistakes));
  auto out = std::make_shared<Run>();
  out->back_ = std::move(read.back);
  out->timeline_ = std::move(out->back_->timeline);
  out->judgements_ = std::move(out->back_->judgements);
  out->text_ = std::move(text);
  return out;
}

std::string Run::json() const {
  if (!back_) return sim::timeline_json(timeline_, judgements_);
  if (!back_->whole) {
    throw py::value_error(
        "this result was read from JSON lines, which leave intervals and series out: run the scenario "
        "again, or load what `halfopen run --format json` wrote");
  }
  return text_;
}

std::string Run::digest() const { return back_ ? back_->digest : sim::hex16(timeline_.digest); }
std::string Run::fingerprint() const {
  return back_ ? back_->fingerprint : sim::hex16(sim::fingerprint(timeline_));
}
std::string Run::version() const { return back_ ? back_->version : std::string(sim::version()); }

std::vector<std::pair<std::string, sim::MetricValue>> Run::summary() const {
  if (back_) return back_->summary;
  std::vector<std::pair<std::string, sim::MetricValue>> out;
  for (const sim::Metric& metric : sim::metrics()) {
    sim::MetricValue value = sim::measure(metric, timeline_);
    if (auto* const ms = std::get_if<double>(&value);
        ms != nullptr && metric.unit == "ms" && !std::isnan(*ms)) {
      *ms = static_cast<double>(std::llround(*ms * 1e6)) / 1e6;
    }
    out.emplace_back(metric.name, value);
  }
  return out;
}

namespace {

// Lets Python handle its signals a few times a second: Ctrl-C becomes KeyboardInterrupt there. In any thread
// but the first it does nothing, as Python has it.
class Signals {
 public:
  bool operator()() {
    const auto now = std::chrono::steady_clock::now();
    if (now - looked_ < std::chrono::milliseconds(50)) return true;
    looked_ = now;
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    return true;
  }

 private:
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
};

std::shared_ptr<Run> simulate(const LoadedScenario& scenario) { return Run::simulate(scenario, Signals()); }

py::dict summary_dict(const Run& run) {
  py::dict out;
  for (const auto& [name, value] : run.summary()) {
    if (const auto* count = std::get_if<std::uint64_t>(&value)) {
      out[py::str(name)] = *count;
    } else {
      out[py::str(name)] = sim::as_number(value);
    }
  }
  return out;
}

py::list expectations_list(const Run& run) {
  py::list out;
  for (const sim::Judgement& judgement : run.judgements()) {
    out.append(
        py::make_tuple(judgement.held, judgement.expectation->text, judgement.expected, judgement.got));
  }
  return out;
}

}  // namespace

void bind_run(py::module_& m) {
  const auto release = py::call_guard<py::gil_scoped_release>();
  const auto table = [](Columns (Run::*make)() const) {
    return [make](const Run& self) { return Table{std::make_shared<const Columns>((self.*make)())}; };
  };
  py::class_<Run, std::shared_ptr<Run>>(m, "Run", "What came out of one run.")
      .def_static(
          "read",
          [](const py::bytes& text, const std::string& name) {
            std::string bytes = text;
            const py::gil_scoped_release without;
            return Run::read(std::move(bytes), name);
          },
          py::arg("text"), py::arg("name"))
      .def("json", [](const Run& self) { return py::bytes(self.json()); })
      .def("source", [](const Run& self) { return py::bytes(self.source()); })
      .def(py::pickle([](const Run& self) { return py::bytes(self.source()); },
                      [](const py::bytes& text) { return Run::read(text, "<pickle>"); }))
      .def("summary", &summary_dict)
      .def("judgements", &expectations_list)
      .def_property_readonly("name", [](const Run& self) { return self.timeline().name; })
      .def_property_readonly("question", [](const Run& self) { return self.timeline().question; })
      .def_property_readonly("seed", [](const Run& self) { return self.timeline().seed; })
      .def_property_readonly("digest", &Run::digest)
      .def_property_readonly("fingerprint", &Run::fingerprint)
      .def_property_readonly("version", &Run::version)
      .def_property_readonly(
          "duration_ms", [](const Run& self) { return static_cast<double>(self.timeline().duration) / 1e6; })
      .def_property_readonly(
          "sample_ms", [](const Run& self) { return static_cast<double>(self.timeline().sample) / 1e6; })
      .def_property_readonly("upstreams", [](const Run& self) { return self.timeline().upstream_names; })
      .def("events", table(&Run::events))
      .def("intervals", table(&Run::intervals))
      .def("series", table(&Run::series))
      .def("endpoints", table(&Run::endpoints))
      .def("expectations", table(&Run::expectations));
  m.def("simulate", &simulate, py::arg("scenario"), release,
        "Runs it without the GIL; in the main thread, signals are handled some 20 times a second.");
}

}  // namespace halfopen::python
