// Every mistake of every bad file in JSON, and bad files that end too early.
#include <doctest/doctest.h>

#include <string>

#include "tests/sim/corpus.hpp"

using namespace halfopen::sim;

TEST_CASE("corpus: every bad file is answered with exactly its mistakes, each in its place") {
  testing::check_corpus("tests/corpus/bad", "// expect: ", 70);
}

TEST_CASE("corpus: a bad file cut off anywhere is answered, never half-read") {
  for (const std::string name : {"zeros.json", "patch_fails.json", "wrong_types.json"}) {
    const std::string text = testing::content("tests/corpus/bad/" + name);
    REQUIRE(text.size() > 100);
    for (std::size_t length = 0; length < text.size(); length += 7) {
      const Loaded loaded = load_scenario_text(text.substr(0, length), name);
      CHECK_FALSE(loaded.scenario);
      CHECK_FALSE(loaded.mistakes.empty());
    }
  }
}
