#include "core/validate.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

using namespace halfopen;

namespace {

constexpr std::uint64_t MS = 1'000'000'000'000;
constexpr std::uint64_t U32 = 4'294'967'295;

UpstreamConfig good() {
  UpstreamConfig upstream;
  upstream.name = "api";
  upstream.endpoints = {{"10.0.0.1", 8080, 1}};
  upstream.health.emplace();
  upstream.active_health.emplace();
  upstream.breaker.emplace();
  return upstream;
}

// The pointers of what is wrong after `change`.
std::vector<std::string> wrong(const std::function<void(UpstreamConfig&)>& change) {
  UpstreamConfig upstream = good();
  change(upstream);
  std::vector<std::string> pointers;
  for (const Problem& problem : validate({upstream})) pointers.push_back(problem.pointer);
  return pointers;
}

using Pointers = std::vector<std::string>;

// One below the least, the least, the most, one above the most.
template <class Set>
void edges(const std::string& pointer, std::uint64_t min, std::uint64_t max, bool above_fits, Set set) {
  CAPTURE(pointer);
  const auto with = [&](std::uint64_t value) { return wrong([&](UpstreamConfig& u) { set(u, value); }); };
  if (min > 0) CHECK(with(min - 1) == Pointers{pointer});
  CHECK(with(min).empty());
  CHECK(with(max).empty());
  if (above_fits) CHECK(with(max + 1) == Pointers{pointer});
}

template <class T>
T as(std::uint64_t value) {
  return static_cast<T>(value);
}

}  // namespace

TEST_CASE("validate: a good configuration, and none at all") {
  CHECK(validate({good()}).empty());
  CHECK(validate({}).empty());
}

TEST_CASE("validate: passive health at every edge") {
  edges("/0/health/window_ms", 1, MS, true, [](auto& u, auto v) { u.health->window_ms = v; });
  edges("/0/health/consecutive_failures", 1, U32, false,
        [](auto& u, auto v) { u.health->consecutive_failures = as<std::uint32_t>(v); });
  edges("/0/health/failure_min_volume", 1, U32, false,
        [](auto& u, auto v) { u.health->failure_min_volume = as<std::uint32_t>(v); });
  edges("/0/health/eject_ms", 1, MS, true, [](auto& u, auto v) { u.health->eject_ms = v; });
  edges("/0/health/half_open_probes", 1, 65535, true,
        [](auto& u, auto v) { u.health->half_open_probes = as<std::uint32_t>(v); });
}

TEST_CASE("validate: the breaker at every edge") {
  edges("/0/breaker/consecutive_failures", 1, U32, false,
        [](auto& u, auto v) { u.breaker->consecutive_failures = as<std::uint32_t>(v); });
  edges("/0/breaker/error_volume", 1, U32, false,
        [](auto& u, auto v) { u.breaker->error_volume = as<std::uint32_t>(v); });
  edges("/0/breaker/open_ms", 1, MS, true, [](auto& u, auto v) { u.breaker->open_ms = v; });
  edges("/0/breaker/half_open_probes", 1, 65535, true,
        [](auto& u, auto v) { u.breaker->half_open_probes = as<std::uint32_t>(v); });
}

TEST_CASE("validate: the interval of active health at every edge") {
  const auto with = [](std::uint64_t interval) {
    return wrong([&](UpstreamConfig& u) {
      u.active_health->interval_ms = interval;
      u.active_health->timeout_ms = 1;
      u.active_health->jitter_ms = 0;
    });
  };
  const std::string pointer = "/0/active_health/interval_ms";
  CHECK(with(0) == Pointers{pointer, pointer});  // out of range, and below timeout_ms
  CHECK(with(1).empty());
  CHECK(with(MS).empty());
  CHECK(with(MS + 1) == Pointers{pointer});
}

TEST_CASE("validate: thresholds and jitter of active health at every edge") {
  edges("/0/active_health/success_threshold", 1, U32, false,
        [](auto& u, auto v) { u.active_health->success_threshold = as<std::uint32_t>(v); });
  edges("/0/active_health/failure_threshold", 1, U32, false,
        [](auto& u, auto v) { u.active_health->failure_threshold = as<std::uint32_t>(v); });
  edges("/0/active_health/timeout_ms", 1, 5000, false,
        [](auto& u, auto v) { u.active_health->timeout_ms = v; });
  edges("/0/active_health/jitter_ms", 0, 5000, false,
        [](auto& u, auto v) { u.active_health->jitter_ms = v; });
}

TEST_CASE("validate: interval_ms is at least timeout_ms and jitter_ms, and equal is enough") {
  const auto with = [](std::uint64_t timeout, std::uint64_t jitter) {
    return wrong([&](UpstreamConfig& u) {
      u.active_health->timeout_ms = timeout;
      u.active_health->jitter_ms = jitter;
    });
  };
  CHECK(with(5000, 5000).empty());
  CHECK(with(5001, 0) == Pointers{"/0/active_health/interval_ms"});
  CHECK(with(1, 5001) == Pointers{"/0/active_health/interval_ms"});
}

