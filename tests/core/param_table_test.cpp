#include "core/param_table.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

using namespace halfopen;

namespace {

const SettingText& row(const std::string& block, const std::string& name) {
  const auto all = all_settings();
  const auto found = std::find_if(all.begin(), all.end(), [&](const SettingText& text) {
    return text.block == block && text.name == name;
  });
  REQUIRE(found != all.end());
  return *found;
}

}  // namespace

TEST_CASE("param_table: every setting of the specification is there once and says what it is") {
  std::set<std::pair<std::string, std::string>> names;
  for (const SettingText& text : all_settings()) {
    CAPTURE(text.block);
    CAPTURE(text.name);
    CHECK(names.emplace(text.block, text.name).second);
    CHECK(text.about.size() > 20);
    CHECK(text.about.back() == '.');
    const bool in_ms = text.name.size() > 3 && text.name.substr(text.name.size() - 3) == "_ms";
    CHECK(in_ms == (text.unit == "ms"));
  }
  CHECK(names.size() == 37);
}

TEST_CASE("param_table: defaults are those of the documents") {
  CHECK(row("health", "window_ms").default_value == "60000");
  CHECK(row("health", "failure_ratio").default_value == "0.5");
  CHECK(row("active_health", "kind").default_value == "\"http\"");
  CHECK(row("active_health", "path").default_value == "\"/healthz\"");
  CHECK(row("breaker", "open_ms").default_value == "30000");
  CHECK(row("retries", "retry_statuses").default_value == "[502, 503, 504]");
  CHECK(row("retries", "retry_transport").default_value == "true");
  CHECK(row("retries", "total_deadline_ms").default_value.empty());
  CHECK(row("endpoint", "weight").default_value == "1");
  CHECK(row("endpoint", "port").default_value.empty());
  CHECK(row("upstream", "late_reports").default_value == "\"count\"");
}

TEST_CASE("param_table: ranges and types as a reference prints them") {
  CHECK(row("health", "half_open_probes").range == "1 … 65535");
  CHECK(row("breaker", "error_ratio").range == "(0, 1]");
  CHECK(row("breaker", "error_ratio").type == "number");
  CHECK(row("upstream", "load_balancer").range == "round_robin | least_requests | random | ip_hash");
  CHECK(row("retries", "retry_statuses").type == "statuses");
  CHECK(row("active_health", "jitter_ms").range == "0 … 1000000000000");
}

TEST_CASE("param_table: the end of a message about a range") {
  CHECK(rule_of(settings<HealthParams>()[1]) == "must be 1 … 4294967295 failures (default 5)");
  CHECK(rule_of(settings<HealthParams>()[2]) == "must be in (0, 1] (default 0.5)");
  CHECK(rule_of(settings<EndpointConfig>()[1]) == "must be 1 … 65535");
  CHECK(rule_of(settings<TimeoutParams>()[1]) == "must be 1 … 1000000000000 ms (left out: none)");
}

TEST_CASE("params: the words of files and back") {
  const auto round_trip = [](auto first, int count) {
    using Enum = decltype(first);
    for (int n = 0; n < count; ++n) {
      const auto value = static_cast<Enum>(n);
      Enum read = static_cast<Enum>((n + 1) % count);
      CHECK(parse(to_string(value), read));
      CHECK(read == value);
      CHECK_FALSE(parse("", read));
      CHECK(read == value);
    }
    CHECK(std::string(to_string(static_cast<Enum>(count))).empty());
  };
  round_trip(Algorithm{}, 4);
  round_trip(Protocol{}, 3);
  round_trip(ProbeKind{}, 2);
  round_trip(LateReports{}, 2);
}

TEST_CASE("params: an IPv6 endpoint is named in brackets") {
  CHECK(EndpointConfig{"10.0.0.1", 8080, 1}.name() == "10.0.0.1:8080");
  CHECK(EndpointConfig{"::1", 8080, 1}.name() == "[::1]:8080");
  CHECK(without_brackets("[::1]") == "::1");
  CHECK(without_brackets("::1") == "::1");
  CHECK(without_brackets("[]") == "[]");
}

TEST_CASE("param_table: the shortest text of a double") {
  CHECK(shortest(0.5) == "0.5");
  CHECK(shortest(100) == "100");
  CHECK(shortest(0.1 + 0.2) == "0.30000000000000004");
}
