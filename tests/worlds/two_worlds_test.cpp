// One schedule of probes in two worlds: as a scenario on virtual time and against a real server. The loop is
// the same code in both, so verdicts and transitions must be the same, in the same order.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>

#include "tests/prober/probe_log.hpp"
#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::testing;

namespace {

// What each probe meets: S 200, F 503, N 404, R a reset, X a refusal, H no answer in time, M no answer until
// a reload ends the probe without a verdict.
struct Schedule {
  const char* what;
  std::string probes;
  std::uint32_t failures = 3, successes = 2;  // the thresholds
  ProbeKind kind = ProbeKind::http;
};

constexpr std::uint64_t INTERVAL_MS = 25;
constexpr std::uint64_t TIMEOUT_MS = 500;  // only H waits for it; everything else has time enough

UpstreamConfig configure(UpstreamConfig upstream, const Schedule& schedule) {
  upstream.health.emplace();
  ActiveParams& active = upstream.active_health.emplace();
  active.kind = schedule.kind;
  active.interval_ms = INTERVAL_MS;
  active.timeout_ms = TIMEOUT_MS;
  active.jitter_ms = 0;
  active.failure_threshold = schedule.failures;
  active.success_threshold = schedule.successes;
  return upstream;
}

// One line of either world's story.
struct Line {
  double at_ms = 0;
  bool verdict = false;
  std::string text;
};

std::string transition_text(EventType type, Rule rule, Via via, const Because& because) {
  std::string text = std::string(to_string(type)) + " " + to_string(rule) + to_string(via);
  for (const std::uint64_t number :
       {because.volume, because.failures, std::uint64_t{because.streak}, std::uint64_t{because.threshold},
        std::uint64_t{because.min_volume}, std::uint64_t{because.slots}, std::uint64_t{because.successes},
        because.for_ms}) {
    text += " " + std::to_string(number);
  }
  return text + " " + std::to_string(because.limit);
}

std::string verdict_text(bool ok) { return ok ? "ok" : "failed"; }

// ---- virtual ----------------------------------------------------------------------------------------

struct VirtualVerdicts final : sim::RunObserver {
  void observed(const sim::Observation& seen) override {
    if (seen.probe) lines.push_back({static_cast<double>(seen.t) / 1e6, true, verdict_text(seen.probe_ok)});
  }
  std::vector<Line> lines;
};

// Servers answer in no time, so that no real probe can be quicker than its virtual one. The faults are there
// for the instant in which their probe starts.
std::vector<Line> in_the_simulator(const Schedule& schedule) {
  using namespace sim::testing;
  sim::Scenario scenario = scenario_over("a", 1);
  api(scenario) = configure(api(scenario), schedule);
  sim::ServerModel& server = sim::testing::server(scenario, 'a');
  server.latency = sim::FixedLatency{0};
  double t = 0;
  for (const char probe : schedule.probes) {
    t += INTERVAL_MS;
    const double from = t - 1, to = t + 1;
    switch (probe) {
      case 'F': add_fault(server, sim::ErrorFault{1, 503}, from, to); break;
      case 'N': add_fault(server, sim::ErrorFault{1, 404}, from, to); break;
      case 'R': add_fault(server, sim::DownFault{sim::DownKind::reset}, from, to); break;
      case 'X': add_fault(server, sim::DownFault{sim::DownKind::refused}, from, to); break;
      case 'M':
        add_fault(server, sim::HangFault{1}, from, to);
        t += 0.001;
        reload_at(scenario, t);
        break;
      case 'H':
        add_fault(server, sim::HangFault{1}, from, to);
        t += TIMEOUT_MS;
        break;
      default: break;
    }
  }
  scenario.duration = ms(t + 1);
  VirtualVerdicts verdicts;
  sim::RunHooks hooks;
  hooks.observer = &verdicts;
  const sim::Timeline timeline = simulate(scenario, hooks);
  std::vector<Line> lines;
  for (const sim::TimelineEvent& event : timeline.events) {
    lines.push_back({static_cast<double>(event.t) / 1e6, false,
                     transition_text(event.type, event.rule, event.via, event.because)});
  }
  // An event and the verdict that caused it have one time, and the event comes first.
  lines.insert(lines.end(), verdicts.lines.begin(), verdicts.lines.end());
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.at_ms < b.at_ms; });
  return lines;
}

// ---- real -------------------------------------------------------------------------------------------

Script script_of(char probe) {
  switch (probe) {
    case 'F': return answer(503);
    case 'N': return answer(404);
    case 'R': return {read_request(), reset()};
    case 'M':
    case 'H': return {read_request(), stall()};
    default: return answer(200);
  }
}

// Lets the server listen or not before each probe: in the verdict on the one before it, while its loop waits.
class Conductor final : public ProbeObserver {
 public:
  Conductor(std::string probes, Server& server, ProbeLog& log)
      : probes_(std::move(probes)), server_(server), log_(log) {
    prepare();
  }
  void verdict(const EventSubject& subject, const ProbeReport& report) override {
    log_.verdict(subject, report);
    skip();
  }
  // The probe under way will have no verdict.
  void skip() {
    ++next_;
    prepare();
  }

 private:
  void prepare() {
    const bool wanted = next_ >= probes_.size() || probes_[next_] != 'X';
    if (wanted != listens_) wanted ? server_.listen_again() : server_.stop_listening();
    listens_ = wanted;
  }
  const std::string probes_;
  Server& server_;
  ProbeLog& log_;
  std::size_t next_ = 0;
  bool listens_ = true;
};

