// The yardstick: workload W as a competent engineer writes it in an afternoon, from the description alone and
// with what the standard library has. Nothing is recorded, nothing of halfopen is used; it only has to be a
// fair opponent.
//
//   afternoon <endpoints> [seconds] [seed]  ->  {"n":4,"requests":120078,"wall_s":0.023,"cpu_s":0.023,…}
//
// Built with -O3 -march=native (tests/CMakeLists.txt), which the simulator is not.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <queue>
#include <random>
#include <utility>
#include <vector>

namespace {

constexpr double RATE_PER_ENDPOINT = 250;
constexpr double MEAN_LATENCY = 0.020;
constexpr double FAULT_FROM = 30, FAULT_TO = 60, FAULT_RATIO = 0.6;
constexpr double WINDOW = 60, OUT_FOR = 30, RATIO = 0.5;
constexpr std::size_t MIN_VOLUME = 20;
constexpr int CONSECUTIVE = 5;

// The outcomes of the last minute, and how many of them were failures.
class Window {
 public:
  void add(double now, bool failure) {
    outcomes_.emplace_back(now, failure);
    if (failure) ++failures_;
    while (outcomes_.front().first < now - WINDOW) {
      if (outcomes_.front().second) --failures_;
      outcomes_.pop_front();
    }
  }
  bool too_many_failures() const {
    const std::size_t volume = outcomes_.size();
    return volume >= MIN_VOLUME && static_cast<double>(failures_) >= RATIO * static_cast<double>(volume);
  }
  void clear() {
    outcomes_.clear();
    failures_ = 0;
  }

 private:
  std::deque<std::pair<double, bool>> outcomes_;
  std::size_t failures_ = 0;
};

enum class State { healthy, ejected, half_open };

class Endpoint {
 public:
  // May the balancer send here? The first request after an ejection is the trial, and only that one.
  bool take(double now, bool& trial) {
    trial = false;
    if (state_ == State::healthy) return true;
    if (state_ != State::ejected || now < back_at_) return false;
    state_ = State::half_open;
    trial = true;
    return true;
  }

  // Returns whether this outcome ejected it.
  bool outcome(double now, bool failure, bool trial) {
    window_.add(now, failure);
    switch (state_) {
      case State::healthy:
        streak_ = failure ? streak_ + 1 : 0;
        if (!failure || (streak_ < CONSECUTIVE && !window_.too_many_failures())) return false;
        eject(now);
        return true;
      case State::half_open:
        if (!trial) return false;
        if (failure)
          eject(now);
        else
          recover();
        return failure;
      case State::ejected: break;
    }
    return false;
  }

 private:
  void eject(double now) {
    state_ = State::ejected;
    back_at_ = now + OUT_FOR;
    streak_ = 0;
    window_.clear();
  }
  void recover() {
    state_ = State::healthy;
    streak_ = 0;
  }

  State state_ = State::healthy;
  int streak_ = 0;
  double back_at_ = 0;
  Window window_;
};

struct Event {
  double at = 0;
  std::uint64_t sequence = 0;
  double sent = 0;  // of a completion: when its request arrived
  std::uint32_t endpoint = 0;
  enum Kind : std::uint8_t { arrival, completion } kind = arrival;
  bool trial = false;
};

struct Later {
  bool operator()(const Event& a, const Event& b) const {
    return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
  }
};

struct Counts {
  std::uint64_t requests = 0, completed = 0, failures = 0, ejections = 0, nobody = 0;
  double latency = 0;
};

class Simulation {
 public:
  Simulation(std::uint32_t n, double seconds, std::uint64_t seed)
      : endpoints_(n),
        seconds_(seconds),
        luck_(seed),
        gap_(RATE_PER_ENDPOINT * n),
        latency_(1 / MEAN_LATENCY) {}

  Counts run() {
    schedule({gap_(luck_)});
    while (!queue_.empty()) {
      const Event event = queue_.top();
      queue_.pop();
      if (event.kind == Event::arrival)
        arrive(event.at);
      else
        complete(event);
    }
    return counts_;
  }

 private:
  void schedule(Event event) {
    event.sequence = sequence_++;
    queue_.push(event);
  }

  void arrive(double now) {
    ++counts_.requests;
    dispatch(now);
    const double next = now + gap_(luck_);
    if (next < seconds_) schedule({next});
  }

  // Round-robin over whoever may be sent to.
  void dispatch(double now) {
    for (std::size_t tried = 0; tried < endpoints_.size(); ++tried) {
      const std::uint32_t i = turn_;
      if (++turn_ == endpoints_.size()) turn_ = 0;
      bool trial = false;
      if (!endpoints_[i].take(now, trial)) continue;
      schedule({now + latency_(luck_), 0, now, i, Event::completion, trial});
      return;
    }
    ++counts_.nobody;
  }

  void complete(const Event& event) {
    const bool faulty = event.endpoint == 0 && event.at >= FAULT_FROM && event.at < FAULT_TO;
    const bool failure = faulty && unit_(luck_) < FAULT_RATIO;
    ++counts_.completed;
    counts_.failures += failure;
    counts_.latency += event.at - event.sent;
    counts_.ejections += endpoints_[event.endpoint].outcome(event.at, failure, event.trial);
  }

  std::vector<Endpoint> endpoints_;
  double seconds_;
  std::mt19937_64 luck_;
  std::exponential_distribution<double> gap_, latency_;
  std::uniform_real_distribution<double> unit_;
  std::priority_queue<Event, std::vector<Event>, Later> queue_;
  std::uint64_t sequence_ = 0;
  std::uint32_t turn_ = 0;
  Counts counts_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto n = static_cast<std::uint32_t>(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 4);
  const double seconds = argc > 2 ? std::strtod(argv[2], nullptr) : 120;
  const std::uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  if (n == 0 || !(seconds > 0)) {
    std::fputs("usage: afternoon <endpoints> [seconds] [seed]\n", stderr);
    return 2;
  }
  Simulation simulation(n, seconds, seed);
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t cpu_start = std::clock();
  const Counts counts = simulation.run();
  const double cpu_s = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  std::printf("{\"n\":%u,\"requests\":%llu,\"wall_s\":%.6f,\"cpu_s\":%.6f,", n,
              static_cast<unsigned long long>(counts.requests), wall.count(), cpu_s);
  std::printf("\"failures\":%llu,\"ejections\":%llu,\"mean_latency_ms\":%.4f}\n",
              static_cast<unsigned long long>(counts.failures),
              static_cast<unsigned long long>(counts.ejections),
              1e3 * counts.latency / static_cast<double>(counts.completed));
}
