#include "python/bindings/mistakes.hpp"

#include <pybind11/gil_safe_call_once.h>
#include <pybind11/stl.h>

#include <utility>

#include "python/bindings/bindings.hpp"

namespace halfopen::python {

namespace {

std::string text_of(const std::vector<sim::Mistake>& mistakes) {
  std::string out;
  for (const sim::Mistake& mistake : mistakes) {
    if (!out.empty()) out += '\n';
    out += mistake.text();
  }
  return out;
}

// The class is Python's own, so that it pickles and can be subclassed; it is looked up at the first mistake.
py::object& error_class() {
  PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<py::object> storage;
  return storage
      .call_once_and_store_result(
          [] { return py::object(py::module_::import("halfopen.errors").attr("ScenarioError")); })
      .get_stored();
}

void translate(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(pointer);
  } catch (const BadFile& error) {
    const py::object value = error_class()(error.what(), mistakes_tuple(error.mistakes()));
    PyErr_SetObject(error_class().ptr(), value.ptr());
  }
}

}  // namespace

BadFile::BadFile(std::vector<sim::Mistake> mistakes)
    : mistakes_(std::move(mistakes)), text_(text_of(mistakes_)) {}

py::tuple mistakes_tuple(const std::vector<sim::Mistake>& mistakes) {
  py::tuple out(mistakes.size());
  for (std::size_t n = 0; n < mistakes.size(); ++n) out[n] = py::cast(mistakes[n]);
  return out;
}

void bind_mistakes(py::module_& m) {
  using sim::Mistake;
  py::class_<Mistake>(m, "Mistake", "One thing that is wrong with a file, or will surprise its author.")
      .def_readonly("file", &Mistake::file, "The name of the file or text.")
      .def_readonly("line", &Mistake::line, "From 1; 0 where there is no place.")
      .def_readonly("column", &Mistake::column, "From 1, counted in bytes; 0 where there is no place.")
      .def_readonly("pointer", &Mistake::pointer, "JSON pointer of what is meant; empty: the whole file.")
      .def_readonly("message", &Mistake::what, "What is wrong, and what would be right.")
      .def_readonly("warning", &Mistake::warning, "The scenario is usable all the same.")
      .def("__str__", &Mistake::text)
      .def("__repr__", [](const Mistake& self) { return "<Mistake " + self.text() + ">"; })
      .def("__eq__",
           [](const Mistake& self, const py::object& other) {
             return py::isinstance<Mistake>(other) && self.text() == other.cast<const Mistake&>().text();
           })
      .def("__hash__", [](const Mistake& self) { return py::hash(py::str(self.text())); })
      .def(py::pickle(
          [](const Mistake& self) {
            return py::make_tuple(self.file, self.line, self.column, self.pointer, self.what, self.warning);
          },
          [](const py::tuple& state) {
            return Mistake{state[0].cast<std::string>(),   state[1].cast<std::uint32_t>(),
                           state[2].cast<std::uint32_t>(), state[3].cast<std::string>(),
                           state[4].cast<std::string>(),   state[5].cast<bool>()};
          }));
  py::register_local_exception_translator(&translate);
}

}  // namespace halfopen::python
