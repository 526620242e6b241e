// `step` run on text, for the tests of its protocol and of its machines.
#pragma once

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "sim/step.hpp"

namespace halfopen::sim::steps {

using nlohmann::json;

struct Run {
  int status = 0;
  std::vector<json> answers;
};

inline Run step_text(const std::string& machine, const std::string& text) {
  std::istringstream in(text);
  std::ostringstream out;
  Run run;
  run.status = run_step(machine, in, out);
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) run.answers.push_back(json::parse(line));
  return run;
}

inline std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

inline Run step(const std::string& machine, const std::vector<std::string>& lines) {
  return step_text(machine, joined(lines));
}

// The answers to good operations; a refusal fails the test.
inline std::vector<json> answers(const std::string& machine, const std::vector<std::string>& lines) {
  Run run = step(machine, lines);
  CHECK(run.status == 0);
  REQUIRE(run.answers.size() == lines.size());
  return run.answers;
}

}  // namespace halfopen::sim::steps
