// The exact answers for a scenario's settings, as text and as the JSON that the command line writes.
#include "sim/analysis.hpp"

#include <pybind11/stl.h>

#include <optional>
#include <string>

#include "python/bindings/bindings.hpp"
#include "python/bindings/scenario.hpp"
#include "sim/writer_analysis.hpp"

namespace halfopen::python {

namespace {

py::tuple analyze(const LoadedScenario& scenario, std::optional<double> rate_rps,
                  std::optional<double> healthy_error_ratio, std::optional<double> sick_error_ratio) {
  std::string text, json;
  {
    const py::gil_scoped_release release;
    const sim::Analysis analysis =
        sim::analyze(scenario.scenario(), {rate_rps, healthy_error_ratio, sick_error_ratio});
    text = sim::analysis_text(analysis);
    json = sim::analysis_json(analysis);
  }
  return py::make_tuple(text, json);
}

}  // namespace

void bind_analysis(py::module_& m) {
  m.def("analyze", &analyze, py::arg("scenario"), py::arg("rate_rps"), py::arg("healthy_error_ratio"),
        py::arg("sick_error_ratio"), "(text, JSON) of the exact answers.");
}

}  // namespace halfopen::python
