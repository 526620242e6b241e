// One upstream under everything at once: attempts that end in every way, probes, and reloads that add,
// remove, drop and change. What must hold afterwards holds whatever the interleaving was. Run under
// ThreadSanitizer by `make test`.
#include "core/upstream.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/active_probe.hpp"
#include "core/event_queue.hpp"
#include "tests/core/dice.hpp"
#include "tests/core/upstreams.hpp"

namespace halfopen {
namespace {

using testing::Dice;

// Traffic goes on until both are reached, but not beyond MOST_ATTEMPTS, should reloads starve.
constexpr int TRAFFIC_THREADS = 3, LEAST_ATTEMPTS = 25000, LEAST_RELOADS = 400, MOST_ATTEMPTS = 500000;
constexpr std::uint32_t TRIALS = 2;

// Counts what it is told, by type, and hands it on to the bounded queue.
class CountingSink final : public EventSink {
 public:
  void offer(const Event& event) noexcept override {
    told_[static_cast<std::size_t>(event.type)].fetch_add(1, std::memory_order_relaxed);
    queue.offer(event);
  }
  std::uint64_t told(EventType type) const { return told_[static_cast<std::size_t>(type)].load(); }
  std::uint64_t told_in_all() const {
    std::uint64_t sum = 0;
    for (const auto& count : told_) sum += count.load();
    return sum;
  }
  BoundedEventQueue queue{16};

 private:
  std::array<std::atomic<std::uint64_t>, 6> told_{};
};

UpstreamConfig random_config(Dice& dice) {
  UpstreamConfig config = testing::upstream_of(dice.one_in(2) ? "ab" : "ba", static_cast<Algorithm>(dice(4)));
  for (const char address : {'c', 'd', 'e', 'f'}) {
    if (dice.one_in(2)) config.endpoints.push_back(testing::endpoint(std::string(1, address)));
  }
  if (dice.one_in(3)) config.endpoints[0].weight = 3;
  config.health->window_ms = 200;
  config.health->consecutive_failures = 3;
  config.health->eject_ms = 40;
  config.health->half_open_probes = TRIALS;
  config.breaker = testing::quick_breaker();
  config.breaker->consecutive_failures = 4;
  config.breaker->open_ms = 20;
  config.breaker->half_open_probes = TRIALS;
  if (dice.one_in(6)) config.health.reset();
  if (dice.one_in(6)) config.breaker.reset();
  if (dice.one_in(2)) config.late_reports = LateReports::ignore;
  if (dice.one_in(4)) config.slow_start_ms = 100;
  return config;
}

struct Storm {
  CountingSink sink;
  std::atomic<std::uint64_t> clock{1000};
  std::atomic<int> traffic_left{TRAFFIC_THREADS}, reloads_done{0};
  std::unique_ptr<Upstream> upstream;
  std::atomic<std::uint64_t> taken{0}, trials{0}, mixed_views{0};
  // Of the reloading thread; all that ever were.
  std::set<std::shared_ptr<Upstream::Tracker>> trackers;
  std::set<std::shared_ptr<Upstream::Breaker>> breakers;
  std::vector<std::weak_ptr<const UpstreamConfig>> generations;

  Storm() {
    Dice dice(1);
    upstream = std::make_unique<Upstream>(random_config(dice), now(), &sink);
    remember();
  }
  Instant now() const { return Instant{clock.load(std::memory_order_relaxed)}; }
  bool going_on() const { return traffic_left.load() > 0; }

  void remember() {
    for (const auto& view : upstream->endpoints()) {
      if (view.tracker) trackers.insert(view.tracker);
    }
    if (const auto breaker = upstream->breaker()) breakers.insert(breaker);
    generations.push_back(upstream->config());
  }

  void end_one(std::vector<Upstream::Dispatch>& open, std::vector<Upstream::Body>& bodies, Dice& dice) {
    std::swap(open[dice(open.size())], open.back());
    Upstream::Dispatch dispatch = std::move(open.back());
    open.pop_back();
    if (dice.one_in(6)) return;  // abandoned
    const bool bad_spell = now().ms / 100 % 3 == 0;
    auto body = dispatch.report(now(), Outcome::http(dice.one_in(bad_spell ? 2 : 20) ? 503 : 200));
    if (dice.one_in(10))
      body.broken(now());
    else if (dice.one_in(4))
      bodies.push_back(std::move(body));
  }