TEST_CASE("validate: retries and timeouts at every edge") {
  edges("/0/retries/attempts", 0, 10, true,
        [](auto& u, auto v) { u.retries.attempts = as<std::uint32_t>(v); });
  edges("/0/retries/budget_percent", 1, U32, false,
        [](auto& u, auto v) { u.retries.budget_percent = as<std::uint32_t>(v); });
  edges("/0/retries/total_deadline_ms", 1, 600000, true,
        [](auto& u, auto v) { u.retries.total_deadline_ms = v; });
  edges("/0/retries/backoff_base_ms", 0, 250, false, [](auto& u, auto v) { u.retries.backoff_base_ms = v; });
  edges("/0/retries/backoff_cap_ms", 25, MS, true, [](auto& u, auto v) { u.retries.backoff_cap_ms = v; });
  edges("/0/timeouts/connect_ms", 1, MS, true, [](auto& u, auto v) { u.timeouts.connect_ms = v; });
  edges("/0/timeouts/read_ms", 1, MS, true, [](auto& u, auto v) { u.timeouts.read_ms = v; });
  edges("/0/timeouts/happy_eyeballs_ms", 0, MS, true,
        [](auto& u, auto v) { u.timeouts.happy_eyeballs_ms = v; });
  edges("/0/slow_start_ms", 0, MS, true, [](auto& u, auto v) { u.slow_start_ms = v; });
  CHECK(wrong([](UpstreamConfig& u) { u.retries.retry_statuses.set(100); }).empty());
  CHECK(wrong([](UpstreamConfig& u) { u.retries.retry_statuses.set(99); }) ==
        Pointers{"/0/retries/retry_statuses"});
}

TEST_CASE("validate: ratios lie above 0 and not above 1") {
  const auto with = [](double ratio) {
    return wrong([&](UpstreamConfig& u) { u.health->failure_ratio = u.breaker->error_ratio = ratio; });
  };
  const Pointers both{"/0/health/failure_ratio", "/0/breaker/error_ratio"};
  CHECK(with(std::numeric_limits<double>::denorm_min()).empty());
  CHECK(with(1.0).empty());
  CHECK(with(0.0) == both);
  CHECK(with(-0.5) == both);
  CHECK(with(std::nextafter(1.0, 2.0)) == both);
  CHECK(with(std::nan("")) == both);
}

TEST_CASE("validate: ports, weights and their sum") {
  edges("/0/endpoints/0/port", 1, 65535, false,
        [](auto& u, auto v) { u.endpoints[0].port = as<std::uint16_t>(v); });
  edges("/0/endpoints/0/weight", 1, 65536, true,
        [](auto& u, auto v) { u.endpoints[0].weight = as<std::uint32_t>(v); });
  const auto two = [](std::uint32_t a, std::uint32_t b) {
    return wrong([&](UpstreamConfig& u) { u.endpoints = {{"a", 1, a}, {"b", 1, b}}; });
  };
  CHECK(two(32768, 32768).empty());
  CHECK(two(32768, 32769) == Pointers{"/0/endpoints"});
}

TEST_CASE("validate: 65,536 endpoints are enough for everybody") {
  std::vector<UpstreamConfig> upstreams(2, good());
  upstreams[1].name = "web";
  for (UpstreamConfig& upstream : upstreams) {
    upstream.endpoints.clear();
    for (int n = 0; n < 32768; ++n) upstream.endpoints.push_back({"h" + std::to_string(n), 80, 1});
  }
  CHECK(validate(upstreams).empty());
  upstreams[1].endpoints.push_back({"one-more", 80, 1});
  const std::vector<Problem> problems = validate(upstreams);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].pointer.empty());
  CHECK(problems[0].message == "there are 65537 endpoints: a configuration must have at most 65536");
}

TEST_CASE("validate: an upstream has endpoints, and each of them once") {
  CHECK(wrong([](UpstreamConfig& u) { u.endpoints.clear(); }) == Pointers{"/0/endpoints"});
  CHECK(wrong([](UpstreamConfig& u) { u.endpoints.push_back({"10.0.0.1", 8081, 1}); }).empty());
  CHECK(wrong([](UpstreamConfig& u) { u.endpoints.push_back(u.endpoints[0]); }) ==
        Pointers{"/0/endpoints/1"});
}

TEST_CASE("validate: two upstreams may share an endpoint but not a name") {
  UpstreamConfig other = good();
  CHECK(validate({good(), other}).size() == 1);
  CHECK(validate({good(), other})[0].pointer == "/1/name");
  other.name = "web";
  CHECK(validate({good(), other}).empty());
  CHECK(wrong([](UpstreamConfig& u) { u.name.clear(); }) == Pointers{"/0/name"});
}

TEST_CASE("validate: addresses are hosts") {
  const auto with = [](const char* address) {
    return wrong([&](UpstreamConfig& u) { u.endpoints[0].address = address; });
  };
  for (const char* address : {"10.0.0.1", "api.internal", "::1", "fe80::1%eth0", "::ffff:10.0.0.1"}) {
    CAPTURE(address);
    CHECK(with(address).empty());
  }
  for (const char* address : {"", "a b", "http://a", "[::1]", "10.0.0.1:8080", "a\n"}) {
    CAPTURE(address);
    CHECK(with(address) == Pointers{"/0/endpoints/0/address"});
  }
}

TEST_CASE("validate: active health needs health and a path, tcp no path") {
  CHECK(wrong([](UpstreamConfig& u) { u.health.reset(); }) == Pointers{"/0/active_health"});
  CHECK(wrong([](UpstreamConfig& u) { u.active_health->path = "healthz"; }) ==
        Pointers{"/0/active_health/path"});
  CHECK(wrong([](UpstreamConfig& u) {
          u.active_health->path = "";
          u.active_health->kind = ProbeKind::tcp;
        }).empty());
}

TEST_CASE("validate: a message names the field, the value, the rule and what would be right") {
  UpstreamConfig upstream = good();
  upstream.health->eject_ms = 0;
  upstream.retries.backoff_base_ms = 300;
  const std::vector<Problem> problems = validate({upstream});
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].message == "eject_ms is 0: it must be 1 … 1000000000000 ms (default 30000)");
  CHECK(problems[1].message == "backoff_cap_ms is 250: it must be at least backoff_base_ms, which is 300");
  CHECK(problems[1].other == "/0/retries/backoff_base_ms");
}
