// The corpora of bad files: each file begins with the mistakes that it holds, one comment line each, as in
// "// expect: line:column: /pointer" (the lines of these comments counted). Nothing more and nothing less is
// told. Test cases run in the root of the repository.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "sim/scenario_json.hpp"

namespace halfopen::sim::testing {

inline std::string content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline std::vector<std::filesystem::path> files_of(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// `mark` is what such a line begins with.
inline std::vector<std::string> expected(const std::string& text, const std::string& mark) {
  std::vector<std::string> places;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(mark);
    if (at == std::string::npos) break;
    places.push_back(line.substr(at + mark.size()));
  }
  return places;
}

inline std::vector<std::string> told(const Loaded& loaded) {
  std::vector<std::string> places;
  for (const Mistake& mistake : loaded.mistakes) {
    std::string place = std::to_string(mistake.line) + ":" + std::to_string(mistake.column) + ":";
    if (!mistake.pointer.empty()) place += " " + mistake.pointer;
    places.push_back(std::move(place));
  }
  return places;
}

inline void check_corpus(const std::string& folder, const std::string& mark, std::size_t at_least) {
  const auto files = files_of(folder);
  CHECK(files.size() >= at_least);
  for (const std::filesystem::path& file : files) {
    CAPTURE(file.filename().string());
    const Loaded loaded = load_scenario_file(file.string());
    CHECK_FALSE(loaded.scenario);
    CHECK(told(loaded) == expected(content(file), mark));
    for (const Mistake& mistake : loaded.mistakes) CHECK(mistake.what.size() > 10);
  }
}

}  // namespace halfopen::sim::testing
