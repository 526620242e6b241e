// Every file of tests/corpus/bad_yaml begins with the mistakes that it holds, one comment line each:
// "# expect: line:column: /pointer" (the lines of these comments counted). Nothing more and nothing less is
// told. And whatever is wrong with a JSON scenario is wrong with the same scenario in YAML.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/json_source.hpp"
#include "sim/scenario_json.hpp"
#include "tests/sim/yaml_writer.hpp"

using namespace halfopen::sim;

namespace {

std::string content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::filesystem::path> files_of(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> expected(const std::string& text) {
  const std::string mark = "# expect: ";
  std::vector<std::string> places;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(mark);
    if (at == std::string::npos) break;
    places.push_back(line.substr(at + mark.size()));
  }
  return places;
}

std::vector<std::string> told(const Loaded& loaded) {
  std::vector<std::string> places;
  for (const Mistake& mistake : loaded.mistakes) {
    std::string place = std::to_string(mistake.line) + ":" + std::to_string(mistake.column) + ":";
    if (!mistake.pointer.empty()) place += " " + mistake.pointer;
    places.push_back(std::move(place));
  }
  return places;
}

std::vector<std::pair<std::string, std::string>> sentences(const Loaded& loaded) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const Mistake& mistake : loaded.mistakes) out.emplace_back(mistake.pointer, mistake.what);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("yaml corpus: every bad file is answered with exactly its mistakes, each in its place") {
  const auto files = files_of("tests/corpus/bad_yaml");
  CHECK(files.size() >= 50);
  for (const std::filesystem::path& file : files) {
    CAPTURE(file.filename().string());
    const Loaded loaded = load_scenario_file(file.string());
    CHECK_FALSE(loaded.scenario);
    CHECK(told(loaded) == expected(content(file)));
    for (const Mistake& mistake : loaded.mistakes) CHECK(mistake.what.size() > 10);
  }
}

TEST_CASE("yaml corpus: what is wrong with a JSON file is wrong with the same file in YAML, word for word") {
  std::size_t compared = 0;
  for (const std::filesystem::path& file : files_of("tests/corpus/bad")) {
    CAPTURE(file.filename().string());
    const std::string text = content(file);
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
    const std::string text = content(std::string("tests/corpus/bad_yaml/") + name);
    REQUIRE(text.size() > 100);
    for (std::size_t length = 0; length < text.size(); ++length) {
      const Loaded loaded = load_scenario_text(text.substr(0, length), name);
      CHECK_FALSE(loaded.scenario);
      CHECK_FALSE(loaded.mistakes.empty());
    }
  }
}
