#include "sim/scenario_json.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/sim/scenario_texts.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using testing::good;
using testing::mistakes;
using testing::scenario;

namespace {

template <class T>
const T& kind(const Fault& fault) {
  REQUIRE(std::holds_alternative<T>(fault.kind));
  return std::get<T>(fault.kind);
}

template <class T>
const T& kind(const Latency& latency) {
  REQUIRE(std::holds_alternative<T>(latency));
  return std::get<T>(latency);
}

}  // namespace

TEST_CASE("scenario_json: the least scenario has every default") {
  const Scenario s = good(scenario(""));
  CHECK(s.seed == 1);
  CHECK(s.duration == 1000 * NANOS_PER_MS);
  CHECK(s.sample == 1000 * NANOS_PER_MS);
  CHECK(s.clock.start_unix_ms == 1'700'000'000'000);
  CHECK_FALSE(s.clock.monotonic);
  REQUIRE(s.upstreams.size() == 1);
  CHECK_FALSE(s.upstreams[0].health);
  CHECK(s.upstreams[0].retries == RetryParams{});
  CHECK(s.upstreams[0].timeouts == TimeoutParams{});
  REQUIRE(s.servers.size() == 2);
  CHECK(s.servers[1].name == "b:2");
  CHECK(kind<FixedLatency>(s.servers[0].latency).ms == 1);
  CHECK_FALSE(s.servers[0].capacity);
}

TEST_CASE("scenario_json: every setting of an upstream arrives") {
  const Scenario s =
      good(R"({ "duration_ms": 1000, "upstreams": [ { "name": "api", "load_balancer": "ip_hash",
    "slow_start_ms": 1, "protocol": "https", "trusted_ca_file": "ca", "late_reports": "ignore",
    "endpoints": [ { "address": "[::1]", "port": 65535, "weight": 2 } ],
    "health": { "window_ms": 2, "consecutive_failures": 3, "failure_ratio": 0.25, "failure_min_volume": 4,
                "eject_ms": 5, "half_open_probes": 6 },
    "active_health": { "kind": "tcp", "path": "/x", "interval_ms": 9, "timeout_ms": 7, "success_threshold": 8,
                       "failure_threshold": 10, "jitter_ms": 0 },
    "breaker": { "consecutive_failures": 11, "error_ratio": 1, "error_volume": 12, "open_ms": 13, "half_open_probes": 14 },
    "retries": { "attempts": 2, "backoff_base_ms": 0, "backoff_cap_ms": 15, "retry_statuses": [429],
                 "retry_transport": false, "budget_percent": 16, "total_deadline_ms": 17 },
    "timeouts": { "connect_ms": 18, "read_ms": 19, "happy_eyeballs_ms": 0 } } ] })");
  UpstreamConfig want;
  want.name = "api";
  want.load_balancer = Algorithm::ip_hash;
  want.slow_start_ms = 1;
  want.protocol = Protocol::https;
  want.trusted_ca_file = "ca";
  want.late_reports = LateReports::ignore;
  want.endpoints = {{"::1", 65535, 2}};
  want.health = HealthParams{2, 3, 0.25, 4, 5, 6};
  want.active_health = ActiveParams{ProbeKind::tcp, "/x", 9, 7, 8, 10, 0};
  want.breaker = BreakerParams{11, 1, 12, 13, 14};
  want.retries = RetryParams{2, 0, 15, StatusSet{}.set(429), false, 16, 17};
  want.timeouts = TimeoutParams{18, 19, 0};
  CHECK(s.upstreams[0] == want);
  CHECK(s.servers[0].name == "[::1]:65535");
}

TEST_CASE("scenario_json: an endpoint's key replaces the base's, its faults come after the base's") {
  const Scenario s = good(scenario(R"("endpoints": {
    "*": { "latency": { "fixed": { "ms": 5 } }, "capacity": { "concurrency": 2 }, "faults": [ { "down": {} } ] },
    "b:2": { "latency": { "uniform": { "min_ms": 1, "max_ms": 2 } }, "faults": [ { "hang": { "ratio": 1 } } ] } })"));
  CHECK(kind<FixedLatency>(s.servers[0].latency).ms == 5);
  CHECK(s.servers[0].faults.size() == 1);
  CHECK(kind<UniformLatency>(s.servers[1].latency).max_ms == 2);
  REQUIRE(s.servers[1].capacity);
  CHECK(s.servers[1].capacity->concurrency == 2);
  CHECK(s.servers[1].capacity->queue == 0);
  CHECK(s.servers[1].capacity->overflow_status == 503);
  REQUIRE(s.servers[1].faults.size() == 2);
  CHECK(kind<DownFault>(s.servers[1].faults[0]).kind == DownKind::refused);
  CHECK(kind<HangFault>(s.servers[1].faults[1]).ratio == 1);
}

