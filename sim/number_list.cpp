#include "sim/number_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace halfopen::sim {

bool numbers_of(std::string_view text, const NumberRange& range, std::vector<double>& out,
                std::string& wrong) {
  std::size_t line_number = 0;
  while (!text.empty()) {
    ++line_number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) continue;
    line = line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
    double value = 0;
    const auto read = std::from_chars(line.data(), line.data() + line.size(), value);
    const bool whole_line = read.ec == std::errc{} && read.ptr == line.data() + line.size();
    if (!whole_line || !(value >= range.min && value <= range.max)) {
      wrong = fmt::format("line {} must hold nothing but {}, in ms", line_number, range.text());
      return false;
    }
    out.push_back(value == 0 ? 0 : value);  // -0 would draw like 0 and dump differently
  }
  if (out.empty()) wrong = "it holds no number";
  return !out.empty();
}

}  // namespace halfopen::sim
