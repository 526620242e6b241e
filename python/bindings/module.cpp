// The private module halfopen._core: what is in it, area by area. The package around it is the public face.
#include "python/bindings/bindings.hpp"
#include "sim/writer_parts.hpp"

PYBIND11_MODULE(_core, m) {
  using namespace halfopen::python;
  m.doc() = "The C++ side of halfopen. Private: use the package.";
  m.attr("__version__") = py::str(std::string(halfopen::sim::version()));
  // Classes come before whatever names them in a signature, or the signature would show their C++ names.
  bind_mistakes(m);
  bind_scenario(m);
  bind_table(m);
  bind_run(m);
  bind_sweep(m);
  bind_machines(m);
  bind_analysis(m);
  bind_lint(m);
  bind_description(m);
}
