#include "sim/json_patch.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace halfopen::sim;

namespace {

// The document after one operation, or what went wrong after "!"; then the document is as it was.
std::string patched(const std::string& document, const std::string& operation, std::size_t room = 1000) {
  Json root = read_json(document).root;
  const Json before = root;
  const Json op_text = read_json(operation).root;
  std::vector<Finding> findings;
  PatchOp op;
  if (!read_patch_op(op_text, "", "", findings, op)) return "!" + findings.at(0).what;
  const std::string wrong = apply_patch_op(root, op, room);
  if (wrong.empty()) return root.dump();
  CHECK(root == before);
  return "!" + wrong;
}

bool fails(const std::string& document, const std::string& operation) {
  return patched(document, operation).substr(0, 1) == "!";
}

}  // namespace

TEST_CASE("json_patch: the examples of RFC 6902, appendix A") {
  CHECK(patched(R"({"foo":"bar"})", R"({"op":"add","path":"/baz","value":"qux"})") ==
        R"({"baz":"qux","foo":"bar"})");
  CHECK(patched(R"({"foo":["bar","baz"]})", R"({"op":"add","path":"/foo/1","value":"qux"})") ==
        R"({"foo":["bar","qux","baz"]})");
  CHECK(patched(R"({"baz":"qux","foo":"bar"})", R"({"op":"remove","path":"/baz"})") == R"({"foo":"bar"})");
  CHECK(patched(R"({"foo":["bar","qux","baz"]})", R"({"op":"remove","path":"/foo/1"})") ==
        R"({"foo":["bar","baz"]})");
  CHECK(patched(R"({"baz":"qux"})", R"({"op":"replace","path":"/baz","value":"boo"})") == R"({"baz":"boo"})");
  CHECK(patched(R"({"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}})",
                R"({"op":"move","from":"/foo/waldo","path":"/qux/thud"})") ==
        R"({"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}})");
  CHECK(patched(R"({"foo":["all","grass","cows","eat"]})",
                R"({"op":"move","from":"/foo/1","path":"/foo/3"})") ==
        R"({"foo":["all","cows","eat","grass"]})");
  CHECK(patched(R"({"foo":["a",2,"c"]})", R"({"op":"test","path":"/foo/1","value":2})") ==
        R"({"foo":["a",2,"c"]})");
  CHECK(fails(R"({"baz":"qux"})", R"({"op":"test","path":"/baz","value":"bar"})"));
  CHECK(patched(R"({"foo":"bar"})", R"({"op":"add","path":"/child","value":{"grandchild":{}}})") ==
        R"({"child":{"grandchild":{}},"foo":"bar"})");
  CHECK(fails(R"({"foo":"bar"})", R"({"op":"add","path":"/baz/bat","value":"qux"})"));
  CHECK(patched(R"({"/":9,"~1":10})", R"({"op":"test","path":"/~01","value":10})") == R"({"/":9,"~1":10})");
  CHECK(fails(R"({"/":9,"~1":10})", R"({"op":"test","path":"/~01","value":"10"})"));
  CHECK(patched(R"({"foo":["bar"]})", R"({"op":"add","path":"/foo/-","value":["abc"]})") ==
        R"({"foo":["bar",["abc"]]})");
}

TEST_CASE("json_patch: copy and whole documents") {
  CHECK(patched(R"({"a":[1]})", R"({"op":"copy","from":"/a","path":"/a/0"})") == R"({"a":[[1],1]})");
  CHECK(patched(R"({"a":1})", R"({"op":"replace","path":"","value":[]})") == "[]");
  CHECK(patched(R"({"a":1})", R"({"op":"add","path":"/a","value":2})") == R"({"a":2})");
  CHECK(patched(R"({"a":1})", R"({"op":"move","from":"/a","path":"/a"})") == R"({"a":1})");
}

