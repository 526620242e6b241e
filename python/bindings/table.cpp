#include "python/bindings/table.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "python/bindings/arrow.hpp"
#include "python/bindings/bindings.hpp"

namespace halfopen::python {

namespace {

const Column& column_named(const Table& table, const std::string& name) {
  const Column* const column = table.columns->find(name);
  if (column == nullptr) throw py::key_error(name);
  return *column;
}

// A read-only view: the array's base keeps the owner of the numbers alive.
template <class T>
py::array view(const Column& column, const py::dtype& type) {
  auto* const kept = new std::shared_ptr<const void>(column.owner);
  const py::capsule base(kept, [](void* p) { delete static_cast<std::shared_ptr<const void>*>(p); });
  py::array out(type, {static_cast<py::ssize_t>(column.size)}, {static_cast<py::ssize_t>(sizeof(T))},
                column.data, base);
  py::detail::array_proxy(out.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return out;
}

py::array values(const Table& table, const std::string& name) {
  const Column& column = column_named(table, name);
  switch (column.kind) {
    // Signed, so that a difference of two may be below 0; no count reaches 2^63.
    case ColumnKind::count: return view<std::int64_t>(column, py::dtype::of<std::int64_t>());
    case ColumnKind::number: return view<double>(column, py::dtype::of<double>());
    case ColumnKind::flag: return view<std::uint8_t>(column, py::dtype::of<bool>());
    case ColumnKind::code: return view<std::int32_t>(column, py::dtype::of<std::int32_t>());
    case ColumnKind::text: break;
  }
  throw py::type_error(name + " is a column of texts, which have no memory that NumPy could look at");
}

const char* kind_name(const Table& table, const std::string& name) {
  switch (column_named(table, name).kind) {
    case ColumnKind::count: return "count";
    case ColumnKind::number: return "number";
    case ColumnKind::flag: return "flag";
    case ColumnKind::code: return "code";
    case ColumnKind::text: return "text";
  }
  return "";
}

std::vector<std::string> names(const Table& table) {
  std::vector<std::string> out;
  for (const Column& column : table.columns->columns) out.push_back(column.name);
  return out;
}

// A capsule of one of Arrow's structs, which it releases unless its consumer has moved it out.
template <class Struct>
py::capsule capsule_of(Struct* made, const char* name) {
  return py::reinterpret_steal<py::capsule>(PyCapsule_New(made, name, [](PyObject* capsule) {
    auto* const held = static_cast<Struct*>(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
    if (held->release != nullptr) held->release(held);
    delete held;
  }));
}

py::capsule arrow_schema(const Table& table) {
  auto made = std::make_unique<ArrowSchema>();
  export_schema(*table.columns, made.get());
  return capsule_of(made.release(), "arrow_schema");
}

py::capsule arrow_stream(const Table& table) {
  auto made = std::make_unique<ArrowArrayStream>();
  export_stream(table.columns, made.get());
  return capsule_of(made.release(), "arrow_array_stream");
}

Words words(const Table& table, const std::string& name) {
  const Column& column = column_named(table, name);
  return column.words ? *column.words : Words{};
}

}  // namespace

void bind_table(py::module_& m) {
  py::class_<Table>(m, "Table", "Columns of equal length.")
      .def("__len__", [](const Table& self) { return self.columns->rows; })
      .def_property_readonly("names", &names)
      .def("kind", &kind_name, py::arg("name"), "count, number, flag, code or text.")
      .def(
          "nullable",
          [](const Table& self, const std::string& name) { return column_named(self, name).nullable; },
          py::arg("name"))
      .def("values", &values, py::arg("name"),
           "The numbers (of a code column: the codes, -1 for nothing), read-only, without a copy.")
      .def("arrow_schema", &arrow_schema)
      .def("arrow_stream", &arrow_stream)
      .def("words", &words, py::arg("name"), "Of a code column its categories, of a text column its rows.");
}

}  // namespace halfopen::python
