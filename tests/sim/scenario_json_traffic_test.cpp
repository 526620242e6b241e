// The traffic language as a file says it.
#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "sim/scenario_json.hpp"
#include "tests/sim/scenario_texts.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using testing::good;
using testing::mistakes;
using testing::scenario;
using testing::UPSTREAMS;

namespace {

constexpr Nanos MS = NANOS_PER_MS;

std::string entry(const std::string& more) {
  return scenario(R"("traffic": [ { "upstream": "api", )" + more + " } ]");
}

Traffic traffic(const std::string& more) { return good(entry(more)).traffic.at(0); }

ArrivalProcess process(const std::string& shape) {
  return std::get<ArrivalProcess>(traffic(R"("arrivals": "uniform", )" + shape).source);
}

std::size_t mistakes_of(const std::string& duration_ms, const std::string& more) {
  return mistakes("{ \"duration_ms\": " + duration_ms + ", " + UPSTREAMS +
                  R"(, "traffic": [ { "upstream": "api", )" + more + " } ] }")
      .size();
}

}  // namespace

TEST_CASE("scenario_json_traffic: steps are stages that end as they begin") {
  const auto stages =
      process(
          R"("step": [ { "rps": 5, "for_ms": 10 }, { "rps": 0, "for_ms": 0 }, { "rps": 2.5, "for_ms": 0.5 } ])")
          .stages;
  REQUIRE(stages.size() == 3);
  CHECK(stages[0].from_rps == 5);
  CHECK(stages[0].to_rps == 5);
  CHECK(stages[0].length == 10 * MS);
  CHECK(stages[1].to_rps == 0);
  CHECK(stages[2].from_rps == 2.5);
  CHECK(stages[2].length == 500'000);
}

TEST_CASE("scenario_json_traffic: bursts and waves, up to the greatest that they can be") {
  const BurstShape burst = process(R"("burst": { "rps": 7, "for_ms": 3, "every_ms": 3 })").burst.value();
  CHECK(burst.rps == 7);
  CHECK(burst.length == 3 * MS);
  CHECK(burst.every == 3 * MS);
  const WaveShape wave =
      process(R"("wave": { "mean_rps": 7, "amplitude_rps": 7, "period_ms": 0.25 })").wave.value();
  CHECK(wave.mean_rps == 7);
  CHECK(wave.amplitude_rps == 7);
  CHECK(wave.period == 250'000);
}

TEST_CASE("scenario_json_traffic: users and clients with their defaults") {
  const Traffic loop = traffic(R"("users": { "count": 4, "think_ms": 1.5 }, "client": { "timeout_ms": 9 })");
  CHECK(std::get<Users>(loop.source).count == 4);
  CHECK(std::get<Users>(loop.source).think == 1'500'000);
  CHECK(loop.client->timeout == 9 * MS);
  CHECK(loop.client->retries == 0);
  CHECK(loop.client->backoff_base_ms == 25);
  CHECK(loop.client->backoff_cap_ms == 250);
  CHECK_FALSE(loop.client->honours_retry_after);
  const Client client = traffic(R"("every_ms": 5, "client": { "retries": 1000, "backoff_base_ms": 7,
                                   "backoff_cap_ms": 7, "honours_retry_after": true })")
                            .client.value();
  CHECK(client.timeout == NEVER);
  CHECK(client.retries == 1000);
  CHECK(client.backoff_base_ms == 7);
  CHECK(client.backoff_cap_ms == 7);
  CHECK(client.honours_retry_after);
  CHECK_FALSE(traffic(R"("every_ms": 5)").client);
}

TEST_CASE("scenario_json_traffic: a trace is read beside the scenario, a time a line, and is in the digest") {
  const auto folder = std::filesystem::temp_directory_path() / "halfopen_trace_test";
  std::filesystem::create_directories(folder);
  const auto write = [&folder](const char* name, const char* content) {
    std::ofstream(folder / name, std::ios::binary) << content;
  };
  const std::string file = (folder / "s.json").string();
  const auto load = [&file](const std::string& name) {
    return load_scenario_text(entry(R"("from_ms": 1, "trace": ")" + name + "\""), file);
  };
  write("a.txt", "150\n\n  20.25 \r\n0.0000014\n-0\n3e2");
  write("b.txt", "150 \n20.25\n0.0000014\n0\n300\n\n\n");
  write("c.txt", "150\n20.25\n0.0000014\n0\n301\n");
  const Loaded loaded = load("a.txt");
  REQUIRE(loaded.scenario);
  CHECK(std::get<ArrivalTimes>(loaded.scenario->traffic[0].source).at ==
        std::vector<Nanos>{150 * MS, 20'250'000, 1, 0, 300 * MS});
  CHECK(loaded.effective_json.find(R"("trace":[150.0,20.25,0.0000014,0.0,300.0])") == std::string::npos);
  CHECK(loaded.effective_json.find(R"("trace":[150,20.25,1.4e-06,0,300])") != std::string::npos);
  CHECK(load("b.txt").scenario->digest == loaded.scenario->digest);
  CHECK(load("c.txt").scenario->digest != loaded.scenario->digest);

  const auto wrong = [&](const char* content) {
    write("wrong.txt", content);
    const Loaded bad = load("wrong.txt");
    CHECK_FALSE(bad.scenario);
    return bad.mistakes.at(0).what;
  };
  CHECK(wrong("1\n\n2 3\n") ==
        "trace is \"wrong.txt\": line 3 must hold nothing but a number from 0 to 1e+10, in ms");
  CHECK(wrong("-1").find("line 1") != std::string::npos);
  CHECK(wrong("5\n10000000000.1").find("line 2") != std::string::npos);
  CHECK(wrong("nan").find("line 1") != std::string::npos);
  CHECK(wrong(" \n\n") == "trace is \"wrong.txt\": it holds no number");
  std::filesystem::resize_file(folder / "wrong.txt", (std::uintmax_t{64} << 20) + 1);
  CHECK(load("wrong.txt").mistakes.at(0).what == "trace is \"wrong.txt\": it is larger than 64 MiB");
  std::filesystem::remove_all(folder);
}

