// How lanes, sparklines and the time axis are drawn into the columns of a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/text_layout.hpp"
#include "sim/timeline.hpp"

namespace halfopen::sim {

// What happened in an instant and has a row of its own.
enum class Sign : std::uint8_t { reload, back, forward, several };

struct Mark {
  Nanos t = 0;
  Sign sign = Sign::reload;
};

// Rows share a label column and a time axis: column c covers [start(c), start(c + 1)).
class Chart {
 public:
  Chart(Nanos duration, std::size_t label_width, const TextStyle& style);

  std::size_t label_width() const { return label_width_; }
  std::size_t columns() const { return columns_; }
  Nanos start(std::size_t column) const { return duration_ * column / columns_; }
  std::size_t column_of(Nanos t) const;  // the last one for what is later

  std::string lane(std::string_view label, const std::vector<Interval>& intervals) const;
  std::string marks(std::string_view label, const std::vector<Mark>& marks) const;
  // Only where it begins: nobody knows beforehand how long a script lasts.
  std::string script(std::string_view label, Nanos from) const;
  // One value a column, NaN where there is none. The scale goes from 0, which is drawn as a dot, to the
  // largest; `peak` says what that is.
  std::string spark(std::string_view label, std::string_view peak, const std::vector<double>& values) const;
  std::string axis() const;    // two rows: ticks and their times
  std::string legend() const;  // what the glyphs mean and how long a column is

 private:
  std::string row(std::string label, std::string_view drawing) const;

  Nanos duration_;  // at least as many ns as columns, so that no column is empty
  std::size_t label_width_, columns_;
  const TextStyle& style_;
};

}  // namespace halfopen::sim