  void traffic(std::uint64_t seed) {
    Dice dice(seed);
    std::vector<Upstream::Dispatch> open;
    std::vector<Upstream::Body> bodies;
    const std::string key = "10.0.0." + std::to_string(seed);
    for (int i = 0; i < LEAST_ATTEMPTS || (i < MOST_ATTEMPTS && reloads_done < LEAST_RELOADS); ++i) {
      if (dice.one_in(8)) clock.fetch_add(1, std::memory_order_relaxed);
      auto admission = upstream->admit(now(), AttemptKind::first);
      if (dice.one_in(20)) continue;  // admitted, or not, and gone
      if (admission.allowed()) {
        open.push_back(admission.pick(now(), {key, dice.word(), dice.word()}));
        trials.fetch_add(open.back().is_trial(), std::memory_order_relaxed);
      }
      while (open.size() > 4 || (!open.empty() && dice.one_in(2))) end_one(open, bodies, dice);
      if (bodies.size() > 3) bodies.back().broken(now()), bodies.pop_back();
      if (bodies.size() > 3) bodies.clear();
    }
    open.clear();
    traffic_left.fetch_sub(1);
  }

  void reloads() {
    Dice dice(7);
    // The least of them in any case: a scheduler may let the traffic run to its end first.
    for (; (going_on() || reloads_done < LEAST_RELOADS) && reloads_done < 10 * LEAST_RELOADS;
         ++reloads_done) {
      upstream->reload(random_config(dice), now());
      remember();
      std::this_thread::yield();
    }
  }

  void probes() {
    Dice dice(8);
    while (going_on()) {
      const auto [config, views] = upstream->view();
      const std::size_t which = dice(views.size());
      const auto& tracker = views[which].tracker;
      const bool one_generation = views.size() == config->endpoints.size() &&
                                  views[which].name == config->endpoints[which].name() &&
                                  (tracker != nullptr) == config->health.has_value();
      mixed_views.fetch_add(one_generation ? 0 : 1);
      if (tracker) {
        ActiveProbe loop(ActiveParams{}, *config->health, tracker->snapshot().ejections);
        const bool ok = !dice.one_in(3);
        for (int i = 0; i < 3; ++i) loop.verdict(*tracker, now(), ok);
      }
      std::this_thread::yield();
    }
  }

  void take_events() {
    Event event;
    while (sink.queue.take(event)) taken.fetch_add(1, std::memory_order_relaxed);
  }

