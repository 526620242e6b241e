// The table of metrics, and windows of them that no bin knows of.
#include "sim/metrics.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/writer_json.hpp"
#include "tests/sim/handmade.hpp"
#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using namespace halfopen::sim::testing;

namespace {

// Everything that is counted happens in it, with latencies that no bin is aligned with.
Scenario busy_afternoon() {
  Scenario scenario = scenario_over("abc", 1000);
  scenario.seed = 4;
  for (const char letter : {'a', 'b', 'c'}) {
    server(scenario, letter).latency = ExponentialLatency{20};
    server(scenario, letter).capacity = Capacity{2, 3, 503};
    add_fault(server(scenario, letter), BrownoutFault{0.4, 503, 2, 0.5}, 200, 600);
    add_fault(server(scenario, letter), TruncateFault{0.05}, 0, 300);
    add_fault(server(scenario, letter), HangFault{0.02}, 0, 300);
  }
  api(scenario).health = eject_after(2, 30);
  api(scenario).late_reports = LateReports::ignore;
  api(scenario).breaker = open_after(6, 20);
  api(scenario).retries = retry_at_once(2);
  api(scenario).retries.budget_percent = 20;
  api(scenario).timeouts.read_ms = 90;
  requests_every(scenario, 1.7).abandon = Abandon{0.1, ms(30)};
  return scenario;
}

void look(Scenario& scenario, double from_ms, double to_ms, const std::string& endpoint = "") {
  ExpectMetric metric;
  metric.metric = "requests";
  metric.between_ms = {from_ms, to_ms};
  metric.endpoint = endpoint;
  scenario.expect.push_back({metric, {}, "", ""});
}

MetricScope between(double from_ms, double to_ms, const std::string& endpoint = "") {
  return {Window{ms(from_ms), ms(to_ms)}, endpoint};
}

std::optional<double> of(const Timeline& timeline, std::string_view metric, const MetricScope& scope = {}) {
  return value(*find_metric(metric), timeline, scope);
}

// What an observer saw happen, and when.
class Diary final : public RunObserver {
 public:
  struct Page {
    std::uint64_t requests = 0, ok = 0, failed = 0, fast_failed = 0, abandoned = 0, attempts = 0,
                  failures = 0;
    LatencyHistogram latency;
  };
  explicit Diary(Window window, std::int64_t lane = -1) : window_(window), lane_(lane) {}
  Page page;

  void arrived(Nanos t, const RequestName& name, std::uint32_t) override {
    arrivals_[name.index] = t;
    page.requests += window_.holds(t);
  }
  void attempted(Nanos t, const RequestName&, std::uint32_t, std::uint32_t lane, bool, bool) override {
    page.attempts += window_.holds(t) && mine(lane);
  }
  void observed(const Observation& seen) override {
    if (seen.probe || !window_.holds(seen.t) || !mine(seen.lane)) return;
    page.failures += seen.body_broke || seen.outcome.is_failure();
  }
  void ended(Nanos t, const RequestName& name, RequestEnd end) override {
    if (!window_.holds(t)) return;
    page.ok += end == RequestEnd::ok;
    page.failed += end == RequestEnd::failed || end == RequestEnd::fast_failed;
    page.fast_failed += end == RequestEnd::fast_failed;
    page.abandoned += end == RequestEnd::abandoned;
    if (end == RequestEnd::ok) page.latency.add(t - arrivals_[name.index]);
  }

 private:
  bool mine(std::uint32_t lane) const { return lane_ < 0 || lane == lane_; }
  Window window_;
  std::int64_t lane_;
  std::map<std::uint64_t, Nanos> arrivals_;
};

Diary::Page diary_of(const Scenario& scenario, const Window& window, std::int64_t lane = -1) {
  Diary diary(window, lane);
  RunHooks hooks;
  hooks.observer = &diary;
  simulate(scenario, hooks);
  return diary.page;
}

std::uint64_t sum(const std::vector<std::uint64_t>& column, std::size_t from, std::size_t to) {
  std::uint64_t total = 0;
  for (std::size_t bin = from; bin < to; ++bin) total += column[bin];
  return total;
}

}  // namespace

TEST_CASE("metrics: the table names exactly what the summary of a timeline says, in its order") {
  const auto json = nlohmann::ordered_json::parse(timeline_json(handmade::brownout(), {}));
  std::vector<std::string> written, named;
  for (const auto& member : json["summary"].items()) written.push_back(member.key());
  for (const Metric& metric : metrics()) named.emplace_back(metric.name);
  CHECK(written == named);
  CHECK(named.size() == 30);
}

TEST_CASE("metrics: every one is defined once, in a sentence, and found by its name") {
  std::set<std::string_view> names;
  for (const Metric& metric : metrics()) {
    CAPTURE(metric.name);
    CHECK(names.insert(metric.name).second);
    CHECK(find_metric(metric.name) == &metric);
    CHECK(metric.about.ends_with("."));
    CHECK((metric.unit == "ms") == metric.name.ends_with("_ms"));
  }
  CHECK(find_metric("request") == nullptr);
  CHECK(find_metric("") == nullptr);
}

