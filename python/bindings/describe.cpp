// What C++ says of itself: metrics, schemas, draws. The package's tables of names are tested against these.
#include <pybind11/stl.h>

#include <array>
#include <cstdint>
#include <string>

#include "core/random.hpp"
#include "python/bindings/bindings.hpp"
#include "sim/draws.hpp"
#include "sim/metrics.hpp"
#include "sim/schema_json.hpp"

namespace halfopen::python {

namespace {

py::list metric_rows() {
  py::list out;
  for (const sim::Metric& metric : sim::metrics()) {
    out.append(py::make_tuple(std::string(metric.name), std::string(metric.unit), metric.takes_endpoint,
                              metric.takes_between, std::string(metric.about)));
  }
  return out;
}

}  // namespace

void bind_description(py::module_& m) {
  m.def("metrics", &metric_rows,
        "(name, unit, takes_endpoint, takes_between, about) of each, in documented order.");
  m.def("scenario_schema", &sim::scenario_schema, "JSON Schema (draft-07) of scenarios, as text.");
  m.def("timeline_schema", &sim::timeline_schema, "JSON Schema (draft-07) of timelines, as text.");
  m.def("philox4x64_10", &philox4x64_10, py::arg("counter"), py::arg("key"),
        "One block of Philox4x64-10, four words in Random123's order.");
  m.def(
      "draw",
      [](std::uint64_t seed, const std::string& stream, std::uint64_t index, std::uint32_t tryn,
         std::uint32_t attempt, std::uint64_t entry,
         std::uint64_t kind) { return sim::Stream(seed, stream).unit(index, tryn, attempt, entry, kind); },
      py::arg("seed"), py::arg("stream"), py::arg("index"), py::arg("tryn") = 0, py::arg("attempt") = 0,
      py::arg("entry") = 0, py::arg("kind") = 0, "One draw in [0, 1) of a named stream.");
}

}  // namespace halfopen::python