  void run() {
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < TRAFFIC_THREADS; ++i) threads.emplace_back([this, i] { traffic(100 + i); });
    threads.emplace_back([this] { reloads(); });
    threads.emplace_back([this] { probes(); });
    threads.emplace_back([this] {
      for (; going_on(); std::this_thread::yield()) take_events();
    });
    for (auto& thread : threads) thread.join();
    take_events();
  }
};

void check_nothing_is_held(const Upstream& upstream, Instant now) {
  for (const auto& view : upstream.endpoints()) {
    CAPTURE(view.name);
    CHECK(view.in_flight == 0);
    if (!view.tracker) continue;
    const auto seen = view.tracker->snapshot();
    if (seen.state == HealthState::half_open) CHECK(seen.slots == TRIALS);
  }
  if (const auto breaker = upstream.breaker()) {
    const auto seen = breaker->snapshot(now);
    if (seen.state == BreakerState::half_open) CHECK(seen.slots == TRIALS);
  }
}

void check_counts_add_up(const Storm& storm) {
  std::uint64_t ejections = 0, recoveries = 0, openings = 0;
  for (const auto& tracker : storm.trackers) {
    const auto seen = tracker->snapshot();
    ejections += seen.ejections;
    recoveries += seen.generation - seen.ejections;
  }
  for (const auto& breaker : storm.breakers) openings += breaker->snapshot(storm.now()).openings;
  CHECK(storm.sink.told(EventType::endpoint_ejected) == ejections);
  CHECK(storm.sink.told(EventType::endpoint_recovered) == recoveries);
  CHECK(storm.sink.told(EventType::breaker_opened) == openings);
  CHECK(storm.sink.told_in_all() == storm.taken + storm.sink.queue.dropped());
  for (const auto type :
       {EventType::endpoint_ejected, EventType::endpoint_half_open, EventType::endpoint_recovered,
        EventType::breaker_opened, EventType::breaker_half_open, EventType::breaker_closed}) {
    CAPTURE(to_string(type));
    CHECK(storm.sink.told(type) > 0);
  }
  CHECK(storm.trials > 0);
  CHECK(storm.mixed_views == 0);
}

void check_old_generations_are_gone(Storm& storm) {
  CHECK(storm.generations.size() > 10);
  std::size_t alive = 0;
  for (const auto& generation : storm.generations) alive += !generation.expired();
  CHECK(alive == 1);
  std::vector<std::weak_ptr<Upstream::Tracker>> watched(storm.trackers.begin(), storm.trackers.end());
  storm.trackers.clear();
  std::size_t living = 0, current = 0;
  for (const auto& tracker : watched) living += !tracker.expired();
  for (const auto& view : storm.upstream->endpoints()) current += view.tracker != nullptr;
  CHECK(living == current);
}

// Nothing may wedge: with good answers all are healthy again within a few periods.
void check_everybody_comes_back(Upstream& upstream, std::uint64_t now) {
  UpstreamConfig config = *upstream.config();
  config.slow_start_ms = 0;
  // By way of another algorithm, so that running weights start at 0: carried from thousandths under slow
  // start they may owe an endpoint thousands of picks.
  for (const auto algorithm : {Algorithm::least_requests, Algorithm::round_robin}) {
    config.load_balancer = algorithm;
    upstream.reload(config, Instant{now});
  }
  for (int round = 0; round < 10; ++round) testing::serve(upstream, now += 1000, 60);
  for (const auto& view : upstream.endpoints()) {
    CAPTURE(view.name);
    if (view.tracker) CHECK(view.tracker->stored_state() == HealthState::healthy);
  }
  if (const auto breaker = upstream.breaker()) CHECK(breaker->state() == BreakerState::closed);
}

TEST_CASE("stress: traffic, probes and reloads at once lose no slot, no count, no event and no generation") {
  Storm storm;
  storm.run();
  check_nothing_is_held(*storm.upstream, storm.now());
  check_counts_add_up(storm);
  check_old_generations_are_gone(storm);
  check_everybody_comes_back(*storm.upstream, storm.now().ms);
}

void report_steadily(Upstream& upstream, std::uint64_t seed, int attempts,
                     std::atomic<std::uint64_t>& failures, std::atomic<std::uint64_t>& broken) {
  Dice dice(seed);
  for (int i = 0; i < attempts; ++i) {
    const Instant now{1000 + dice(50)};  // steps back as often as forth
    auto dispatch = upstream.admit(now, AttemptKind::first).pick(now);
    const bool failure = dice.one_in(3);
    auto body = dispatch.report(now, Outcome::http(failure ? 500 : 200));
    failures.fetch_add(failure);
    if (!dice.one_in(4)) continue;
    body.broken(now);
    broken.fetch_add(1);
  }
}

TEST_CASE("stress: every report of four threads is in the windows once") {
  constexpr int THREADS = 4, ATTEMPTS = 5000;
  UpstreamConfig config = testing::upstream_of("abc");
  config.health->consecutive_failures = config.health->failure_min_volume = UINT32_MAX;
  config.breaker = testing::quick_breaker();
  config.breaker->consecutive_failures = config.breaker->error_volume = UINT32_MAX;
  Upstream upstream(config, Instant{1000});
  std::atomic<std::uint64_t> failures{0}, broken{0};
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < THREADS; ++i) {
    threads.emplace_back([&, i] { report_steadily(upstream, i, ATTEMPTS, failures, broken); });
  }
  for (auto& thread : threads) thread.join();
  std::uint64_t total = 0, failed = 0;
  for (const auto& view : upstream.endpoints()) {
    total += view.tracker->snapshot().window_total;
    failed += view.tracker->snapshot().window_failures;
    CHECK(view.in_flight == 0);
  }
  CHECK(total == THREADS * ATTEMPTS + broken);
  CHECK(failed == failures + broken);
  CHECK(upstream.breaker()->snapshot(Instant{1050}).window_total == THREADS * ATTEMPTS);
  CHECK(upstream.breaker()->snapshot(Instant{1050}).window_failures == failures);
  CHECK(upstream.budget()->snapshot().requests == THREADS * ATTEMPTS);
}

}  // namespace
}  // namespace halfopen