TEST_CASE("metrics: counts stay whole numbers, however large, and what was not measured has no value") {
  Timeline timeline = handmade::brownout();
  timeline.summary.requests = (std::uint64_t{1} << 53) + 1;
  CHECK(std::get<std::uint64_t>(measure(*find_metric("requests"), timeline)) == (std::uint64_t{1} << 53) + 1);
  CHECK(of(timeline, "success_ratio") == 0.9975);
  CHECK(of(timeline, "latency_p99_ms") == std::nullopt);
  CHECK(of(timeline, "time_to_detect_ms") == std::nullopt);
  CHECK(of(timeline, "missed") == 0.0);
}

TEST_CASE("metrics: who takes no endpoint or no window has no value with one") {
  Scenario scenario = busy_afternoon();
  look(scenario, 100, 900, "a:1");
  const Timeline timeline = simulate(scenario);
  for (const Metric& metric : metrics()) {
    CAPTURE(metric.name);
    if (!metric.takes_endpoint) CHECK(value(metric, timeline, {{}, "a:1"}) == std::nullopt);
    if (!metric.takes_between) CHECK(value(metric, timeline, between(100, 900)) == std::nullopt);
    const bool count = std::holds_alternative<std::uint64_t>(measure(metric, timeline));
    if (metric.takes_endpoint && count) CHECK(value(metric, timeline, {{}, "a:1"}).has_value());
    if (metric.takes_between && count) CHECK(value(metric, timeline, between(100, 900)).has_value());
  }
  CHECK(of(timeline, "attempts", {{}, "a:1"}) == static_cast<double>(timeline.lanes[0].total_attempts));
  CHECK(of(timeline, "failures", {{}, "b:1"}) == static_cast<double>(timeline.lanes[1].total_failures));
  CHECK(of(timeline, "ejections", {{}, "c:1"}) == static_cast<double>(timeline.lanes[2].ejections));
}

TEST_CASE("metrics: the whole run as a window is the whole run") {
  Scenario scenario = busy_afternoon();
  look(scenario, 0, 5000);
  const Timeline timeline = simulate(scenario);
  for (const Metric& metric : metrics()) {
    CAPTURE(metric.name);
    if (metric.takes_between) CHECK(value(metric, timeline, between(0, 5000)) == value(metric, timeline));
  }
  for (const char* name : {"abandoned", "fast_failed", "fail_open_picks", "late_reports_ignored", "ejections",
                           "breaker_openings", "retries", "retries_denied", "overload"}) {
    CAPTURE(std::string(name));
    CHECK(of(timeline, name).value() > 0);
  }
}

TEST_CASE("metrics: a window counts what its own instants hold, to the nanosecond") {
  // Cut at an arrival, one nanosecond beside it, within a bin, at a bin's end, and nearly nothing.
  for (const auto& [a, b] : std::vector<std::pair<double, double>>{{17, 34},
                                                                   {17.000001, 34.000001},
                                                                   {200.3, 200.9},
                                                                   {333.333333, 777.777777},
                                                                   {599, 600},
                                                                   {998.5, 2000},
                                                                   {0, 0.000001}}) {
    const double from = a, to = b;  // clang 14 can't capture a structured binding
    CAPTURE(from);
    Scenario scenario = busy_afternoon();
    look(scenario, from, to);
    look(scenario, from, to, "b:1");
    const Timeline timeline = simulate(scenario);
    const MetricScope scope = between(from, to);
    const Diary::Page page = diary_of(scenario, *scope.window);
    const auto counted = [](std::uint64_t count) {
      return std::optional<double>(static_cast<double>(count));
    };
    CHECK(of(timeline, "requests", scope) == counted(page.requests));
    CHECK(of(timeline, "ok", scope) == counted(page.ok));
    CHECK(of(timeline, "failed", scope) == counted(page.failed));
    CHECK(of(timeline, "fast_failed", scope) == counted(page.fast_failed));
    CHECK(of(timeline, "abandoned", scope) == counted(page.abandoned));
    CHECK(of(timeline, "attempts", scope) == counted(page.attempts));
    CHECK(of(timeline, "failures", scope) == counted(page.failures));
    CHECK(of(timeline, "latency_p50_ms", scope) == as_number(page.latency.quantile_ms(0.50)));
    CHECK(of(timeline, "latency_p95_ms", scope) == as_number(page.latency.quantile_ms(0.95)));
    CHECK(of(timeline, "latency_p99_ms", scope) == as_number(page.latency.quantile_ms(0.99)));
    CHECK(of(timeline, "success_ratio", scope).has_value() == (page.ok + page.failed > 0));
    const Diary::Page of_b = diary_of(scenario, *scope.window, 1);
    CHECK(of(timeline, "attempts", between(from, to, "b:1")) == counted(of_b.attempts));
    CHECK(of(timeline, "failures", between(from, to, "b:1")) == counted(of_b.failures));
  }
}

