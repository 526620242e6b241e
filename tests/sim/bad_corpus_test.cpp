// Every file of tests/corpus/bad begins with the mistakes that it holds, one comment line each:
// "// expect: line:column: /pointer" (the lines of these comments counted). Nothing more and nothing less is
// told.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "sim/scenario_json.hpp"

using namespace halfopen::sim;

namespace {

std::filesystem::path corpus() {
#ifdef HALFOPEN_SOURCE_DIR
  return std::filesystem::path(HALFOPEN_SOURCE_DIR) / "tests/corpus/bad";
#else
  return std::filesystem::path(__FILE__).parent_path().parent_path() / "corpus/bad";
#endif
}

std::string content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::string> expected(const std::string& text) {
  const std::string mark = "// expect: ";
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

}  // namespace

TEST_CASE("corpus: every bad file is answered with exactly its mistakes, each in its place") {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(corpus())) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  CHECK(files.size() >= 70);
  for (const std::filesystem::path& file : files) {
    CAPTURE(file.filename().string());
    const Loaded loaded = load_scenario_file(file.string());
    CHECK_FALSE(loaded.scenario);
    CHECK(told(loaded) == expected(content(file)));
    for (const Mistake& mistake : loaded.mistakes) CHECK(mistake.what.size() > 10);
  }
}

TEST_CASE("corpus: a bad file cut off anywhere is answered, never half-read") {
  for (const char* name : {"zeros.json", "patch_fails.json", "wrong_types.json"}) {
    const std::string text = content(corpus() / name);
    REQUIRE(text.size() > 100);
    for (std::size_t length = 0; length < text.size(); length += 7) {
      const Loaded loaded = load_scenario_text(text.substr(0, length), name);
      CHECK_FALSE(loaded.scenario);
      CHECK_FALSE(loaded.mistakes.empty());
    }
  }
}
