// Several producers and consumers on one bounded queue: every event is taken once or counted as dropped. Run
// under ThreadSanitizer by `make test`.
#include "core/event_queue.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace halfopen {
namespace {

constexpr std::uint64_t PRODUCERS = 3, CONSUMERS = 2, EACH = 40000;

struct Crowd {
  BoundedEventQueue queue{64};
  std::atomic<std::uint64_t> producing{PRODUCERS};
  std::vector<std::atomic<std::uint8_t>> times_taken =
      std::vector<std::atomic<std::uint8_t>>(PRODUCERS * EACH);
  std::atomic<std::uint64_t> taken{0}, out_of_order{0};

  void produce(std::uint64_t producer) {
    const auto subject = std::make_shared<const EventSubject>(EventSubject{"shop", "a:1"});
    for (std::uint64_t n = 0; n < EACH; ++n) {
      Event event;
      event.at = Instant{n};
      event.because.volume = producer;
      event.subject = subject;
      queue.offer(event);
      if (n % 64 == 0) std::this_thread::yield();
    }
    producing.fetch_sub(1);
  }

  // The events of one producer reach one consumer in their order.
  void consume() {
    std::uint64_t next[PRODUCERS] = {};
    for (;;) {
      const bool last_round = producing.load() == 0;
      Event event;
      while (queue.take(event)) {
        const std::uint64_t producer = event.because.volume, n = event.at.ms;
        out_of_order.fetch_add(n < next[producer] || event.subject->endpoint != "a:1");
        next[producer] = n + 1;
        times_taken[producer * EACH + n].fetch_add(1);
        taken.fetch_add(1);
      }
      if (last_round) return;
      std::this_thread::yield();
    }
  }
};

TEST_CASE("stress: what producers offered was taken once, in each one's order, or dropped and counted") {
  Crowd crowd;
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < PRODUCERS; ++i) threads.emplace_back([&crowd, i] { crowd.produce(i); });
  for (std::uint64_t i = 0; i < CONSUMERS; ++i) threads.emplace_back([&crowd] { crowd.consume(); });
  for (auto& thread : threads) thread.join();
  CHECK(crowd.taken + crowd.queue.dropped() == PRODUCERS * EACH);
  CHECK(crowd.out_of_order == 0);
  CHECK(crowd.taken > 0);
  std::uint64_t once = 0, more = 0;
  for (const auto& times : crowd.times_taken) once += times == 1, more += times > 1;
  CHECK(once == crowd.taken);
  CHECK(more == 0);
}

}  // namespace
}  // namespace halfopen
