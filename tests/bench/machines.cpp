// What the machines cost, one call at a time, as a gateway ships them (policy Threads). run.py turns the
// figures into ratios; by itself this is an ordinary google-benchmark program (--benchmark_filter=… and so
// on).
//
// Windows are measured rolling: filled with `volume` observations a minute, and time goes on at that pace.
#include <benchmark/benchmark.h>
#include <time.h>

#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "core/breaker.hpp"
#include "core/endpoint_health.hpp"
#include "core/upstream.hpp"
#include "tests/bench/naive_tracker.hpp"

namespace {

using namespace halfopen;
using benchmark::State;

constexpr std::uint64_t START_MS = 1'700'000'000'000;
constexpr std::uint64_t MINUTE_MS = 60'000;
constexpr std::int64_t BUSY = 600'000;  // observations a minute: ten a millisecond

// Moves time on so that `volume` calls of next() fill a minute.
class Pace {
 public:
  explicit Pace(std::int64_t volume) : step_((MINUTE_MS << FRACTION) / static_cast<std::uint64_t>(volume)) {}
  Instant next() {
    elapsed_ += step_;
    return Instant{START_MS + (elapsed_ >> FRACTION)};
  }
  Instant after_idle(std::uint64_t ms) {
    elapsed_ += ms << FRACTION;
    return next();
  }

 private:
  static constexpr int FRACTION = 20;
  std::uint64_t step_, elapsed_ = 0;
};

// ---- reports ---------------------------------------------------------------------------------------

// Legal limits that the failures below never meet, although every one of them has to be judged by both rules.
constexpr std::uint32_t STREAK_NEVER_MET = 1U << 20;
constexpr std::uint32_t SUCCESS_EVERY = 256;

HealthParams never_ejects() {
  HealthParams params;
  params.consecutive_failures = STREAK_NEVER_MET;
  params.failure_ratio = 1.0;
  return params;
}

struct Tracker {
  void report(Instant now, bool failure) { health.report(params, now, failure); }
  HealthParams params = never_ejects();
  EndpointHealth health;
};

struct Gate {
  Gate() {
    params.consecutive_failures = STREAK_NEVER_MET;
    params.error_ratio = 1.0;
  }
  void report(Instant now, bool failure) { breaker.report(params, now, failure); }
  BreakerParams params;
  Breaker breaker;
};

struct Naive {
  void report(Instant now, bool failure) { benchmark::DoNotOptimize(tracker.report(params, now, failure)); }
  HealthParams params = never_ejects();
  bench::NaiveTracker tracker;
};

template <class Machine>
void fill(Machine& machine, Pace& pace, std::int64_t volume) {
  for (std::int64_t i = 0; i < volume; ++i) machine.report(pace.next(), false);
}

template <class Machine>
void report_success(State& state) {
  Machine machine;
  Pace pace(state.range(0));
  fill(machine, pace, state.range(0));
  for (auto _ : state) machine.report(pace.next(), false);
}

// A success now and then keeps the ratio below 1.
template <class Machine>
void report_failure(State& state) {
  Machine machine;
  Pace pace(state.range(0));
  fill(machine, pace, state.range(0));
  std::uint32_t i = 0;
  for (auto _ : state) machine.report(pace.next(), ++i % SUCCESS_EVERY != 0);
}

// Of this thread. On a wall clock one time slice of somebody else would outweigh everything that is measured
// here.
double cpu_seconds() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
}

// The first report after a minute in which nothing came: everything has to be dropped at once.
template <class Machine>
void idle_minute(State& state) {
  Machine machine;
  Pace pace(BUSY);
  for (auto _ : state) {
    fill(machine, pace, BUSY);
    const Instant now = pace.after_idle(MINUTE_MS);
    const double start = cpu_seconds();
    machine.report(now, false);
    state.SetIterationTime(cpu_seconds() - start);
  }
}

// Not a time: what a busy tracker's window takes, and what is left of it after an ejection.
void memory(State& state) {
  for (auto _ : state) {
    Tracker tracker;
    Naive naive;
    Pace pace(BUSY), same_pace(BUSY);
    fill(tracker, pace, BUSY);
    fill(naive, same_pace, BUSY);
    state.counters["bytes"] = static_cast<double>(tracker.health.snapshot().window_bytes);
    state.counters["naive_bytes"] = static_cast<double>(naive.tracker.window_bytes());
    tracker.params.consecutive_failures = 1;
    tracker.report(pace.next(), true);
    if (tracker.health.stored_state() != HealthState::ejected)
      state.SkipWithError("the tracker was not ejected");
    state.counters["bytes_after_ejection"] = static_cast<double>(tracker.health.snapshot().window_bytes);
  }
}

