// Where an analysis takes its numbers from, what it says, and that runs of the simulator agree with it.
#include "sim/analysis.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/analysis_words.hpp"
#include "sim/writer_analysis.hpp"
#include "tests/sim/exact_judge.hpp"
#include "tests/sim/pool.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

UpstreamAnalysis only(const Scenario& scenario, const AnalysisOptions& options = {}) {
  const Analysis analysis = analyze(scenario, options);
  REQUIRE(analysis.upstreams.size() == 1);
  return analysis.upstreams[0];
}

}  // namespace

TEST_CASE("analysis: rates come from the traffic, and are refused where it has none of its own") {
  const UpstreamAnalysis even = only(pool("abcd", 100, false));
  CHECK(even.rate_rps.value == 100);
  CHECK(even.rate_rps.from == "its traffic");
  CHECK(even.at_endpoint.per_s == 25);
  CHECK_FALSE(even.at_endpoint.poisson);
  CHECK(only(pool("abcd", 100, true)).at_endpoint.poisson);
  Scenario weighted = pool("ab", 100, false);
  api(weighted).endpoints[0].weight = 3;
  CHECK(only(weighted).at_endpoint.poisson);
  Scenario listed = pool("ab", 100, false);
  requests_at(listed, {1, 2, 3});
  CHECK(only(listed).no_rate == "its traffic is a list of times");
  CHECK_FALSE(only(listed).sick_endpoint);
  AnalysisOptions given;
  given.rate_rps = 7;
  CHECK(only(listed, given).rate_rps.from == "--rate-rps");
  CHECK(only(listed, given).sick_endpoint->ejection);
}

TEST_CASE("analysis: healthy is what every endpoint has for ever, sick is the worst of any") {
  Scenario scenario = pool("ab", 100, true);
  CHECK(only(scenario).healthy.from == "assumed");
  CHECK(only(scenario).sick.value == ASSUMED_SICK);
  add_fault(server(scenario, 'a'), ErrorFault{0.02, 503});
  CHECK(only(scenario).healthy.value == ASSUMED_HEALTHY);  // b has no errors
  CHECK(only(scenario).sick.value == 0.02);
  add_fault(server(scenario, 'b'), ErrorFault{0.01, 503});
  CHECK(only(scenario).healthy.value == 0.01);
  add_fault(server(scenario, 'b'), ErrorFault{0.9, 404});  // no failure
  add_fault(server(scenario, 'b'), HangFault{0.8});        // nobody gives up
  CHECK(only(scenario).sick.value == 0.02);
  add_fault(server(scenario, 'b'), DownFault{}, 100, 200, Scope::probes);
  CHECK(only(scenario).sick.value == 0.02);
  add_fault(server(scenario, 'b'), BrownoutFault{0.4, 503, 1, 1}, 100, 200);
  CHECK(only(scenario).sick.value == 0.4);
  api(scenario).timeouts.read_ms = 50;
  CHECK(only(scenario).sick.value == 0.8);
  Scenario all_bad = pool("a", 100, true);
  add_fault(server(all_bad, 'a'), ErrorFault{0.6, 503});
  CHECK(only(all_bad).healthy.from == "assumed");
  CHECK(only(all_bad).sick.value == 0.6);
}

TEST_CASE("analysis: what goes while the first window fills is told, since the mean does not tell it") {
  Scenario scenario = pool("abcd", 1000, true);
  api(scenario).health->failure_ratio = 0.01;
  api(scenario).health->failure_min_volume = 100;
  CHECK(sentences(only(scenario))
            .front()
            .find(", and with a chance of 32.45 % soon after a start or a return;") != std::string::npos);
  api(scenario).health->failure_ratio = 0.5;
  CHECK(sentences(only(scenario)).front().find("soon after") == std::string::npos);
}

TEST_CASE("analysis: the operator's sentence") {
  Scenario scenario = pool("abcd", 1000, true);
  scenario.name = "shop";
  const UpstreamAnalysis upstream = only(scenario);
  CHECK(
      sentences(upstream).front() ==
      "At 0.5 % errors and 250 req/s these rules eject a healthy endpoint once in 40.8 years; one that turns "
      "to 60 % errors they eject within 0.331 s, 95 % of the time.");
  const std::string text = analysis_text(analyze(scenario));
  CHECK(text.find("Exact answers for shop\n") == 0);
  CHECK(text.find("how sure") != std::string::npos);
}