std::vector<Line> in_reality(const Schedule& schedule) {
  std::vector<Script> scripts;
  std::vector<std::size_t> reloads;  // after so many connections
  for (const char probe : schedule.probes) {
    if (probe != 'X') scripts.push_back(script_of(probe));
    if (probe == 'M') reloads.push_back(scripts.size());
  }
  scripts.push_back(answer(200));
  Server server(scripts);
  ProbeLog log;
  Conductor conductor(schedule.probes, server, log);
  UpstreamConfig upstream;
  upstream.name = "api";
  upstream.endpoints.push_back(endpoint_at(server));
  upstream = configure(upstream, schedule);
  const Clock::time_point start = Clock::now();
  ActiveProbesOptions options;
  options.observer = &conductor;
  options.now = [start] {
    return Instant{
        static_cast<std::uint64_t>(std::chrono::duration_cast<Millis>(Clock::now() - start).count())};
  };
  Gateway gateway(&log);
  ActiveProbes probes(options);
  gateway.apply({upstream}, Instant{0});
  probes.respawn(gateway.upstreams());
  for (const std::size_t connections : reloads) {
    REQUIRE(server.wait_for_visits(connections));
    gateway.apply({upstream}, options.now());
    probes.abort_all();
    conductor.skip();
    probes.respawn(gateway.upstreams());
  }
  const std::size_t verdicts = schedule.probes.size() - reloads.size();
  REQUIRE(log.wait_for(Entry::Kind::verdict, verdicts));
  probes.abort_all();
  std::vector<Line> lines;
  std::size_t told = 0;
  for (const Entry& entry : log.entries()) {
    if (told == verdicts) break;  // of probes after the schedule's end
    const bool verdict = entry.kind == Entry::Kind::verdict;
    told += verdict;
    const Event& event = entry.event;
    const double at_ms = std::chrono::duration<double, std::milli>(entry.at - start).count();
    lines.push_back({verdict ? at_ms : static_cast<double>(event.at.ms), verdict,
                     verdict ? verdict_text(entry.ok)
                             : transition_text(event.type, event.rule, event.via, event.because)});
  }
  return lines;
}

std::string story(const std::vector<Line>& lines) {
  std::string text;
  for (const Line& line : lines) text += line.text + "\n";
  return text;
}

// A real loop sleeps and waits for at least as long as the virtual one, so nothing comes earlier (a
// transition's time is cut to whole milliseconds, so it has one of them to lose). How much later it comes is
// up to the machine: each probe adds its own time and that of a late wake-up, and they add up, as the next
// sleep starts at the verdict. So it is the steps from line to line that are bounded: half of them to 150 ms,
// which also a machine with ten busy processes a core keeps, and the worst of them to what any test allows.
void compare_times(const std::vector<Line>& expected, const std::vector<Line>& actual) {
  std::vector<double> late;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(actual[i].at_ms >= expected[i].at_ms - (actual[i].verdict ? 0 : 1));
    const double before = i == 0 ? 0 : expected[i - 1].at_ms,
                 really_before = i == 0 ? 0 : actual[i - 1].at_ms;
    late.push_back(actual[i].at_ms - really_before - (expected[i].at_ms - before));
    CHECK(late.back() < static_cast<double>(SLACK.count()));
  }
  std::sort(late.begin(), late.end());
  CHECK(late[late.size() / 2] < 150);
}

void compare(const Schedule& schedule, std::size_t transitions) {
  CAPTURE(schedule.what);
  CAPTURE(schedule.probes);
  const std::vector<Line> expected = in_the_simulator(schedule);
  const std::vector<Line> actual = in_reality(schedule);
  REQUIRE(story(actual) == story(expected));
  const auto is_transition = [](const Line& line) { return !line.verdict; };
  CHECK(static_cast<std::size_t>(std::count_if(expected.begin(), expected.end(), is_transition)) ==
        transitions);
  compare_times(expected, actual);
}

}  // namespace

TEST_CASE("two worlds: an endpoint that is well, one that is ill, one that is neither for long") {
  compare({"steady", "SSSSSS"}, 0);
  compare({"ill from the start", "FFFFF"}, 1);
  compare({"below the threshold", "FFSFFSFFSS"}, 0);
}

TEST_CASE("two worlds: an endpoint that dies, comes back and dies again") {
  compare({"once", "SSFFFFSSS"}, 2);
  compare({"twice", "FFFSSFFFSS"}, 4);
  compare({"an interrupted recovery", "FFFSFSFSSS"}, 2);
  compare({"thresholds of one", "SFSFSS", 1, 1}, 4);
  compare({"success comes easier than failure", "FFFFSFFFFS", 4, 1}, 4);
}

TEST_CASE("two worlds: every way to fail is a failure") {
  compare({"a status, a reset, a refusal, silence", "SFNRXHSS", 5, 2}, 2);
  compare({"refusals among answers", "XSXXSXXXSS"}, 2);
}

TEST_CASE("two worlds: probes of kind tcp") {
  compare({"dies and comes back", "SXXXXSSS", 3, 2, ProbeKind::tcp}, 2);
  compare({"below the threshold", "XXSXXSXX", 3, 2, ProbeKind::tcp}, 0);
}

TEST_CASE("two worlds: a reload ends a probe, keeps the failures and forgets the successes") {
  compare({"two failures before, one after", "SFFMFSS"}, 2);
  compare({"one success before is none after", "FFFSMSS"}, 2);
  compare({"twice in a row", "FFMMFFSS"}, 2);
}
