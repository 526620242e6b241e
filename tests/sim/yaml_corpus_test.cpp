// Every mistake of every bad file in YAML. And whatever is wrong with a JSON scenario is wrong with the same
// scenario in YAML.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "sim/json_source.hpp"
#include "sim/scenario_json.hpp"
#include "tests/sim/corpus.hpp"
#include "tests/sim/yaml_writer.hpp"

using namespace halfopen::sim;

namespace {

std::vector<std::pair<std::string, std::string>> sentences(const Loaded& loaded) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const Mistake& mistake : loaded.mistakes) out.emplace_back(mistake.pointer, mistake.what);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("yaml corpus: every bad file is answered with exactly its mistakes, each in its place") {
  testing::check_corpus("tests/corpus/bad_yaml", "# expect: ", 50);
}

TEST_CASE("yaml corpus: what is wrong with a JSON file is wrong with the same file in YAML, word for word") {
  std::size_t compared = 0;
  for (const std::filesystem::path& file : testing::files_of("tests/corpus/bad")) {
    CAPTURE(file.filename().string());
    const std::string text = testing::content(file);
    const Document document = read_json(text);
    // Bad as JSON, not only as a scenario: there is no such YAML.
    if (!document.readable || !document.findings.empty() || document.root.size() > 100) continue;
    const std::string yaml = testing::as_yaml(text);
    CAPTURE(yaml.substr(0, 2000));
    const std::string beside = file.parent_path().string();
    CHECK(sentences(load_scenario_text(yaml, beside + "/t.yaml")) ==
          sentences(load_scenario_text(text, beside + "/t.json")));
    ++compared;
  }
  CHECK(compared >= 40);
}

TEST_CASE("yaml corpus: a file cut off anywhere is answered, and never crashes the reader") {
  for (const char* name : {"aliased_mistake.yaml", "numbers.yaml", "wrong_types.yaml", "umlauts.yaml"}) {
    const std::string text = testing::content(std::string("tests/corpus/bad_yaml/") + name);
    REQUIRE(text.size() > 100);
    for (std::size_t length = 0; length < text.size(); ++length) {
      const Loaded loaded = load_scenario_text(text.substr(0, length), name);
      CHECK_FALSE(loaded.scenario);
      CHECK_FALSE(loaded.mistakes.empty());
    }
  }
}