TEST_CASE("analysis: no sentence says more than its bounds, or the opposite of another") {
  Scenario one = pool("a", 1, false);
  one.upstreams[0].health->window_ms = 10'000;
  one.upstreams[0].health->consecutive_failures = 1000;
  one.upstreams[0].health->failure_min_volume = 10;  // a window of 10 s holds ten
  CHECK(sentences(only(one)).front().find("eject a healthy endpoint at most once in 82.1 years;") !=
        std::string::npos);
  one.upstreams[0].health->failure_min_volume = 11;
  CHECK(sentences(only(one)).front().find("never eject a healthy endpoint;") != std::string::npos);
  CHECK_FALSE(only(one).healthy_endpoint->ejection->ratio_can_fire);
  AnalysisOptions worse;
  worse.healthy_error_ratio = 1;
  const std::vector<std::string> said = sentences(only(pool("abcd", 1000, true), worse));
  CHECK(said[0].find("The sick error ratio is below that.") != std::string::npos);
  CHECK(said[1].find("no exact answer") != std::string::npos);
  CHECK(said[2].find("no exact answer") != std::string::npos);
  AnalysisOptions dead;
  dead.sick_error_ratio = 1;
  const std::string empty = sentences(only(pool("abcd", 1000, true), dead))[2];
  CHECK(empty.find("99.99 % to 100 % of the requests meet an empty pool") != std::string::npos);
  CHECK(analysis_text(analyze(pool("abcd", 1000, true), dead))
            .find("out for                     30.2 s                  good") != std::string::npos);
}

TEST_CASE(
    "analysis: one endpoint alone is back by what fails open to it, and several and turns have bounds") {
  const UpstreamAnalysis alone = only(pool("a", 10, true));
  CHECK(alone.sick_endpoint->cycle->in_rotation.low > 0.8);  // 2.3 % for one among others
  CHECK(alone.sick_endpoint->cycle->trials_per_hour.high < 1);
  Scenario many = pool("abcd", 4, false);
  many.upstreams[0].health->eject_ms = 2500;
  many.upstreams[0].breaker.emplace();
  many.upstreams[0].breaker->consecutive_failures = 1;
  const UpstreamAnalysis upstream = only(many);
  CHECK(upstream.sick_endpoint->cycle->in_rotation.low < upstream.sick_endpoint->cycle->in_rotation.high);
  const RuleAnalysis& sick = upstream.breaker->one_sick;
  CHECK(sick.cycle.refusal == "a trial's answer depends on whose turn it is");
  CHECK(sick.ejection->bound.find("turns") != std::string::npos);
  CHECK(sick.onset->median_s.high - sick.onset->median_s.low >= 0.75);  // three of four turns, at least
  many.upstreams[0].load_balancer = Algorithm::ip_hash;
  many.upstreams[0].slow_start_ms = 1;
  CHECK(analysis_text(analyze(many)).find("ip_hash sends each client to one endpoint") != std::string::npos);
  CHECK(analysis_text(analyze(many)).find("slow_start_ms is not counted") != std::string::npos);
  CHECK(analysis_text(analyze(many)).find("without any fault") == std::string::npos);
  server(many, 'c').latency = UniformLatency{10, 30};
  many.upstreams[0].timeouts.read_ms = 25;
  CHECK(analysis_text(analyze(many)).find("25 % of the answers take longer than read_ms 25") !=
        std::string::npos);
}

