// What each area adds to the module. One file an area; module.cpp calls them all.
#pragma once

#include <pybind11/pybind11.h>

namespace halfopen::python {

namespace py = pybind11;

void bind_mistakes(py::module_& m);  // first: everybody's errors
void bind_scenario(py::module_& m);
void bind_table(py::module_& m);
void bind_run(py::module_& m);
void bind_sweep(py::module_& m);
void bind_machines(py::module_& m);
void bind_analysis(py::module_& m);
void bind_lint(py::module_& m);
void bind_description(py::module_& m);

}  // namespace halfopen::python
