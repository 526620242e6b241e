// What is wrong with a file, on its way to Python: all of it at once, with places.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <string>
#include <vector>

#include "sim/scenario_json.hpp"

namespace halfopen::python {

namespace py = pybind11;

// Becomes halfopen.ScenarioError, a ValueError, in Python.
class BadFile : public std::exception {
 public:
  explicit BadFile(std::vector<sim::Mistake> mistakes);
  const char* what() const noexcept override { return text_.c_str(); }
  const std::vector<sim::Mistake>& mistakes() const { return mistakes_; }

 private:
  std::vector<sim::Mistake> mistakes_;
  std::string text_;
};

// A tuple of Mistake objects.
py::tuple mistakes_tuple(const std::vector<sim::Mistake>& mistakes);

}  // namespace halfopen::python