// ---- a whole attempt -------------------------------------------------------------------------------

std::unique_ptr<Upstream> healthy_upstream(std::int64_t endpoints, bool with_breaker) {
  UpstreamConfig config;
  config.name = "api";
  for (std::int64_t i = 0; i < endpoints; ++i) {
    config.endpoints.push_back(
        {"10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250 + 1), 8080, 1});
  }
  config.health = HealthParams{};
  if (with_breaker) config.breaker = BreakerParams{};
  return std::make_unique<Upstream>(std::move(config), Instant{START_MS});
}

// Admission, pick, report of a success, and the end of the body.
void attempt(Upstream& upstream, Instant now) {
  auto dispatch = upstream.admit(now, AttemptKind::first).pick(now);
  benchmark::DoNotOptimize(dispatch.index());
  dispatch.report(now, Outcome::http(200));
}

void attempts(State& state, bool with_breaker) {
  const auto upstream = healthy_upstream(state.range(0), with_breaker);
  Pace pace(BUSY);
  for (std::int64_t i = 0; i < BUSY; ++i) attempt(*upstream, pace.next());
  for (auto _ : state) attempt(*upstream, pace.next());
}

constexpr std::int64_t SHARED_ENDPOINTS = 4;

void threads_on_one_upstream(State& state) {
  static std::unique_ptr<Upstream> upstream;
  if (state.thread_index() == 0) upstream = healthy_upstream(SHARED_ENDPOINTS, false);
  Pace pace(BUSY);
  for (auto _ : state) attempt(*upstream, pace.next());
  state.SetItemsProcessed(state.iterations());
  if (state.thread_index() == 0) upstream.reset();
}

// The control: nothing is shared, so that this is what the machine's cores are worth just now.
void threads_on_their_own(State& state) {
  const auto upstream = healthy_upstream(SHARED_ENDPOINTS, false);
  Pace pace(BUSY);
  for (auto _ : state) attempt(*upstream, pace.next());
  state.SetItemsProcessed(state.iterations());
}

template <class Machine>
void register_reports(const std::string& name) {
  const auto volumes = [](benchmark::internal::Benchmark* benchmark) {
    benchmark->Arg(1'000)->Arg(100'000)->Arg(BUSY);
  };
  volumes(benchmark::RegisterBenchmark((name + "/success").c_str(), report_success<Machine>));
  volumes(benchmark::RegisterBenchmark((name + "/failure").c_str(), report_failure<Machine>));
  benchmark::RegisterBenchmark((name + "/idle_minute").c_str(), idle_minute<Machine>)
      ->UseManualTime()
      ->Iterations(5);
}

void register_all() {
  register_reports<Tracker>("tracker");
  register_reports<Gate>("breaker");
  register_reports<Naive>("naive");
  benchmark::RegisterBenchmark("memory", memory)->Iterations(1);
  for (const std::int64_t n : {4, 16, 128, 1024}) {
    benchmark::RegisterBenchmark("attempt", attempts, false)->Arg(n);
    benchmark::RegisterBenchmark("attempt_with_breaker", attempts, true)->Arg(n);
  }
  for (const int threads : {1, 2}) {
    benchmark::RegisterBenchmark("one_upstream", threads_on_one_upstream)->Threads(threads)->UseRealTime();
    benchmark::RegisterBenchmark("own_upstream", threads_on_their_own)->Threads(threads)->UseRealTime();
  }
}

}  // namespace

int main(int argc, char** argv) {
  // In a process of one thread glibc's mutexes spare themselves the atomics, which no gateway ever sees: here
  // are two.
  std::promise<void> finished;
  const std::jthread sleeper([until = finished.get_future()] { until.wait(); });
  register_all();
  benchmark::Initialize(&argc, argv);
  const bool understood = !benchmark::ReportUnrecognizedArguments(argc, argv);
  if (understood) benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  finished.set_value();
  return understood ? 0 : 2;
}
