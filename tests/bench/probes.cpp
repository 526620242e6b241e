// What a gateway pays for its probes: ActiveProbes with many endpoints at an interval of one second against a
// loopback server in a process of its own, as processor time of this process, all its threads together.
//
//   probes <jitter_ms> [endpoints] [seconds]   ->
//   {"endpoints":1000,"jitter_ms":0,"seconds":11.5,"probes":11000,"not_ok":0,"fewest":11,"at_least":10,…}
//
// Beside it the yardstick of the same minute: the bare system calls of such a probe, in a loop on one thread.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/prober/active_probes.hpp"
#include "core/upstream.hpp"
#include "core/validate.hpp"
#include "tests/bench/loopback_server.hpp"

namespace {

using namespace halfopen;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t INTERVAL_MS = 1000;
// The first second is one long sleep; after the third, every connection's memory has been had before.
constexpr std::chrono::milliseconds WARM_UP{3500};
constexpr std::uint64_t BARE_PROBES = 3000;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

struct ProcessorTime {
  double user_s = 0, system_s = 0;
  double total_s() const { return user_s + system_s; }
  ProcessorTime operator-(const ProcessorTime& before) const {
    return {user_s - before.user_s, system_s - before.system_s};
  }

  static ProcessorTime now() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return {seconds_of(used.ru_utime), seconds_of(used.ru_stime)};
  }
};

// Counts while it is told to; read after abort_all, when nobody writes any more.
class Tally final : public ProbeObserver {
 public:
  explicit Tally(const std::vector<std::uint16_t>& ports) : endpoint_at_(65536) {
    for (std::size_t i = 0; i < ports.size(); ++i) endpoint_at_[ports[i]] = i;
    probes.resize(ports.size());
    started_.resize(ports.size());
    ended_.resize(ports.size());
    late_ms.reserve(100 * ports.size());
  }

  void verdict(const EventSubject& subject, const ProbeReport& report) override {
    const auto now = Clock::now();
    const std::size_t endpoint = endpoint_at_[port_of(subject.endpoint)];
    const auto start = now - report.total;
    const auto slept = start - ended_[endpoint], gap = start - started_[endpoint];
    ended_[endpoint] = now;
    started_[endpoint] = start;
    if (!counting.load(std::memory_order_relaxed)) return;
    ++probes[endpoint];
    longest_gap_ms = std::max(longest_gap_ms, std::chrono::duration<double, std::milli>(gap).count());
    if (!report.ok()) ++not_ok;
    // With jitter: later than the least sleep, not than the one that was drawn.
    late_ms.push_back(std::chrono::duration<double, std::milli>(slept).count() -
                      static_cast<double>(INTERVAL_MS));
    took_ms.push_back(std::chrono::duration<double, std::milli>(report.total).count());
  }
  void iteration_threw(const EventSubject&, const std::string& what, std::uint32_t) override {
    if (threw++ == 0) std::fprintf(stderr, "probes: an iteration threw: %s\n", what.c_str());
  }

  std::atomic<bool> counting{false};
  std::vector<std::uint64_t> probes;  // of each endpoint
  std::vector<double> late_ms, took_ms;
  double longest_gap_ms = 0;  // between the starts of two probes of one endpoint
  std::uint64_t not_ok = 0, threw = 0;

 private:
  static std::uint16_t port_of(const std::string& endpoint) {
    std::uint16_t port = 0;
    std::from_chars(endpoint.data() + endpoint.find(':') + 1, endpoint.data() + endpoint.size(), port);
    return port;
  }

  std::vector<std::size_t> endpoint_at_;
  std::vector<Clock::time_point> started_, ended_;  // each one's last probe
};

double percentile(std::vector<double>& values, double share) {
  if (values.empty()) throw std::runtime_error("there was not one probe");
  const auto place = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(place), values.end());
  return values[place];
}