TEST_CASE("json_patch: what can't be done leaves everything as it was") {
  const std::string document = R"({"a":[1,2],"b":{"c":1}})";
  CHECK(fails(document, R"({"op":"replace","path":"/x","value":1})"));
  CHECK(fails(document, R"({"op":"remove","path":"/a/2"})"));
  CHECK(fails(document, R"({"op":"remove","path":"/a/-"})"));
  CHECK(fails(document, R"({"op":"remove","path":""})"));
  CHECK(fails(document, R"({"op":"add","path":"/a/3","value":1})"));
  CHECK(fails(document, R"({"op":"add","path":"/a/01","value":1})"));
  CHECK(fails(document, R"({"op":"add","path":"/a/x","value":1})"));
  CHECK(fails(document, R"({"op":"add","path":"/a/99999999999999999999","value":1})"));
  CHECK(fails(document, R"({"op":"move","from":"/b","path":"/b/c"})"));
  CHECK(fails(document, R"({"op":"move","from":"/b/c","path":"/a/7"})"));
  CHECK(fails(document, R"({"op":"move","from":"/a/0","path":"/b/c/d"})"));
  CHECK(fails(document, R"({"op":"copy","from":"/x","path":"/y"})"));
  CHECK(fails(document, R"({"op":"test","path":"/x","value":null})"));
}

TEST_CASE("json_patch: an operation has a shape") {
  CHECK(patched("{}", "[]") == "!a patch operation must be an object, not an empty list");
  CHECK(patched("{}", R"({"path":"/a"})") == "!a patch operation needs the key \"op\", which is missing");
  CHECK(patched("{}", R"({"op":"add","path":"/a"})") ==
        "!a patch operation needs the key \"value\", which is missing");
  CHECK(patched("{}", R"({"op":"move","path":"/a"})") ==
        "!a patch operation needs the key \"from\", which is missing");
  CHECK(fails("{}", R"({"op":"add","path":"a","value":1})"));
  CHECK(fails("{}", R"({"op":"add","path":7,"value":1})"));
  CHECK(fails("{}", R"({"op":"add","path":"/a","value":1,"comment":2})"));
}

TEST_CASE("json_patch: neither depth nor size grows without bound") {
  Json root = read_json(R"({"a":[0]})").root;
  const Json text = read_json(R"({"op":"copy","from":"/a","path":"/a/0"})").root;
  std::vector<Finding> findings;
  PatchOp op;
  REQUIRE(read_patch_op(text, "", "", findings, op));
  std::size_t room = 100000;
  std::string wrong;
  int done = 0;
  while (wrong.empty() && done < 1000) {
    wrong = apply_patch_op(root, op, room);
    ++done;
  }
  CHECK(done < 20);
  CHECK(count_values(root, 1000000) < 200100);
  std::string deep = "/a";
  for (int n = 0; n < 70; ++n) deep += "/0";
  CHECK(fails(R"({"a":[0]})", R"({"op":"add","path":")" + deep + R"(","value":1})"));
}

TEST_CASE("json_patch: assign replaces what is there, adds a last step, and nothing more") {
  Json root = read_json(R"({"a":{"b":1},"c":[1]})").root;
  CHECK(assign(root, "/a/b", 2).empty());
  CHECK(assign(root, "/a/new", "x").empty());
  CHECK(assign(root, "/c/0", 5).empty());
  CHECK(assign(root, "/c/-", 6).empty());
  CHECK(root.dump() == R"({"a":{"b":2,"new":"x"},"c":[5,6]})");
  CHECK_FALSE(assign(root, "/x/y", 1).empty());
  CHECK_FALSE(assign(root, "/c/2", 1).empty());
  CHECK_FALSE(assign(root, "/a/b/c", 1).empty());
  CHECK_FALSE(assign(root, "a", 1).empty());
  CHECK(root.dump() == R"({"a":{"b":2,"new":"x"},"c":[5,6]})");
}

TEST_CASE("json_patch: one number has one spelling") {
  Json value = read_json("[1000.0, 1e3, -0.0, 0.5, -2.0, 1e300, 9007199254740993.0]").root;
  make_canonical(value);
  CHECK(value[0].is_number_unsigned());
  CHECK(value.dump() == "[1000,1000,0,0.5,-2,1e+300,9007199254740992]");
}
