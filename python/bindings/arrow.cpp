#include "python/bindings/arrow.hpp"

#include <cerrno>
#include <deque>
#include <string>
#include <vector>

namespace halfopen::python {

namespace {

constexpr std::int64_t NULLABLE = 2;  // ARROW_FLAG_NULLABLE

// What a schema or an array points to. Children and dictionary are released with it.
struct SchemaOwner {
  std::string name;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
  ArrowSchema dictionary{};
};

struct ArrayOwner {
  std::shared_ptr<const void> data;
  std::deque<std::vector<std::uint8_t>> made;  // buffers that no column has: bits, offsets, letters
  std::vector<const void*> buffers;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
  ArrowArray dictionary{};
};

template <class Struct, class Owner>
void release(Struct* self) {
  auto* const owner = static_cast<Owner*>(self->private_data);
  for (Struct* child : owner->pointers) {
    if (child->release != nullptr) child->release(child);
  }
  if (owner->dictionary.release != nullptr) owner->dictionary.release(&owner->dictionary);
  delete owner;
  self->release = nullptr;
}

void make_schema(ArrowSchema* out, const char* format, std::string name, bool nullable,
                 std::size_t children) {
  auto* const owner = new SchemaOwner;
  owner->name = std::move(name);
  owner->children.resize(children);
  for (ArrowSchema& child : owner->children) owner->pointers.push_back(&child);
  *out = {format,
          owner->name.c_str(),
          nullptr,
          nullable ? NULLABLE : 0,
          static_cast<std::int64_t>(children),
          owner->pointers.data(),
          nullptr,
          &release<ArrowSchema, SchemaOwner>,
          owner};
}

void column_schema(const Column& column, ArrowSchema* out) {
  switch (column.kind) {
    case ColumnKind::count: return make_schema(out, "l", column.name, column.nullable, 0);
    case ColumnKind::number: return make_schema(out, "g", column.name, column.nullable, 0);
    case ColumnKind::flag: return make_schema(out, "b", column.name, column.nullable, 0);
    case ColumnKind::text: return make_schema(out, "U", column.name, column.nullable, 0);
    case ColumnKind::code: break;
  }
  make_schema(out, "i", column.name, column.nullable, 0);
  auto* const owner = static_cast<SchemaOwner*>(out->private_data);
  make_schema(&owner->dictionary, "U", "", false, 0);
  out->dictionary = &owner->dictionary;
}

ArrayOwner* make_array(ArrowArray* out, std::size_t length, std::vector<const void*> buffers,
                       std::size_t children) {
  auto* const owner = new ArrayOwner;
  owner->buffers = std::move(buffers);
  owner->children.resize(children);
  for (ArrowArray& child : owner->children) owner->pointers.push_back(&child);
  *out = {static_cast<std::int64_t>(length),
          0,
          0,
          static_cast<std::int64_t>(owner->buffers.size()),
          static_cast<std::int64_t>(children),
          owner->buffers.data(),
          owner->pointers.data(),
          nullptr,
          &release<ArrowArray, ArrayOwner>,
          owner};
  return owner;
}

// One bit a row, least significant first. Answers how many are 0.
template <class IsSet>
std::int64_t add_bits(ArrayOwner& owner, std::size_t rows, std::size_t buffer, IsSet is_set) {
  std::vector<std::uint8_t>& bits = owner.made.emplace_back((rows + 7) / 8 + 1);
  std::int64_t unset = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    if (is_set(row)) {
      bits[row / 8] = static_cast<std::uint8_t>(bits[row / 8] | (1U << (row % 8)));
    } else {
      ++unset;
    }
  }
  owner.buffers[buffer] = bits.data();
  return unset;
}

void make_texts(ArrowArray* out, const Words& words) {
  ArrayOwner& owner = *make_array(out, words.size(), {nullptr, nullptr, nullptr}, 0);
  auto offsets = std::make_shared<std::vector<std::int64_t>>();
  std::vector<std::uint8_t>& letters = owner.made.emplace_back();
  offsets->push_back(0);
  for (const std::string& word : words) {
    letters.insert(letters.end(), word.begin(), word.end());
    offsets->push_back(static_cast<std::int64_t>(letters.size()));
  }
  letters.push_back(0);  // data() of an empty vector may be null, which a consumer may not expect
  owner.buffers[1] = offsets->data();
  owner.buffers[2] = letters.data();
  owner.data = std::move(offsets);
}

void column_array(const Column& column, ArrowArray* out) {
  if (column.kind == ColumnKind::text) return make_texts(out, *column.words);
  ArrayOwner& owner = *make_array(out, column.size, {nullptr, column.data}, 0);
  owner.data = column.owner;
  if (column.kind == ColumnKind::flag) {
    add_bits(owner, column.size, 1, [&](std::size_t row) { return column.as<std::uint8_t>()[row] != 0; });
  } else if (column.kind == ColumnKind::code) {
    make_texts(&owner.dictionary, *column.words);
    out->dictionary = &owner.dictionary;
    if (column.nullable) {
      out->null_count = add_bits(owner, column.size, 0,
                                 [&](std::size_t row) { return column.as<std::int32_t>()[row] >= 0; });
    }
  } else if (column.kind == ColumnKind::number && column.nullable) {
    out->null_count = add_bits(owner, column.size, 0, [&](std::size_t row) {
      const double value = column.as<double>()[row];
      return value == value;
    });
  }
}

struct StreamOwner {
  std::shared_ptr<const Columns> columns;
  bool done = false;
};

StreamOwner& owner_of(ArrowArrayStream* stream) { return *static_cast<StreamOwner*>(stream->private_data); }

// No C++ exception may cross into a consumer's C.
template <class Do>
int guarded(Do what) {
  try {
    what();
    return 0;
  } catch (...) {
    return ENOMEM;
  }
}

int get_schema(ArrowArrayStream* self, ArrowSchema* out) {
  return guarded([&] { export_schema(*owner_of(self).columns, out); });
}

int get_next(ArrowArrayStream* self, ArrowArray* out) {
  StreamOwner& owner = owner_of(self);
  if (owner.done) {
    *out = {};
    return 0;
  }
  return guarded([&] {
    const Columns& columns = *owner.columns;
    ArrayOwner& array = *make_array(out, columns.rows, {nullptr}, columns.columns.size());
    array.data = owner.columns;
    for (std::size_t n = 0; n < columns.columns.size(); ++n)
      column_array(columns.columns[n], &array.children[n]);
    owner.done = true;
  });
}

const char* get_last_error(ArrowArrayStream*) { return "there is not enough memory"; }

void release_stream(ArrowArrayStream* self) {
  delete static_cast<StreamOwner*>(self->private_data);
  self->release = nullptr;
}

}  // namespace

void export_schema(const Columns& columns, ArrowSchema* out) {
  make_schema(out, "+s", "", false, columns.columns.size());
  auto& children = static_cast<SchemaOwner*>(out->private_data)->children;
  for (std::size_t n = 0; n < children.size(); ++n) column_schema(columns.columns[n], &children[n]);
}

void export_stream(std::shared_ptr<const Columns> columns, ArrowArrayStream* out) {
  *out = {&get_schema, &get_next, &get_last_error, &release_stream, new StreamOwner{std::move(columns)}};
}

}  // namespace halfopen::python