std::shared_ptr<Upstream> upstream_of(const std::vector<std::uint16_t>& ports, std::uint64_t jitter_ms) {
  UpstreamConfig config;
  config.name = "api";
  for (const std::uint16_t port : ports) config.endpoints.push_back({"127.0.0.1", port, 1});
  config.health.emplace();
  ActiveParams& active = config.active_health.emplace();
  active.interval_ms = INTERVAL_MS;
  active.timeout_ms = INTERVAL_MS;
  active.jitter_ms = jitter_ms;
  for (const auto& problem : validate({config})) {
    throw std::runtime_error(problem.pointer + ": " + problem.message);
  }
  return std::make_shared<Upstream>(config, Instant{});
}

// Microseconds of processor time a probe of system calls and nothing else.
double bare_us(const std::vector<std::uint16_t>& ports) {
  bench::bare_probe(ports.front());
  const ProcessorTime before = ProcessorTime::now();
  for (std::uint64_t i = 0; i < BARE_PROBES; ++i) bench::bare_probe(ports[i % ports.size()]);
  return (ProcessorTime::now() - before).total_s() * 1e6 / static_cast<double>(BARE_PROBES);
}

int run(std::uint64_t jitter_ms, std::size_t endpoints, double seconds) {
  bench::raise_descriptor_limit(2 * endpoints + 64);  // its port and one connection each
  const bench::LoopbackServer server(endpoints);
  const double bare_before = bare_us(server.ports());

  Tally tally(server.ports());
  ActiveProbesOptions options;
  options.observer = &tally;
  ActiveProbes probes(options);
  probes.respawn({upstream_of(server.ports(), jitter_ms)});
  std::this_thread::sleep_for(WARM_UP);

  const ProcessorTime cpu_start = ProcessorTime::now();
  const auto start = Clock::now();
  tally.counting = true;
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  tally.counting = false;
  const double wall_s = std::chrono::duration<double>(Clock::now() - start).count();
  const ProcessorTime cpu = ProcessorTime::now() - cpu_start;
  const std::size_t loops = probes.counts().loops;
  probes.abort_all();

  const double bare = std::min(bare_before, bare_us(server.ports()));
  const auto count = tally.late_ms.size();
  // A probe's own time and a late timer stretch the period; by less than a tenth, or probes are missing.
  const auto at_least =
      static_cast<std::uint64_t>(wall_s * 1e3 / (1.1 * INTERVAL_MS + static_cast<double>(jitter_ms)));
  std::printf("{\"endpoints\":%zu,\"loops\":%zu,\"jitter_ms\":%llu,\"seconds\":%.3f,\"probes\":%zu,",
              endpoints, loops, static_cast<unsigned long long>(jitter_ms), wall_s, count);
  std::printf("\"not_ok\":%llu,\"threw\":%llu,\"fewest\":%llu,\"most\":%llu,\"at_least\":%llu,",
              static_cast<unsigned long long>(tally.not_ok), static_cast<unsigned long long>(tally.threw),
              static_cast<unsigned long long>(*std::min_element(tally.probes.begin(), tally.probes.end())),
              static_cast<unsigned long long>(*std::max_element(tally.probes.begin(), tally.probes.end())),
              static_cast<unsigned long long>(at_least));
  std::printf("\"cpu_percent\":%.3f,\"user_percent\":%.3f,\"cpu_us\":%.3f,\"bare_us\":%.3f,",
              100 * cpu.total_s() / wall_s, 100 * cpu.user_s / wall_s,
              cpu.total_s() * 1e6 / static_cast<double>(count), bare);
  std::printf(
      "\"longest_gap_ms\":%.3f,\"late_p50_ms\":%.3f,\"late_p99_ms\":%.3f,\"took_p50_ms\":%.3f,\"took_p99_"
      "ms\":%.3f}\n",
      tally.longest_gap_ms, percentile(tally.late_ms, 0.5), percentile(tally.late_ms, 0.99),
      percentile(tally.took_ms, 0.5), percentile(tally.took_ms, 0.99));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: probes <jitter_ms> [endpoints] [seconds]\n");
    return 2;
  }
  try {
    return run(std::strtoull(argv[1], nullptr, 10), argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000,
               argc > 3 ? std::strtod(argv[3], nullptr) : 11.5);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "probes: %s\n", error.what());
    return 2;
  }
}
