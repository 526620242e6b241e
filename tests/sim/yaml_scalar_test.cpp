#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "sim/yaml_source.hpp"

using namespace halfopen::sim;

namespace {

// As written, and as JSON would write it.
const std::vector<std::pair<std::string, std::string>> SCALARS{
    // clang-format off
    {"true", "true"}, {"False", "false"}, {"TRUE", "true"}, {"tRUE", "\"tRUE\""}, {"yes", "\"yes\""},
    {"no", "\"no\""}, {"on", "\"on\""}, {"off", "\"off\""}, {"y", "\"y\""}, {"null", "null"}, {"~", "null"},
    {"Null", "null"}, {"nULL", "\"nULL\""}, {"", "null"}, {"0", "0"}, {"-0", "0"}, {"+5", "5"},
    {"-17", "-17"}, {"18446744073709551615", "18446744073709551615"},
    {"18446744073709551616", "1.8446744073709552e+19"}, {"-9223372036854775808", "-9223372036854775808"},
    {"-9223372036854775809", "-9.223372036854776e+18"}, {"0x1f", "31"}, {"0XF", "\"0XF\""},
    {"0xFFFFFFFFFFFFFFFF", "18446744073709551615"}, {"0o17", "15"}, {"0o18", "\"0o18\""},
    {"-0x1", "\"-0x1\""}, {"0x", "\"0x\""}, {"0.5", "0.5"}, {".5", "0.5"}, {"5.", "5.0"},
    {"-.5e3", "-500.0"}, {"1e3", "1000.0"}, {"1E-2", "0.01"}, {"1e-999", "0.0"}, {".", "\".\""},
    {"1e", "\"1e\""}, {"e5", "\"e5\""}, {"1.2.3", "\"1.2.3\""}, {"10.0.0.1:8080", "\"10.0.0.1:8080\""},
    {"1:30", "\"1:30\""}, {"1_000", "\"1_000\""}, {"30s", "\"30s\""}, {"2024-01-01", "\"2024-01-01\""},
    {"inf", "\"inf\""}, {"nan", "\"nan\""}, {"\"5\"", "\"5\""}, {"'true'", "\"true\""}, {"\"\"", "\"\""},
    {"'~'", "\"~\""}, {"!!str 5", "\"5\""}, {"! 5", "\"5\""}, {"!!int \"5\"", "5"}, {"!!float 3", "3"},
    {"!!bool true", "true"}, {"!!null ''", "null"}, {"\"\\u00e4\\x41\"", "\"äA\""},
    // clang-format on
};

// What the scalar in `text` becomes, as JSON; or the sentence why nothing.
std::string value_of(const std::string& text) {
  const Document document = read_yaml("v: " + text + "\n");
  if (!document.readable) return document.findings.at(0).what;
  return document.root["v"].dump();
}

}  // namespace

TEST_CASE("yaml_scalar: plain scalars are those of the core schema of YAML 1.2") {
  for (const auto& scalar : SCALARS) {
    CAPTURE(scalar.first);
    CHECK(value_of(scalar.first) == scalar.second);
  }
}

TEST_CASE("yaml_scalar: what JSON can't hold, and what is not the same to all readers of YAML, is refused") {
  CHECK(value_of(".inf") == ".inf is no number here: write a finite one");
  CHECK(value_of("-.INF") == "-.INF is no number here: write a finite one");
  CHECK(value_of(".NaN") == ".NaN is no number here: write a finite one");
  CHECK(value_of("1e309") == "1e309 is too large for a number: at most about 1.8e308");
  CHECK(value_of("0x10000000000000000") == "0x10000000000000000 is larger than 64 bits: write it smaller");
  for (const char* octal : {"010", "-08", "00", "01.5"}) {
    CHECK(value_of(octal).find("is another number to some readers of YAML") != std::string::npos);
  }
  CHECK(value_of("!!bool yes") == "\"yes\" is no !!bool: write one, or remove the tag");
  CHECK(value_of("!!timestamp 1") == "the tag !!timestamp means nothing here: remove it");
}
