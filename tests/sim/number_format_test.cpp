#include "sim/number_format.hpp"

#include <doctest/doctest.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "sim/utf8.hpp"

using namespace halfopen::sim;

namespace {

std::string ms(Nanos value) {
  std::string out;
  append_ms(out, value);
  return out;
}

std::string double_ms(double value) {
  std::string out;
  append_double_ms(out, value);
  return out;
}

std::string number(double value) {
  std::string out;
  append_double(out, value);
  return out;
}

std::string json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

}  // namespace

TEST_CASE("number_format: milliseconds have up to six decimals and no zeros at their end") {
  CHECK(ms(0) == "0");
  CHECK(ms(1) == "0.000001");
  CHECK(ms(999'999) == "0.999999");
  CHECK(ms(1'000'000) == "1");
  CHECK(ms(1'000'001) == "1.000001");
  CHECK(ms(31'250'750'000) == "31250.75");
  CHECK(ms(40'000'000'000) == "40000");
  CHECK(ms(100'100'000) == "100.1");
  CHECK(ms(10'000'000'000'000'000) == "10000000000");
  CHECK(ms(std::numeric_limits<Nanos>::max()) == "18446744073709.551615");
}

TEST_CASE("number_format: milliseconds in double are rounded to the nearest nanosecond") {
  CHECK(double_ms(0) == "0");
  CHECK(double_ms(-0.0) == "0");
  CHECK(double_ms(0.1 + 0.2) == "0.3");
  CHECK(double_ms(20.1239999999) == "20.124");
  CHECK(double_ms(0.0000004) == "0");
  CHECK(double_ms(0.0000006) == "0.000001");
  CHECK(double_ms(std::numeric_limits<double>::quiet_NaN()) == "null");
  CHECK(double_ms(std::numeric_limits<double>::infinity()) == "null");
  CHECK(double_ms(1e20) == "1e+20");
}

TEST_CASE("number_format: a double is the shortest text that reads back") {
  CHECK(number(0.5) == "0.5");
  CHECK(number(21) == "21");
  CHECK(number(1e20) == "1e+20");
  CHECK(number(0.1) == "0.1");
  CHECK(number(1.0 / 3) == "0.3333333333333333");
  CHECK(number(0.07) == "0.07");
  CHECK(number(std::numeric_limits<double>::quiet_NaN()) == "null");
  CHECK(number(-std::numeric_limits<double>::infinity()) == "null");
  for (const double value : {1e-310, 5e-324, 1.7976931348623157e308, 0.1 + 0.2, 123456.789, -2.5}) {
    const std::string text = number(value);
    double back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    CHECK(back == value);
  }
}

TEST_CASE("number_format: whole numbers up to 2^64-1") {
  std::string out;
  append_uint(out, 0);
  out += ' ';
  append_uint(out, std::numeric_limits<std::uint64_t>::max());
  CHECK(out == "0 18446744073709551615");
}

TEST_CASE("number_format: JSON strings escape what JSON forbids and pass the rest") {
  CHECK(json("") == "\"\"");
  CHECK(json("a \"b\" \\ /") == R"("a \"b\" \\ /")");
  CHECK(json("\n\t\r\b\f") == R"("\n\t\r\b\f")");
  CHECK(json(std::string_view("\0\x1f", 2)) == R"("\u0000\u001f")");
  CHECK(json("\x7f") == "\"\x7f\"");
  CHECK(json("é € 漢 😀") == "\"é € 漢 😀\"");
}

TEST_CASE("number_format: bytes that are no UTF-8 become the replacement character, one each") {
  CHECK(json("a\xff"
             "b") == "\"a\uFFFDb\"");
  CHECK(json("\xe2\x82") == "\"\uFFFD\uFFFD\"");                      // cut off
  CHECK(json("\xc0\xaf") == "\"\uFFFD\uFFFD\"");                      // overlong
  CHECK(json("\xed\xa0\x80") == "\"\uFFFD\uFFFD\uFFFD\"");            // a surrogate
  CHECK(json("\xf4\x90\x80\x80") == "\"\uFFFD\uFFFD\uFFFD\uFFFD\"");  // beyond U+10FFFF
}

TEST_CASE("number_format: hex16 always has sixteen digits") {
  CHECK(hex16(0) == "0000000000000000");
  CHECK(hex16(0xABC) == "0000000000000abc");
  CHECK(hex16(0xF00000000000000F) == "f00000000000000f");
}

TEST_CASE("utf8: columns of a terminal") {
  CHECK(columns_of(std::string_view("abc")) == 3);
  CHECK(columns_of(std::string_view("é█…")) == 3);
  CHECK(columns_of(std::string_view("漢字")) == 4);
  CHECK(columns_of(std::string_view("e\u0301")) == 1);
  CHECK(columns_of(std::string_view("\xff\xff")) == 2);
}

TEST_CASE("utf8: printable text can't steer a terminal") {
  CHECK(printable("a\x1b[31mb\n\x7f") == "a [31mb  ");
  CHECK(printable("a\xc2\x9b"
                  "b") == "a b");         // CSI as a C1 control
  CHECK(printable("a\u202Eb") == "a b");  // right-to-left override
  CHECK(printable("x\xff") == "x?");
  CHECK(printable("né", true) == "n?");
}