TEST_CASE("scenario_json: every latency kind") {
  const auto latency = [](const std::string& text) {
    return good(scenario(R"("endpoints": { "*": { "latency": )" + text + " } }")).servers[0].latency;
  };
  CHECK(kind<ExponentialLatency>(latency(R"({"exponential":{"mean_ms":20}})")).mean_ms == 20);
  CHECK(kind<LognormalLatency>(latency(R"({"lognormal":{"p50_ms":1,"p99_ms":2}})")).mu == 0);
  CHECK(kind<LognormalLatency>(latency(R"({"lognormal":{"mean_ms":5,"sd_ms":0}})")).sigma == 0);
  CHECK(kind<ParetoLatency>(latency(R"({"pareto":{"min_ms":1,"alpha":1.5,"max_ms":9}})")).alpha == 1.5);
  CHECK(*kind<EmpiricalLatency>(latency(R"({"empirical":{"ms":[3, 0.5]}})")).ms ==
        std::vector<double>{3, 0.5});
}

TEST_CASE("scenario_json: every fault kind") {
  const auto faults =
      good(scenario(
               R"("endpoints": { "a:1": { "capacity": { "concurrency": 1, "overflow": "reset" }, "faults": [
    { "from_ms": 0.0000014, "to_ms": 5, "scope": "probes", "error": { "ratio": 0.5 } },
    { "down": { "kind": "timeout" } },
    { "latency": { "add_ms": 1, "factor": 2, "ramp_ms": 3 } },
    { "brownout": { "error_ratio": 0.1, "status": 500, "latency_factor": 2, "capacity_factor": 0.5 } },
    { "flap": { "up_ms": 1, "down_ms": 2, "jitter_ms": 0.5, "kind": "reset" } },
    { "outcomes": " F S\n429 reset " },
    { "truncate": { "ratio": 0 } } ] } })"))
          .servers[0];
  CHECK_FALSE(faults.capacity->overflow_status);
  REQUIRE(faults.faults.size() == 7);
  CHECK(faults.faults[0].from == 1);  // to the nearest ns
  CHECK(faults.faults[0].to == 5'000'000);
  CHECK(faults.faults[0].scope == Scope::probes);
  CHECK(kind<ErrorFault>(faults.faults[0]).status == 503);
  CHECK(kind<DownFault>(faults.faults[1]).kind == DownKind::timeout);
  CHECK(faults.faults[1].to == NEVER);
  CHECK(kind<LatencyFault>(faults.faults[2]).ramp == 3'000'000);
  CHECK(kind<BrownoutFault>(faults.faults[3]).capacity_factor == 0.5);
  CHECK(kind<FlapFault>(faults.faults[4]).down == 2'000'000);
  const auto& script = kind<OutcomesFault>(faults.faults[5]).list;
  REQUIRE(script.size() == 4);
  CHECK(script[0].status == 503);
  CHECK(script[2].status == 429);
  CHECK(script[3].status == 0);
  CHECK(faults.faults[5].scope == Scope::traffic);
}

TEST_CASE("scenario_json: every source of traffic") {
  const auto traffic = good(scenario(R"("traffic": [
    { "upstream": "api", "arrivals": "poisson", "rate_rps": 5, "from_ms": 1, "to_ms": 2 },
    { "upstream": "api", "arrivals": "uniform", "rate_rps": 1, "stages": [ { "target_rps": 3, "duration_ms": 0 }, { "target_rps": 0, "duration_ms": 4 } ] },
    { "upstream": "api", "at_ms": [ 150, 50 ], "keys": { "clients": 7 } },
    { "upstream": "api", "every_ms": 100, "abandon": { "ratio": 1, "after_ms": 0 } } ])"))
                           .traffic;
  REQUIRE(traffic.size() == 4);
  CHECK(std::get<ArrivalProcess>(traffic[0].source).poisson);
  CHECK(traffic[0].to == 2'000'000);
  const auto& stages = std::get<ArrivalProcess>(traffic[1].source).stages;
  REQUIRE(stages.size() == 2);
  CHECK(stages[0].from_rps == 1);
  CHECK(stages[1].from_rps == 3);
  CHECK(std::get<ArrivalTimes>(traffic[2].source).at == std::vector<Nanos>{150'000'000, 50'000'000});
  CHECK(traffic[2].keys->clients == 7);
  CHECK(std::get<ArrivalEvery>(traffic[3].source).every == 100'000'000);
  CHECK(traffic[3].abandon->ratio == 1);
}