TEST_CASE("scenario_json_traffic: without a source, with two, and without a shape, the choices are named") {
  const auto told = [](const std::string& more) {
    const auto found = mistakes(entry(more));
    return found.size() == 1 ? found[0].substr(found[0].find("traffic/0")) : "";
  };
  CHECK(told(R"("from_ms": 1)") ==
        "traffic/0: traffic needs a source: one of \"arrivals\" (with a shape), \"at_ms\", \"every_ms\", "
        "\"trace\" or \"users\"");
  CHECK(told(R"("every_ms": 5, "users": { "count": 1, "think_ms": 5 })").find("traffic has one source") !=
        std::string::npos);
  CHECK(
      told(R"("arrivals": "uniform")") ==
      "traffic/0: arrivals needs a shape: one of \"rate_rps\", \"stages\", \"step\", \"burst\" or \"wave\"");
  CHECK(told(R"("users": { "count": 1, "think_ms": 5 }, "step": [ { "rps": 5, "for_ms": 5 } ])") ==
        "traffic/0/step: step goes with \"arrivals\" alone: users says when requests come");
  CHECK(told(R"("arrivals": "uniform", "rate_rps": 1, "burst": { "rps": 5, "for_ms": 5, "every_ms": 5 })") ==
        "traffic/0/burst: burst beside rate_rps: traffic has one shape, so write an entry for each");
}

TEST_CASE("scenario_json_traffic: limits one below, at and above") {
  const auto think = [](const std::string& ms) {
    return mistakes_of("1000000", R"("users": { "count": 1000000, "think_ms": )" + ms + " }");
  };
  CHECK(think("5000") == 0);
  CHECK(think("4999") == 1);
  CHECK(think("0.000001") == 1);
  const auto tries = [](const std::string& retries) {
    return mistakes_of("1000000", R"("every_ms": 0.05, "client": { "retries": )" + retries + " }");
  };
  CHECK(tries("9") == 0);  // 2 * 10^7 requests, ten tries each
  CHECK(tries("10") == 1);
  const auto wave = [](const std::string& mean) {
    return mistakes_of("1000000",
                       R"("arrivals": "poisson", "wave": { "amplitude_rps": 1, "period_ms": 1000000,
                                     "mean_rps": )" +
                           mean + " }");
  };
  CHECK(wave("199999") == 0);
  CHECK(wave("200001") == 1);
  const auto burst = [](const std::string& rps) {
    return mistakes_of(
        "1000000",
        R"("arrivals": "uniform", "burst": { "for_ms": 10, "every_ms": 1000, "rps": )" + rps + " }");
  };
  CHECK(burst("19999999") == 0);
  CHECK(burst("20000001") == 1);
  const auto step = [](const std::string& rps) {
    return mistakes_of("1000000",
                       R"("arrivals": "uniform", "step": [ { "for_ms": 2000000, "rps": )" + rps + " } ]");
  };
  CHECK(step("200000") == 0);
  CHECK(step("200001") == 1);
}
