// Tables by column, in memory that lives as long as anybody looks at it: what Python shows as NumPy arrays
// and hands on as Arrow, without a copy of the numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halfopen::python {

enum class ColumnKind : std::uint8_t {
  count,   // std::uint64_t below 2^63, shown as std::int64_t
  number,  // double; NaN: nothing, if the column is nullable
  flag,    // std::uint8_t, 0 or 1
  code,    // std::int32_t into `words`; -1: nothing
  text     // no numbers: a row is a text of `words`
};

using Words = std::vector<std::string>;

struct Column {
  std::string name;
  ColumnKind kind = ColumnKind::count;
  bool nullable = false;
  std::shared_ptr<const void> owner;  // keeps `data` alive
  const void* data = nullptr;
  std::size_t size = 0;
  std::shared_ptr<const Words> words;  // of a code: the categories; of a text: the rows

  template <class T>
  const T* as() const {
    return static_cast<const T*>(data);
  }
};

struct Columns {
  std::vector<Column> columns;
  std::size_t rows = 0;

  const Column* find(std::string_view name) const;
};

template <class T>
constexpr ColumnKind kind_of();
template <>
constexpr ColumnKind kind_of<std::uint64_t>() {
  return ColumnKind::count;
}
template <>
constexpr ColumnKind kind_of<double>() {
  return ColumnKind::number;
}
template <>
constexpr ColumnKind kind_of<std::uint8_t>() {
  return ColumnKind::flag;
}

// A column over what `owner` owns.
template <class T>
Column column_over(std::string name, const std::vector<T>& values, std::shared_ptr<const void> owner) {
  return {std::move(name), kind_of<T>(), false, std::move(owner), values.data(), values.size(), nullptr};
}

// A column that owns its values.
template <class T>
Column column_of(std::string name, std::vector<T> values, bool nullable = false) {
  auto kept = std::make_shared<const std::vector<T>>(std::move(values));
  Column out = column_over(std::move(name), *kept, kept);
  out.nullable = nullable;
  return out;
}

Column column_of_codes(std::string name, std::vector<std::int32_t> codes, Words words, bool nullable = false);
Column column_of_texts(std::string name, Words texts);

// Words as they come, each with a number: the categories of a column.
class Categories {
 public:
  void add(std::string_view word);  // empty: nothing
  void add_nothing() { codes_.push_back(-1); }
  Column finish(std::string name, bool nullable = false);

 private:
  std::vector<std::int32_t> codes_;
  Words words_;
};

}  // namespace halfopen::python
