// What the forms of an expectation share: which events are meant, and when. A name that does not exist does
// not make the file bad: it makes the expectation one that has not held (scenario.md section 3), so it is
// noted as a problem and not as a mistake. Internal to scenario_json_expect*.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/scenario_json_parts.hpp"

namespace halfopen::sim {

class ExpectFields : public Fields {
 public:
  // `problem` is the expectation's: the first one found stays.
  ExpectFields(const Json& value, std::string pointer, Reading& reading, std::string& problem,
               std::string_view noun)
      : Fields(value, std::move(pointer), reading.findings, noun), reading_(reading), problem_(problem) {}

  // The event under the key `form`, and whose and why.
  EventPattern pattern(std::string_view form);

  TimeFilter when();
  std::optional<std::pair<double, double>> between();

  // The place of the word, or nothing and a problem.
  std::optional<std::size_t> known_word(std::string_view name, const std::vector<std::string_view>& words);
  std::string known_endpoint();
  std::string known_upstream();

  void problem(std::string what) {
    if (problem_.empty()) problem_ = std::move(what);
  }
  Reading& reading() { return reading_; }

 private:
  std::string known_name(std::string_view name, const std::map<std::string, std::size_t>& index,
                         const std::vector<std::string>& names);

  Reading& reading_;
  std::string& problem_;
};

}  // namespace halfopen::sim
