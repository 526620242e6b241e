#include "sim/json_source.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace halfopen::sim;

namespace {

// "line:column" of what stands at `pointer`, or "~line:column" of what encloses it.
std::string place(const std::string& text, const Document& document, const std::string& pointer,
                  bool key = false) {
  const Positions::Found found = document.positions.find({pointer}).at(0);
  const Positions::Node& node = document.positions.at(found.node);
  const LineColumn at = lines_and_columns(text, {key ? node.key_begin : node.begin}).at(0);
  return (found.exact ? "" : "~") + std::to_string(at.line) + ":" + std::to_string(at.column);
}

std::string slice(const std::string& text, const Document& document, const std::string& pointer) {
  const Positions::Node& node = document.positions.at(document.positions.find({pointer}).at(0).node);
  return text.substr(node.begin, node.end - node.begin);
}

// The place and the pointer of the only complaint.
std::string complaint(const std::string& text) {
  const Document document = read_json(text);
  REQUIRE(document.findings.size() == 1);
  const LineColumn at = lines_and_columns(text, {document.findings[0].offset}).at(0);
  return std::to_string(at.line) + ":" + std::to_string(at.column) + " " + document.findings[0].pointer;
}

}  // namespace

TEST_CASE("json_source: every value and key has its place, comments and escapes notwithstanding") {
  const std::string text =
      "// head\n{ \"a\" /* b: */ : [ 10, -2.5e3, \"x\\\"]\" ],\n  \"b/c\": { \"d\": true }, \"ü\": null }\n";
  const Document document = read_json(text);
  REQUIRE(document.readable);
  CHECK(document.findings.empty());
  CHECK(place(text, document, "") == "2:1");
  CHECK(place(text, document, "/a") == "2:18");
  CHECK(place(text, document, "/a", true) == "2:3");
  CHECK(place(text, document, "/a/1") == "2:24");
  CHECK(slice(text, document, "/a/1") == "-2.5e3");
  CHECK(slice(text, document, "/a/2") == "\"x\\\"]\"");
  CHECK(slice(text, document, "/a") == "[ 10, -2.5e3, \"x\\\"]\" ]");
  CHECK(slice(text, document, "/b~1c/d") == "true");
  CHECK(place(text, document, "/ü") == "3:31");  // columns count bytes
}

TEST_CASE("json_source: what the file does not have stands where its nearest enclosing value does") {
  const std::string text = "{ \"a\": { \"b\": [1] } }";
  const Document document = read_json(text);
  CHECK(place(text, document, "/a/b/7") == "~1:15");
  CHECK(place(text, document, "/a/x/y/z") == "~1:8");
  CHECK(place(text, document, "/q") == "~1:1");
  std::string deep;
  for (int n = 0; n < 100000; ++n) deep += "/a";
  CHECK(place(text, document, deep) == "~1:8");
}

TEST_CASE("json_source: a value that was replaced keeps its own place and loses those below") {
  const std::string text = "{ \"a\": { \"b\": [1] }, \"c\": 2 }";
  Document document = read_json(text);
  document.positions.forget("/a");
  CHECK(place(text, document, "/a") == "1:8");
  CHECK(place(text, document, "/a/b") == "~1:8");
  CHECK(place(text, document, "/c") == "1:27");
  CHECK(slice(text, document, "/a").empty());
  CHECK(slice(text, document, "").empty());
  CHECK(slice(text, document, "/c") == "2");
}

TEST_CASE("json_source: depth 64 is read, 65 and 100,000 are refused at once") {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK(read_json(nested(64)).readable);
  const std::string too_deep = nested(65);
  CHECK_FALSE(read_json(too_deep).readable);
  CHECK(complaint(too_deep).substr(0, 5) == "1:65 ");
  CHECK(complaint(nested(100000)).substr(0, 5) == "1:65 ");
  std::string objects;
  for (int n = 0; n < 100000; ++n) objects += "{\"a\":";
  CHECK(complaint(objects).substr(0, 6) == "1:321 ");
}

