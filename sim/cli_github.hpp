// Workflow commands of GitHub Actions, which it shows beside the lines of a change.
#pragma once

#include <string>
#include <string_view>

#include "sim/scenario.hpp"

namespace halfopen::sim {

// One line. `level`: error, warning or notice; `place` with line 0 is the file as a whole.
std::string github_annotation(std::string_view level, const std::string& file, const SourcePlace& place,
                              const std::string& title, const std::string& message);

}  // namespace halfopen::sim
