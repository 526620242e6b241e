#include "sim/yaml_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "sim/expectations.hpp"
#include "sim/scenario_json.hpp"
#include "sim/simulation.hpp"
#include "sim/writer_json.hpp"
#include "tests/sim/yaml_writer.hpp"

using namespace halfopen::sim;

namespace {

std::string place(const std::string& text, const Document& document, const std::string& pointer,
                  bool key = false) {
  const Positions::Found found = document.positions.find({pointer}).at(0);
  const Positions::Node& node = document.positions.at(found.node);
  const LineColumn at = lines_and_columns(text, {key ? node.key_begin : node.begin}).at(0);
  return (found.exact ? "" : "~") + std::to_string(at.line) + ":" + std::to_string(at.column);
}

std::string only_complaint(const std::string& text) {
  const Document document = read_yaml(text);
  CHECK_FALSE(document.readable);
  REQUIRE(document.findings.size() == 1);
  return document.findings[0].what;
}

std::string content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string repeated(const std::string& piece, std::size_t times) {
  std::string out;
  out.reserve(piece.size() * times);
  for (std::size_t n = 0; n < times; ++n) out += piece;
  return out;
}

}  // namespace

TEST_CASE("yaml_source: every value and key has its place, and columns count bytes") {
  const std::string text =
      "# ü\n"
      "name: \"ä\"   # b: c\n"
      "\"größe\": 5\n"
      "list:\n"
      "- 10\n"
      "- {ü: 1, b/c: [2, 3]}\r\n"
      "-   deep: x\n"
      "    more: >-\n"
      "      folded\n"
      "      text\n";
  const Document document = read_yaml(text);
  REQUIRE(document.readable);
  CHECK(document.findings.empty());
  CHECK(document.root.dump() ==
        R"({"größe":5,"list":[10,{"b/c":[2,3],"ü":1},{"deep":"x","more":"folded text"}],"name":"ä"})");
  CHECK(place(text, document, "") == "2:1");
  CHECK(place(text, document, "/name") == "2:7");
  CHECK(place(text, document, "/größe") == "3:12");
  CHECK(place(text, document, "/größe", true) == "3:1");
  CHECK(place(text, document, "/list") == "5:1");
  CHECK(place(text, document, "/list/0") == "5:3");
  CHECK(place(text, document, "/list/1/b~1c", true) == "6:11");
  CHECK(place(text, document, "/list/1/b~1c/1") == "6:20");
  CHECK(place(text, document, "/list/2") == "7:5");
  CHECK(place(text, document, "/list/2/more") == "8:11");
  CHECK(place(text, document, "/list/2/nothing") == "~7:5");
}

TEST_CASE("yaml_source: what is left empty stands at its key or its dash") {
  const std::string text = "a:\nb:\n  -\n\n  - ~\nc: {d: , e: null}\n";
  const Document document = read_yaml(text);
  REQUIRE(document.readable);
  CHECK(document.root.dump() == R"({"a":null,"b":[null,null],"c":{"d":null,"e":null}})");
  CHECK(place(text, document, "/a") == "1:1");
  CHECK(place(text, document, "/b/0") == "3:3");
  CHECK(place(text, document, "/b/1") == "5:5");
  CHECK(place(text, document, "/c/d") == "6:5");
  CHECK(place(text, document, "/c/e") == "6:13");
}

TEST_CASE("yaml_source: the same scenario in YAML and in JSON gives the same timeline, byte for byte") {
  std::size_t compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator("scenarios")) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".json") || path.ends_with(".timeline.json")) continue;
    CAPTURE(path);
    const std::string text = content(path);
    const Loaded json = load_scenario_text(text, path);
    const std::string yaml_text = testing::as_yaml(text);
    const Loaded yaml = load_scenario_text(yaml_text, path.substr(0, path.size() - 4) + "yaml");
    for (const Mistake& mistake : yaml.mistakes) FAIL_CHECK(mistake.text());
    REQUIRE(json.scenario);
    REQUIRE(yaml.scenario);
    CHECK(yaml.effective_json == json.effective_json);
    CHECK(yaml.scenario->digest == json.scenario->digest);
    const Timeline of_json = simulate(*json.scenario), of_yaml = simulate(*yaml.scenario);
    const bool same = timeline_json(of_yaml, judge(*yaml.scenario, of_yaml)) ==
                      timeline_json(of_json, judge(*json.scenario, of_json));
    CHECK(same);
    ++compared;
  }
  CHECK(compared >= 20);
}

TEST_CASE("yaml_source: an expectation is told with its line and as its author ordered it") {
  const std::string text =
      "duration_ms: 1e3\n"
      "upstreams: [ { name: api, endpoints: [ { address: a, port: 1 } ] } ]\n"
      "expect:\n"
      "  - event: endpoint_ejected  # the first\n"
      "    count: 0\n"
      "    between_ms: [0, 1e2]\n"
      "  - { never: endpoint_ejected, endpoint: 'a:1' }\n";
  const Loaded loaded = load_scenario_text(text, "t.yml");
  REQUIRE(loaded.scenario);
  const auto& expect = loaded.scenario->expect;
  REQUIRE(expect.size() == 2);
  CHECK(expect[0].text == R"({"event":"endpoint_ejected","count":0,"between_ms":[0,100.0]})");
  CHECK(expect[1].text == R"({"never":"endpoint_ejected","endpoint":"a:1"})");
  CHECK(expect[0].place.line == 4);
  CHECK(expect[0].place.column == 5);
  CHECK(expect[1].place.line == 7);
  LoadOptions options;
  options.sets.emplace_back("/expect/0/count", "1");
  CHECK(load_scenario_text(text, "t.yml", options).scenario->expect[0].text ==
        R"({"between_ms":[0,100],"count":1,"event":"endpoint_ejected"})");
}