// While it is out the other one takes its turns, so that its trial does not come a round after its last turn.
TEST_CASE("analysis: one of two in even turns is in rotation for a share within the bounds, by 100 runs") {
  Scenario scenario = pool("ab", 1, false);
  scenario.duration = ms(1'200'000);
  for (const char letter : {'a', 'b'}) server(scenario, letter).latency = FixedLatency{0};
  add_fault(server(scenario, 'a'), ErrorFault{0.9, 503});
  api(scenario).health->consecutive_failures = 1;
  api(scenario).health->eject_ms = 2000;
  AnalysisOptions sick;
  sick.sick_error_ratio = 0.9;
  const exact::Answer<exact::Cycle> cycle = only(scenario, sick).sick_endpoint->cycle;
  REQUIRE(cycle);
  std::vector<double> shares;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    scenario.seed = seed;
    double in = 0;
    const Timeline timeline = simulate(scenario);
    for (const Interval& interval : timeline.lanes[0].intervals) {
      if (interval.state == LaneState::healthy) in += static_cast<double>(interval.to - interval.from);
    }
    shares.push_back(in / static_cast<double>(scenario.duration));
  }
  CHECK(exact::judging::mean_agrees(shares, cycle->in_rotation.low, cycle->in_rotation.high));
  const exact::Bounds at_once{cycle->in_rotation.high, cycle->in_rotation.high};  // no wait for a trial
  CHECK_FALSE(exact::judging::mean_agrees(shares, at_once.low, at_once.high));
}

TEST_CASE("analysis: round robin hides one sick endpoint from a breaker that random picks would open") {
  Scenario scenario = pool("abcd", 1000, true);
  api(scenario).breaker.emplace();
  const double in_turn = only(scenario).breaker->one_sick.ejection->mean_s.low;
  api(scenario).load_balancer = Algorithm::random;
  const double at_random = only(scenario).breaker->one_sick.ejection->mean_s.high;
  for (const char letter : {'a', 'b', 'c', 'd'}) server(scenario, letter).latency = FixedLatency{0};
  const std::vector<std::string> notes = only(scenario).notes;
  CHECK(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("many picks of random are ties") != std::string::npos;
  }));
  CHECK(in_turn > 24 * 3600);
  CHECK(at_random < 15);
}

TEST_CASE("analysis: numbers in words keep three digits and never round to certainty") {
  CHECK(time_words(0.0032) == "3.2 ms");
  CHECK(time_words(0.4) == "0.4 s");
  CHECK(time_words(41.2 * 86400) == "41.2 days");
  CHECK(time_words(exact::FOREVER) == "never");
  CHECK(time_words(1e15) == "over 1,000,000 years");
  CHECK(time_words(exact::Bounds{1, 1.0001}) == "1 s");
  CHECK(time_words(exact::Bounds{1, 2}) == "1 s to 2 s");
  CHECK(chance_words(0.99999999) == "over 99.99 %");
  CHECK(chance_words(1e-9) == "1.0e-09");
  CHECK(chance_words(0.005) == "0.5 %");
  CHECK(chance_words(0.0) == "0 %");
}

// Two endpoints in turn, evenly spaced, no time between question and answer: what the models assume. The
// simulator's runs differ by their seeds alone.
TEST_CASE("analysis: 2,000 whole runs of the simulator eject when the analysis says so") {
  Scenario scenario = pool("ab", 200, false);
  for (const char letter : {'a', 'b'}) server(scenario, letter).latency = FixedLatency{0};
  add_fault(server(scenario, 'a'), ErrorFault{0.55, 503});  // b, never ejected, keeps its half of the traffic
  const UpstreamAnalysis upstream = only(scenario);
  REQUIRE(upstream.sick_endpoint);
  REQUIRE(upstream.sick_endpoint->ejection);
  const exact::Ejection& exact = *upstream.sick_endpoint->ejection;
  std::vector<double> times;
  std::vector<std::uint64_t> attempts;
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    scenario.seed = seed;
    const Timeline timeline = simulate(scenario);
    const Interval& first = timeline.lanes[0].intervals.front();
    REQUIRE(first.state == LaneState::healthy);
    // The first attempt comes at 0, one gap of 10 ms before the models' first.
    const double t_s = static_cast<double>(first.to) / 1e9 + 0.01;
    times.push_back(t_s);
    attempts.push_back(static_cast<std::uint64_t>(t_s * 100 + 0.5));
  }
  std::sort(attempts.begin(), attempts.end());
  CHECK(exact::judging::mean_agrees(times, exact.mean_s.low, exact.mean_s.high));
  CHECK(exact::judging::agrees(exact.first_window, attempts, 390));
  api(scenario).health->consecutive_failures = 6;
  CHECK_FALSE(exact::judging::agrees(only(scenario).sick_endpoint->ejection->first_window, attempts, 390));
}