TEST_CASE("json_source: duplicate keys are told at the second, and the rest is still read") {
  const std::string text = "{ \"a\": 1, \"b\": { \"c\": 1, \"c\": 2 } }";
  const Document document = read_json(text);
  CHECK(document.readable);
  CHECK(complaint(text) == "1:26 /b/c");
  CHECK(read_json("{ \"a\": { \"k\": 1 }, \"b\": { \"k\": 1 } }").findings.empty());
}

TEST_CASE("json_source: a million times one key takes no longer than a million keys") {
  std::string text = "{\"k\":1";
  for (int n = 0; n < 200000; ++n) text += ",\"k\":1";
  const Document document = read_json(text + "}");
  CHECK(document.findings.size() == 200000);
  const std::vector<std::string> pointers(200000, "/k");
  CHECK(document.positions.find(pointers).size() == 200000);
}

TEST_CASE("json_source: numbers at the edges") {
  const Document document =
      read_json("[18446744073709551615, -9223372036854775808, 18446744073709551616, 1e308, 1e-999]");
  REQUIRE(document.readable);
  CHECK(document.root[0].get<std::uint64_t>() == 18446744073709551615ULL);
  CHECK(document.root[1].is_number_integer());
  CHECK(document.root[2].is_number_float());
  CHECK(document.root[4].get<double>() == 0);
  CHECK(complaint("[1, 1e309]") == "1:5 ");
  CHECK(complaint("[NaN]") == "1:2 ");
  CHECK(complaint("[-Infinity]") == "1:2 ");
  CHECK(complaint("[01]") == "1:3 ");
  CHECK(complaint("[" + std::string(100000, '9') + "]") == "1:2 ");
}

TEST_CASE("json_source: bytes that are no text") {
  CHECK(complaint("\xEF\xBB\xBF{}") == "1:1 ");
  CHECK(read_json("\xEF\xBB\xBF{}").readable);
  CHECK(complaint("\xFF\xFE{") == "1:1 ");
  CHECK(complaint("{}\n// caf\xE9\n") == "2:7 ");
  CHECK(complaint(std::string("{}\0{}", 5)) == "1:3 ");
  CHECK(complaint("[\"\xED\xA0\x80\"]") == "1:3 ");  // a surrogate
}

TEST_CASE("json_source: every beginning of a good text that is not whole is refused with a place inside it") {
  const std::string text = "{ \"a\": [ 1.5, true, \"\\u00e9\" ], /* c */ \"b\": { } }";
  for (std::size_t length = 0; length < text.size(); ++length) {
    const std::string part = text.substr(0, length);
    CAPTURE(part);
    const Document document = read_json(part);
    CHECK_FALSE(document.readable);
    REQUIRE(document.findings.size() == 1);
    CHECK(document.findings[0].offset <= part.size());
    CHECK_FALSE(document.findings[0].what.empty());
  }
  CHECK(read_json(text).readable);
}

TEST_CASE("json_source: any byte in any place is a sentence, never a crash") {
  const std::string text = "{ \"a\": [ 1.5, tru/**/e, \"\\n\" ] }";
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = text;
      changed[at] = static_cast<char>(byte);
      const Document document = read_json(changed);
      CHECK((document.readable || !document.findings.empty()));
    }
  }
}

TEST_CASE("json_source: a file that holds millions of values is refused") {
  std::string text = "[0";
  for (std::size_t n = 0; n < MAX_SOURCE_VALUES; ++n) text += ",0";
  CHECK_FALSE(read_json(text + "]").readable);
}

TEST_CASE("json_source: pointers") {
  std::vector<std::string> steps;
  CHECK(split_pointer("", steps));
  CHECK(steps.empty());
  CHECK(split_pointer("/a~1b/~01/", steps));
  CHECK(steps == std::vector<std::string>{"a/b", "~1", ""});
  CHECK_FALSE(split_pointer("a", steps));
  CHECK_FALSE(split_pointer("/~2", steps));
  CHECK_FALSE(split_pointer("/~", steps));
  CHECK(join("/x", "a/~b") == "/x/a~1~0b");
}