TEST_CASE("yaml_source: an alias repeats its value, which keeps its places inside") {
  const std::string text = "a: &x\n  k: [1, 2]\nb: *x\nc: [*x, &y 5, *y]\n";
  const Document document = read_yaml(text);
  REQUIRE(document.readable);
  CHECK(document.root.dump() == R"({"a":{"k":[1,2]},"b":{"k":[1,2]},"c":[{"k":[1,2]},5,5]})");
  CHECK(place(text, document, "/b") == "3:4");
  CHECK(place(text, document, "/b/k/1") == "2:10");
  CHECK(place(text, document, "/c/0/k", true) == "2:3");
  CHECK(place(text, document, "/c/2") == "4:15");
  CHECK(place(text, document, "/c", true) == "4:1");
}

TEST_CASE(
    "yaml_source: what aliases repeat counts as if it were written out, up to the limit and not beyond") {
  // The root, a list of 1,023 zeros, a list of 4,094 times that list and of so many zeros.
  const auto document = [](std::size_t zeros) {
    return read_yaml("a: &a [" + repeated("0, ", 1022) + "0]\nb:\n" + repeated("- *a\n", 4094) +
                     repeated("- 0\n", zeros));
  };
  static_assert(1 + 1024 + 1 + 4094 * 1024 + 1022 == MAX_SOURCE_VALUES);
  CHECK(document(1022).readable);
  const Document one_more = document(1023);
  CHECK_FALSE(one_more.readable);
  REQUIRE(one_more.findings.size() == 1);
  CHECK(one_more.findings[0].pointer == "/b/5116");
  CHECK(one_more.findings[0].what.find("more than 4194304 values") != std::string::npos);

  const std::string mebibyte(std::size_t{1} << 20, 'x');
  CHECK(read_yaml("a: &a " + mebibyte + "\nb:\n" + repeated("- *a\n", 64)).readable);
  CHECK(only_complaint("a: &a " + mebibyte + "\nb:\n" + repeated("- *a\n", 65)).find("more than 64 MiB") !=
        std::string::npos);

  const auto deep = [](std::size_t levels) {
    return "a: &a " + repeated("[", levels) + repeated("]", levels) + "\nb: [*a]\n";
  };
  CHECK(read_yaml(deep(62)).readable);
  CHECK(only_complaint(deep(63)).find("nested more than 64 deep") != std::string::npos);
}

TEST_CASE("yaml_source: whatever is hostile is refused with a sentence, soon and without memory") {
  const std::size_t many = 100'000;
  const std::vector<std::pair<std::string, std::string>> cases{
      {repeated("[", many), "no key begins with ["},
      {repeated("{a: ", many), "no key begins with {"},
      {repeated("- ", many), "nested more than 64 deep"},
      {repeated("? ", many), "a key must be a text"},
      {repeated("[", many) + repeated("]", many), "nested"},
      {repeated("[", 3'000'000), "more than 1048576 brackets"},
      {"[" + repeated(",", 3'000'000), "more than 1048576 brackets"},
      {"[" + repeated("\"\"", 2'000'000), "more than 1048576 brackets"},
      {std::string(MAX_SOURCE_BYTES + 1, ' '), "larger than 64 MiB"},
      {"a: " + repeated("&x ", many), "a value has one anchor"},
      {repeated("---\n", many), "a second document"},
      {"\"" + std::string(many, '\\'), "the file ends inside a string"},
      {std::string(many + 1, '\''), "the file ends inside a string"},
      {"%YAML 3.0\n---\na: 1\n", "YAML"},
      {"%TAG ! tag:x,2000:\n---\na: !y 1\n", "the tag tag:x,2000:y means nothing"},
  };
  for (const auto& hostile : cases) {
    CAPTURE(hostile.first.substr(0, 20));
    const std::string what = only_complaint(hostile.first);
    CHECK_MESSAGE(what.find(hostile.second) != std::string::npos, what);
  }
}

TEST_CASE("yaml_source: a file is YAML by its name alone") {
  CHECK(is_yaml_name("a/b.yaml"));
  CHECK(is_yaml_name("b.yml"));
  CHECK_FALSE(is_yaml_name("b.json"));
  CHECK_FALSE(is_yaml_name("b.yaml.json"));
  CHECK_FALSE(is_yaml_name("yaml"));
  CHECK(load_scenario_text("duration_ms: 5\nupstreams: []\n", "t.yaml").mistakes.empty() ==
        load_scenario_text("{\"duration_ms\": 5, \"upstreams\": []}", "t.json").mistakes.empty());
  CHECK_FALSE(load_scenario_text("duration_ms: 5\nupstreams: []\n", "t.json").scenario);
}
