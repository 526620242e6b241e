// What the file says of bursts and cold starts, as it arrives.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "tests/sim/scenario_texts.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using testing::good;
using testing::mistakes;
using testing::scenario;

namespace {

std::string with(const std::string& fault) {
  return scenario(R"("endpoints": { "a:1": { "faults": [ )" + fault + " ] } }");
}

std::string bursts(const std::string& mean_good_ms, const std::string& mean_bad_ms) {
  return R"({ "bursts": { "mean_good_ms": )" + mean_good_ms + R"(, "mean_bad_ms": )" + mean_bad_ms +
         R"(, "error_ratio": 1 } })";
}

// Warnings are none.
std::ptrdiff_t mistakes_of(const std::string& fault) {
  const Loaded loaded = load_scenario_text(with(fault), "t.json");
  return std::count_if(loaded.mistakes.begin(), loaded.mistakes.end(),
                       [](const Mistake& mistake) { return !mistake.warning; });
}

}  // namespace

TEST_CASE("faults reader: bursts arrive as written, with 503 by default") {
  const Scenario read =
      good(with(R"({ "from_ms": 2, "scope": "traffic", "bursts": { "mean_good_ms": 0.1234567, )"
                R"("mean_bad_ms": 5, "error_ratio": 0.25 } }, )"
                R"({ "bursts": { "mean_good_ms": 1, "mean_bad_ms": 1, "error_ratio": 0, "status": 429 } })"));
  const Fault& first = read.servers[0].faults.at(0);
  const auto& plain = std::get<BurstsFault>(first.kind);
  CHECK(first.from == 2 * NANOS_PER_MS);
  CHECK(first.scope == Scope::traffic);
  CHECK(plain.mean_good_ms == 0.1234567);  // a mean is no time: it is not rounded to the ns
  CHECK(plain.mean_bad_ms == 5);
  CHECK(plain.error_ratio == 0.25);
  CHECK(plain.status == 503);
  CHECK(std::get<BurstsFault>(read.servers[0].faults.at(1).kind).status == 429);
  CHECK(read.servers[1].faults.empty());
}

TEST_CASE("faults reader: a cold start arrives as written") {
  const Scenario read =
      good(with(R"({ "to_ms": 9, "cold_start": { "for_ms": 0.5, "latency_factor": 2.5 } })"));
  const Fault& fault = read.servers[0].faults.at(0);
  CHECK(fault.to == 9 * NANOS_PER_MS);
  CHECK(std::get<ColdStartFault>(fault.kind).length == NANOS_PER_MS / 2);
  CHECK(std::get<ColdStartFault>(fault.kind).latency_factor == 2.5);
}

TEST_CASE("faults reader: a mean stay lasts a nanosecond at least") {
  CHECK(mistakes_of(bursts("0.000001", "1000")) == 0);
  CHECK(mistakes_of(bursts("0.0000009", "1000")) == 1);
  CHECK(mistakes_of(bursts("1000", "0.0000009")) == 1);
  CHECK(mistakes_of(bursts("1000", "1e10")) == 0);
  CHECK(mistakes_of(bursts("1000", "1.1e10")) == 1);
}

TEST_CASE("faults reader: bursts that would change too often are refused, one below and one above") {
  // 1000 ms of them, in stays of this many ms.
  CHECK(mistakes_of(bursts("0.000005", "0.0000051")) == 0);
  CHECK(mistakes_of(bursts("0.000005", "0.0000049")) == 1);
  const std::string brief = bursts("0.000001", "0.000001");
  CHECK(mistakes_of("{ \"to_ms\": 1, " + brief.substr(1)) == 0);
  CHECK(mistakes_of("{ \"from_ms\": 1000, " + brief.substr(1)) == 0);
  const std::string half = bursts("0.000008", "0.000008");
  CHECK(mistakes_of(half) == 0);
  CHECK(mistakes_of(half + ", " + half) == 1);  // all together
}