TEST_CASE("scenario_json: reloads are worked out in the order of time, each on what stood before") {
  const Scenario s = good(scenario(R"("reloads": [
    { "at_ms": 20, "patch": [ { "op": "replace", "path": "/upstreams/0/health/eject_ms", "value": 7 } ] },
    { "at_ms": 10, "patch": [ { "op": "add", "path": "/upstreams/0/health", "value": { "eject_ms": 5 } },
                              { "op": "add", "path": "/upstreams/0/endpoints/-", "value": { "address": "c", "port": 3 } } ] },
    { "at_ms": 20, "upstreams": [] } ],
    "endpoints": { "c:3": {} }, "expect": [ { "never": "endpoint_ejected", "endpoint": "c:3" } ])"));
  REQUIRE(s.reloads.size() == 3);
  CHECK(s.reloads[0].at == 10'000'000);
  CHECK(s.reloads[0].upstreams[0].health->eject_ms == 5);
  CHECK(s.reloads[1].upstreams[0].health->eject_ms == 7);
  CHECK(s.reloads[1].upstreams[0].endpoints.size() == 3);
  CHECK(s.reloads[2].upstreams.empty());
  CHECK(s.servers.size() == 3);
  CHECK(s.expect[0].problem.empty());
}

TEST_CASE("scenario_json: a reload is not blamed for what was wrong before it") {
  CHECK(mistakes(R"({ "duration_ms": 1, "upstreams": [ { "name": "api", "endpoints": [] } ],
    "reloads": [ { "at_ms": 0, "patch": [ { "op": "replace", "path": "/upstreams/0/name", "value": "x" } ] } ] })")
            .size() == 1);
}

TEST_CASE("scenario_json: a patch that copies itself over and over is refused, not run out of memory") {
  std::string ops;
  for (int n = 0; n < 60; ++n) ops += R"({ "op": "copy", "from": "/upstreams", "path": "/upstreams/0/x" },)";
  ops.pop_back();
  const auto found = mistakes(scenario(R"("reloads": [ { "at_ms": 1, "patch": [ )" + ops + " ] } ]"));
  CHECK_FALSE(found.empty());
}

TEST_CASE("scenario_json: expectations and where they stand") {
  const Scenario s =
      good(scenario("\"expect\": [\n"
                    "{ \"event\": \"endpoint_ejected\", /* why */ \"count\": 2, \"rule\": \"failure_ratio\", "
                    "\"at_ms\": 5 },\n"
                    "  { \"never\": \"breaker_opened\", \"upstream\": \"api\", \"between_ms\": [1, 2.5] },\n"
                    "{ \"state\": \"half_open\", \"endpoint\": \"a:1\", \"at_ms\": 7 },\n"
                    "{ \"event\": \"endpoint_recovered\", \"via\": \"late_report\", \"at_most\": 0 } ]"));
  REQUIRE(s.expect.size() == 4);
  CHECK(s.expect[0].text == R"({"event":"endpoint_ejected","count":2,"rule":"failure_ratio","at_ms":5})");
  CHECK(s.expect[1].place.line == 3);
  CHECK(s.expect[1].place.column == 3);
  const auto& event = std::get<ExpectEvent>(s.expect[0].what);
  CHECK(event.relation == CountIs::exactly);
  CHECK(event.count == 2);
  CHECK(event.pattern.rule == Rule::failure_ratio);
  CHECK(event.when.at_ms == 5);
  CHECK(std::get<ExpectNever>(s.expect[1].what).when.between_ms == std::make_pair(1.0, 2.5));
  CHECK(std::get<ExpectState>(s.expect[2].what).state == "half_open");
  CHECK(std::get<ExpectEvent>(s.expect[3].what).pattern.via == Via::late_report);
}

TEST_CASE("scenario_json: an expectation of what does not exist is loaded and has a problem") {
  const Scenario s = good(scenario(
      R"("expect": [ { "event": "endpoint_ejectet" }, { "never": "breaker_opened", "upstream": "web" },
    { "state": "open", "endpoint": "a:1", "at_ms": 1 }, { "state": "open", "upstream": "api", "at_ms": 1 },
    { "event": "endpoint_ejected", "rule": "ratio" }, { "event": "endpoint_ejected", "endpoint": "a:2" } ])"));
  REQUIRE(s.expect.size() == 6);
  CHECK(s.expect[0].problem.find("did you mean \"endpoint_ejected\"") != std::string::npos);
  CHECK_FALSE(s.expect[1].problem.empty());
  CHECK_FALSE(s.expect[2].problem.empty());
  CHECK(s.expect[3].problem.empty());
  CHECK_FALSE(s.expect[4].problem.empty());
  CHECK(s.expect[5].problem.find("did you mean \"a:1\"") != std::string::npos);
}
