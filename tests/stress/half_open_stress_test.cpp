// Threads that race for the trials of one half-open, thousands of times. Whatever the interleaving: as many
// trials as granted, no more and no fewer. Run under ThreadSanitizer by `make test`.
#include <doctest/doctest.h>

#include <atomic>
#include <barrier>
#include <optional>
#include <thread>
#include <vector>

#include "core/breaker.hpp"
#include "core/endpoint_health.hpp"

namespace halfopen {
namespace {

constexpr int THREADS = 4, ROUNDS = 3000;
constexpr std::uint32_t TRIALS = 3;

// Before each round `prepare(round)`, then `race(thread)` on every thread at once, then `judge()`.
template <class Prepare, class Race, class Judge>
void rounds(Prepare&& prepare, Race&& race, Judge&& judge) {
  std::barrier line(THREADS + 1);
  std::vector<std::thread> threads;
  for (int t = 0; t < THREADS; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < ROUNDS; ++round) {
        line.arrive_and_wait();
        race(t);
        line.arrive_and_wait();
      }
    });
  }
  for (int round = 0; round < ROUNDS; ++round) {
    prepare(round);
    line.arrive_and_wait();
    line.arrive_and_wait();
    judge();
  }
  for (auto& thread : threads) thread.join();
}

HealthParams health_params() {
  HealthParams params;
  params.consecutive_failures = 1;
  params.eject_ms = 100;
  params.half_open_probes = TRIALS;
  return params;
}

BreakerParams breaker_params() {
  BreakerParams params;
  params.consecutive_failures = 1;
  params.open_ms = 100;
  params.half_open_probes = TRIALS;
  return params;
}

// What a pick does: the question, then the choice.
bool ask_and_select(EndpointHealth& health, const HealthParams& params) {
  Ticket ticket;
  return health.is_candidate(params, Instant{1100}) && health.select(ticket);
}

TEST_CASE("stress: threads that race on one expired ejection get exactly as many trials as granted") {
  const HealthParams params = health_params();
  std::optional<EndpointHealth> health;
  std::atomic<std::uint32_t> granted{0};
  int wrong = 0;
  rounds(
      [&](int) {
        granted = 0;
        health.emplace();
        health->report(params, Instant{1000}, true);
      },
      [&](int thread) {
        for (int i = 0; i < 2; ++i) {
          if (thread % 2 == 0)
            granted.fetch_add(health->acquire(params, Instant{1100}));
          else
            granted.fetch_add(ask_and_select(*health, params));
        }
      },
      [&] { wrong += granted != TRIALS || health->snapshot().slots != 0; });
  CHECK(wrong == 0);
}

TEST_CASE("stress: threads that race on one expired breaker get exactly as many trials as granted") {
  const BreakerParams params = breaker_params();
  std::optional<Breaker> breaker;
  std::atomic<std::uint32_t> granted{0};
  int wrong = 0;
  rounds(
      [&](int) {
        granted = 0;
        breaker.emplace();
        breaker->report(params, Instant{1000}, true);
      },
      [&](int) {
        for (int i = 0; i < 2; ++i) granted.fetch_add(breaker->check(params, Instant{1100}).allowed);
      },
      [&] { wrong += granted != TRIALS || breaker->snapshot(Instant{1100}).slots != 0; });
  CHECK(wrong == 0);
}

// Trials that are under way at this moment; never counted too high, so a count over the grant is a fault.
class UnderWay {
 public:
  void started() {
    const std::uint32_t now = count_.fetch_add(1) + 1;
    std::uint32_t most = most_.load();
    while (now > most && !most_.compare_exchange_weak(most, now)) {
    }
  }
  void ending() { count_.fetch_sub(1); }
  void reset() { count_ = 0; }
  std::uint32_t count() const { return count_; }
  std::uint32_t most() const { return most_; }

 private:
  std::atomic<std::uint32_t> count_{0}, most_{0};
};

TEST_CASE("stress: abandoned trials come back to the endpoint, one each, while others are taken") {
  const HealthParams params = health_params();
  std::optional<EndpointHealth> health;
  UnderWay trials;
  int wrong = 0;
  rounds(
      [&](int) {
        trials.reset();
        health.emplace();
        health->report(params, Instant{1000}, true);
      },
      [&](int thread) {
        for (int i = 0; i < 6; ++i) {
          if (!health->is_candidate(params, Instant{1100})) continue;
          Ticket ticket;
          if (!health->select(ticket)) continue;
          trials.started();
          if (thread == 0 && i == 5) continue;  // this one stays under way
          trials.ending();
          health->give_back(ticket);
        }
      },
      [&] { wrong += health->snapshot().slots + trials.count() != TRIALS; });
  CHECK(wrong == 0);
  CHECK(trials.most() <= TRIALS);
  CHECK(trials.most() > 0);
}

TEST_CASE("stress: abandoned trials come back to the breaker, one each, while others are taken") {
  const BreakerParams params = breaker_params();
  std::optional<Breaker> breaker;
  UnderWay trials;
  int wrong = 0;
  rounds(
      [&](int) {
        trials.reset();
        breaker.emplace();
        breaker->report(params, Instant{1000}, true);
      },
      [&](int thread) {
        for (int i = 0; i < 6; ++i) {
          const BreakerDecision decision = breaker->check(params, Instant{1100});
          if (!decision.allowed) continue;
          trials.started();
          if (thread == 0 && i == 5) continue;
          trials.ending();
          breaker->give_back(decision.ticket);
        }
      },
      [&] { wrong += breaker->snapshot(Instant{1100}).slots + trials.count() != TRIALS; });
  CHECK(wrong == 0);
  CHECK(trials.most() <= TRIALS);
}

// One thread fails trial after trial, the others ask at the very instant the ejection ends. Each ejection is
// for longer than the last, so an `until` of one generation met under the word of another would end it early.
TEST_CASE("stress: no pick meets the end of one ejection under the word of another") {
  HealthParams params = health_params();
  std::atomic<std::uint64_t> now{1000}, early{0}, candidates{0};
  EndpointHealth health;
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < THREADS - 1; ++t) {
    threads.emplace_back([&] {
      const HealthParams asking = health_params();
      while (!over) {
        const std::uint64_t asked_at = now.load();
        if (health.is_candidate(asking, Instant{asked_at})) candidates.fetch_add(1);
        const auto seen = health.snapshot();
        early.fetch_add(seen.state == HealthState::half_open && now.load() < seen.until.ms);
      }
    });
  }
  for (int round = 0; round < ROUNDS; ++round) {
    params.eject_ms = 100 + static_cast<std::uint64_t>(round);
    health.report(params, Instant{now}, true);
    now.fetch_add(params.eject_ms - 1);
    std::this_thread::yield();
    now.fetch_add(1);
    if (health.is_candidate(params, Instant{now})) candidates.fetch_add(1);
  }
  over = true;
  for (auto& thread : threads) thread.join();
  CHECK(early == 0);
  CHECK(candidates >= ROUNDS);
}

}  // namespace
}  // namespace halfopen
