// The linter's findings as tuples, in the order of halfopen.Finding's fields; values as JSON texts.
#include "sim/lint.hpp"

#include <pybind11/stl.h>

#include <cstdint>
#include <string>
#include <vector>

#include "python/bindings/bindings.hpp"
#include "python/bindings/scenario.hpp"
#include "sim/lint_words.hpp"

namespace halfopen::python {

namespace {

py::tuple finding_row(const sim::LintFinding& finding) {
  py::list numbers, instead;
  for (const sim::LintNumber& number : finding.numbers)
    numbers.append(py::make_tuple(number.what, number.value, number.unit));
  for (const auto& alternative : finding.instead_values) {
    py::dict changes;
    for (const sim::LintChange& change : alternative) changes[py::str(change.pointer)] = change.value;
    instead.append(changes);
  }
  return py::make_tuple(finding.id, std::string(sim::lint_level_name(finding.level)), finding.upstream,
                        finding.pointers, finding.sentence, finding.why, numbers, finding.instead, instead,
                        finding.shown_by, sim::lint_finding_words(finding));
}

py::list lint(const LoadedScenario& scenario, std::uint64_t balancers) {
  std::vector<sim::LintFinding> findings;
  {
    const py::gil_scoped_release release;
    findings = sim::lint(scenario.scenario(), {balancers});
  }
  py::list out;
  for (const sim::LintFinding& finding : findings) out.append(finding_row(finding));
  return out;
}

}  // namespace

void bind_lint(py::module_& m) {
  m.attr("MOST_BALANCERS") = sim::MOST_BALANCERS;
  m.def("lint", &lint, py::arg("scenario"), py::arg("balancers"),
        "(id, level, upstream, pointers, sentence, why, numbers, instead, instead_values, shown_by, text) of "
        "each finding.");
}

}  // namespace halfopen::python
