// The Arrow C data and stream interfaces, whose three structs are a frozen ABI, by hand: four kinds of
// columns need no library. https://arrow.apache.org/docs/format/CDataInterface.html
#pragma once

#include <cstdint>
#include <memory>

#include "python/bindings/columns.hpp"

extern "C" {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

}  // extern "C"

namespace halfopen::python {

// A struct of the columns. Whoever gets it calls release(); columns live until then.
void export_schema(const Columns& columns, ArrowSchema* out);

// One batch, all rows. Counts and numbers are not copied; flags become bits, and nothing becomes a null.
void export_stream(std::shared_ptr<const Columns> columns, ArrowArrayStream* out);

}  // namespace halfopen::python
