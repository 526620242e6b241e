// Columns as a Python object.
#pragma once

#include <memory>

#include "python/bindings/columns.hpp"

namespace halfopen::python {

struct Table {
  std::shared_ptr<const Columns> columns;
};

}  // namespace halfopen::python
