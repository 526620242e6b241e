// A scenario as text around whatever a test is about, read either as good or as its mistakes.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sim/scenario_json.hpp"

namespace halfopen::sim::testing {

inline const std::string UPSTREAMS =
    R"("upstreams": [ { "name": "api", "endpoints": [ { "address": "a", "port": 1 }, { "address": "b", "port": 2 } ] } ])";

inline std::string scenario(const std::string& more) {
  return R"({ "duration_ms": 1000, )" + UPSTREAMS + (more.empty() ? "" : ", " + more) + " }";
}

inline Scenario good(const std::string& text, const LoadOptions& options = {}) {
  Loaded loaded = load_scenario_text(text, "t.json", options);
  for (const Mistake& mistake : loaded.mistakes) {
    if (!mistake.warning) FAIL_CHECK(mistake.text());
  }
  REQUIRE(loaded.scenario.has_value());
  return *std::move(loaded.scenario);
}

inline std::vector<std::string> mistakes(const std::string& text, const LoadOptions& options = {}) {
  const Loaded loaded = load_scenario_text(text, "t.json", options);
  const auto is_warning = [](const Mistake& mistake) { return mistake.warning; };
  CHECK(loaded.scenario.has_value() ==
        std::all_of(loaded.mistakes.begin(), loaded.mistakes.end(), is_warning));
  std::vector<std::string> texts;
  for (const Mistake& mistake : loaded.mistakes) texts.push_back(mistake.text());
  return texts;
}

}  // namespace halfopen::sim::testing