TEST_CASE("metrics: windows of whole bins are the sums of their bins") {
  Scenario scenario = busy_afternoon();
  const std::vector<std::pair<std::size_t, std::size_t>> windows{{0, 1}, {200, 600}, {431, 432}, {7, 1000}};
  for (const auto& [from, to] : windows) look(scenario, static_cast<double>(from), static_cast<double>(to));
  const Timeline timeline = simulate(scenario);
  for (const auto& [a, b] : windows) {
    const std::size_t from = a, to = b;
    const MetricScope scope = between(static_cast<double>(from), static_cast<double>(to));
    const auto same = [&](const char* name, const std::vector<std::uint64_t>& column) {
      CAPTURE(name);
      CHECK(of(timeline, name, scope) == static_cast<double>(sum(column, from, to)));
    };
    same("requests", timeline.series.requests);
    same("ok", timeline.series.ok);
    same("failed", timeline.series.failed);
    same("fast_failed", timeline.series.fast_failed);
    same("retries", timeline.series.retried);
    same("fail_open_picks", timeline.series.fail_open_picks);
  }
}

TEST_CASE("metrics: windows side by side add up to the run, also where no series tells") {
  Scenario scenario = busy_afternoon();
  for (const double at : {123.4, 400.5, 701.123456}) look(scenario, 0, at);
  look(scenario, 0, 1000);
  const Timeline timeline = simulate(scenario);
  const std::vector<double> cuts{0, 123.4, 400.5, 701.123456, 1000};
  for (const Metric& metric : metrics()) {
    const bool count = std::holds_alternative<std::uint64_t>(measure(metric, timeline));
    if (!metric.takes_between || (!count && metric.name != "breaker_open_ms")) continue;
    CAPTURE(metric.name);
    double total = 0;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
      total += value(metric, timeline, between(cuts[i], cuts[i + 1])).value();
    CHECK(total == doctest::Approx(value(metric, timeline).value()).epsilon(1e-12));
  }
}

TEST_CASE("metrics: a late report that was ignored is counted in its own instant") {
  Scenario scenario = scenario_over("a", 100);
  api(scenario).health = eject_after(1);
  api(scenario).late_reports = LateReports::ignore;
  add_fault(server(scenario, 'a'), script({503}));
  requests_at(scenario, {0, 5});  // out at 10; the second was sent before and succeeds at 15
  look(scenario, 0, 15);
  look(scenario, 15, 15.000001);
  look(scenario, 15.000001, 100);
  const Timeline timeline = simulate(scenario);
  CHECK(of(timeline, "late_reports_ignored", between(0, 15)) == 0.0);
  CHECK(of(timeline, "late_reports_ignored", between(15, 15.000001)) == 1.0);
  CHECK(of(timeline, "late_reports_ignored", between(15.000001, 100)) == 0.0);
  CHECK(of(timeline, "late_reports_ignored") == 1.0);
}

TEST_CASE("metrics: a window that the run was not told of has no counts, and an empty one nothing at all") {
  Scenario scenario = busy_afternoon();
  look(scenario, 100, 200, "a:1");
  const Timeline timeline = simulate(scenario);
  CHECK(of(timeline, "requests", between(100, 200)).has_value());
  CHECK(of(timeline, "requests", between(100, 200.000001)) == std::nullopt);
  CHECK(of(timeline, "requests", between(100.000001, 200)) == std::nullopt);
  CHECK(of(timeline, "attempts", between(100, 200, "a:1")).has_value());
  CHECK(of(timeline, "attempts", between(100, 200, "b:1")) == std::nullopt);
  CHECK(of(timeline, "missed", between(3, 3)) == std::nullopt);
  CHECK(of(timeline, "missed", between(1000, 2000)) == std::nullopt);
  CHECK(of(timeline, "missed", between(100.000001, 200)).has_value());  // of the timeline alone
}

TEST_CASE("metrics: a window without a request has counts and no ratios") {
  Scenario scenario = scenario_over("a", 100);
  requests_at(scenario, {10, 80});
  look(scenario, 20.000001, 80);  // the first ends at 20
  const Timeline timeline = simulate(scenario);
  const MetricScope scope = between(20.000001, 80);
  CHECK(of(timeline, "requests", scope) == 0.0);
  CHECK(of(timeline, "ok", scope) == 0.0);
  for (const char* name : {"success_ratio", "attempts_per_request", "latency_p50_ms", "latency_p99_ms"})
    CHECK(of(timeline, name, scope) == std::nullopt);
}

TEST_CASE("metrics: being looked at changes nothing of a run") {
  Scenario scenario = busy_afternoon();
  const std::string alone = timeline_json(simulate(scenario), {});
  for (double at = 0; at < 1000; at += 3.7) look(scenario, at, at + 50, "a:1");
  CHECK(timeline_json(simulate(scenario), {}) == alone);
}
