#include "sim/sweep_params.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "sim/sweep_json.hpp"

using namespace halfopen::sim;

namespace {

using Values = std::vector<std::string>;

Values values(const std::string& text) {
  std::string wrong;
  const auto param = sweep_param("/a/b=" + text, wrong);
  CHECK(wrong == "");
  REQUIRE(param.has_value());
  CHECK(param->pointer == "/a/b");
  return param->values;
}

std::string refusal(const std::string& words) {
  std::string wrong;
  CHECK_FALSE(sweep_param(words, wrong).has_value());
  return wrong;
}

}  // namespace

TEST_CASE("sweep_params: a value is JSON, or else a text") {
  CHECK(values("1,2.50,1e3,true,null,p2c") == Values{"1", "2.5", "1000", "true", "null", "\"p2c\""});
  CHECK(values("0") == Values{"0"});
  CHECK(values(R"("1","a,b","say \"x, y\"")") == Values{R"("1")", R"("a,b")", R"("say \"x, y\"")"});
  CHECK(values(R"([1, 2],{"b":[1,{"c":"]},"}],"a":2},3)") ==
        Values{"[1,2]", R"({"a":2,"b":[1,{"c":"]},"}]})", "3"});
  CHECK(values(" 1 ,\ttwo words , \"\" ") == Values{"1", "\"two words\"", "\"\""});
  CHECK(values("a=b,it's [odd,x\"y") == Values{"\"a=b\"", "\"it's [odd\"", R"("x\"y")"});
  CHECK(values("[1]x,{}y") == Values{"\"[1]x\"", "\"{}y\""});
}

TEST_CASE("sweep_params: a value that never ends or is not there is told") {
  CHECK(refusal("/a=1,[2,3") ==
        "/a: the value that begins with [2,3 never ends: its closing bracket is missing");
  CHECK(refusal(R"(/a="x\",1)") ==
        R"(/a: the value that begins with "x\",1 never ends: its closing quote is missing)");
  for (const char* const words : {"/a=", "/a=1,", "/a=,1", "/a=1,,2", "/a=1, ,2"}) {
    CAPTURE(words);
    CHECK(refusal(words).starts_with("/a: a value is missing"));
  }
  CHECK(refusal("a=1").find("is not of the form") != std::string::npos);
  CHECK(refusal("/a").find("is not of the form") != std::string::npos);
  CHECK(refusal("").find("is not of the form") != std::string::npos);
  CHECK(refusal("/a~2=1").find("is no JSON pointer") != std::string::npos);
  CHECK(refusal("/a=\xff").find("is not UTF-8") != std::string::npos);
}

TEST_CASE("sweep_params: a grid is exact decimals, with its end where a step falls on it") {
  CHECK(values("0.1..0.5:0.1") == Values{"0.1", "0.2", "0.3", "0.4", "0.5"});
  CHECK(values("0..1:0.25") == Values{"0", "0.25", "0.5", "0.75", "1"});
  CHECK(values("0..1:0.3") == Values{"0", "0.3", "0.6", "0.9"});
  CHECK(values("0.999..1.001:0.001") == Values{"0.999", "1", "1.001"});
  CHECK(values("5..20:5") == Values{"5", "10", "15", "20"});
  CHECK(values("100..300:1e2") == Values{"100", "200", "300"});
  CHECK(values("1e-3..3E-3:0.001") == Values{"0.001", "0.002", "0.003"});
  CHECK(values("1e+1..30:10") == Values{"10", "20", "30"});
  CHECK(values("-1..1:0.5") == Values{"-1", "-0.5", "0", "0.5", "1"});
  CHECK(values("3..1:-1") == Values{"3", "2", "1"});
  CHECK(values("-1..-2:-0.5") == Values{"-1", "-1.5", "-2"});
  CHECK(values("7..7:1") == Values{"7"});
  CHECK(values("0..1:2") == Values{"0"});
  CHECK(values("0.00000000000000001..0.00000000000000003:0.00000000000000001") ==
        Values{"0.00000000000000001", "0.00000000000000002", "0.00000000000000003"});
  // Ten million sums of 0.0001 in doubles would have drifted long before.
  const Values fine = values("0..999.9999:0.0001");
  REQUIRE(fine.size() == 10'000'000);
  CHECK(fine[3] == "0.0003");
  CHECK(fine[9'999'999] == "999.9999");
}

TEST_CASE("sweep_params: grids and values stand beside each other, and quotes make a text of a grid") {
  CHECK(values("1..3:1,10,20..40:10") == Values{"1", "2", "3", "10", "20", "30", "40"});
  CHECK(values("\"1..3:1\"") == Values{"\"1..3:1\""});
  CHECK(values("a..b,../x,10.0.0.1..2,1..x,..") ==
        Values{"\"a..b\"", "\"../x\"", "\"10.0.0.1..2\"", "\"1..x\"", "\"..\""});
}

TEST_CASE("sweep_params: a grid that leads nowhere is told") {
  CHECK(refusal("/a=1..5") ==
        "/a: the grid '1..5' says no step: write 1..5:1, or \"1..5\" in quotes for a text");
  CHECK(refusal("/a=1..5:0") == "/a: the step of '1..5:0' is 0: it would never arrive");
  CHECK(refusal("/a=1..5:-1") == "/a: the step of '1..5:-1' leads away from 5: write it with the other sign");
  CHECK(refusal("/a=5..1:1").find("leads away from 1") != std::string::npos);
  for (const char* const grid : {"1..5:", "1..5:x", "1...5:1", "1..5:1:1", "1..-:1", "1..5e:1", "1..5:1e99",
                                 "0..123456789012345678901:1", "1..2.:1"}) {
    CAPTURE(grid);
    CHECK(refusal(std::string("/a=") + grid).find("is no grid lo..hi:step") != std::string::npos);
  }
  CHECK(refusal("/a=0..10000000000000000:0.01").find("more than 17 digits between them") !=
        std::string::npos);
  CHECK(refusal("/a=0..10000000:1").find("has more than 10000000 values") != std::string::npos);
  CHECK(values("1..10000000:1").size() == 10'000'000);
}

TEST_CASE("sweep_params: a value in a table has no quotes, unless it could not keep to its line") {
  CHECK(plain_value("0.1") == "0.1");
  CHECK(plain_value("null") == "");
  CHECK(plain_value(R"("a \"b\" \u00fc")") == "a \"b\" \xc3\xbc");
  CHECK(plain_value(R"("a\nb")") == R"("a\nb")");
  CHECK(plain_value(R"({"a":1})") == R"({"a":1})");
}

TEST_CASE("sweep_params: the place of the seed is the member of the object itself") {
  std::string before, after;
  REQUIRE(cut_at_seed(R"({"a":{"seed":1},"b":"\"seed\":2","c":["seed",-1.5e3],"seed":30,"t":"\"seed\":4"})",
                      before, after));
  CHECK(before == R"({"a":{"seed":1},"b":"\"seed\":2","c":["seed",-1.5e3],"seed":)");
  CHECK(after == R"(,"t":"\"seed\":4"})");
  REQUIRE(cut_at_seed(R"({"seed":7})", before, after));
  CHECK(before == R"({"seed":)");
  CHECK(after == "}");
  CHECK_FALSE(cut_at_seed("{}", before, after));
  CHECK_FALSE(cut_at_seed(R"({"a":"seed","b":{"seed":1}})", before, after));
}
