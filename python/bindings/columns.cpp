#include "python/bindings/columns.hpp"

#include <algorithm>

namespace halfopen::python {

const Column* Columns::find(std::string_view name) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [name](const Column& column) { return column.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

Column column_of_codes(std::string name, std::vector<std::int32_t> codes, Words words, bool nullable) {
  auto kept = std::make_shared<const std::vector<std::int32_t>>(std::move(codes));
  auto named = std::make_shared<const Words>(std::move(words));
  return {std::move(name), ColumnKind::code, nullable, kept, kept->data(), kept->size(), std::move(named)};
}

Column column_of_texts(std::string name, Words texts) {
  auto kept = std::make_shared<const Words>(std::move(texts));
  return {std::move(name), ColumnKind::text, false, kept, nullptr, kept->size(), kept};
}

// A handful of words: a search from the end, where the same one as before stands, beats a map.
void Categories::add(std::string_view word) {
  if (word.empty()) return add_nothing();
  if (!codes_.empty() && codes_.back() >= 0 && words_[static_cast<std::size_t>(codes_.back())] == word) {
    codes_.push_back(codes_.back());
    return;
  }
  const auto found = std::find(words_.begin(), words_.end(), word);
  codes_.push_back(static_cast<std::int32_t>(found - words_.begin()));
  if (found == words_.end()) words_.emplace_back(word);
}

Column Categories::finish(std::string name, bool nullable) {
  return column_of_codes(std::move(name), std::move(codes_), std::move(words_), nullable);
}

}  // namespace halfopen::python
