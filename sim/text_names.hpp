// The endpoints' names in the account for a person, shortened so that they can still be told apart.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sim/text_layout.hpp"
#include "sim/timeline.hpp"

namespace halfopen::sim {

class Names {
 public:
  Names(const Timeline& timeline, const TextStyle& style);

  // Fit for a terminal and not more than `width` columns. What is too long loses what all names begin with,
  // then its end: "10.0…12:8080".
  std::string shown(std::string_view name, std::size_t width) const;

 private:
  bool ascii_;
  std::vector<std::string> sorted_;  // printable, each once
};

}  // namespace halfopen::sim
