#include "core/event_queue.hpp"

#include <doctest/doctest.h>

#include <memory>

namespace halfopen {
namespace {

Event numbered(std::uint64_t n) {
  Event event;
  event.at = Instant{n};
  return event;
}

TEST_CASE("event queue: events come out in the order they went in") {
  BoundedEventQueue queue(8);
  Event event;
  CHECK_FALSE(queue.take(event));
  for (std::uint64_t n = 0; n < 8; ++n) queue.offer(numbered(n));
  for (std::uint64_t n = 0; n < 8; ++n) {
    REQUIRE(queue.take(event));
    CHECK(event.at.ms == n);
  }
  CHECK_FALSE(queue.take(event));
  CHECK(queue.dropped() == 0);
}

TEST_CASE("event queue: a full queue keeps the old events, drops the new ones and counts them") {
  BoundedEventQueue queue(4);
  for (std::uint64_t n = 0; n < 10; ++n) queue.offer(numbered(n));
  CHECK(queue.dropped() == 6);
  Event event;
  for (std::uint64_t n = 0; n < 4; ++n) {
    REQUIRE(queue.take(event));
    CHECK(event.at.ms == n);
  }
  CHECK_FALSE(queue.take(event));
}

TEST_CASE("event queue: one taken makes room for exactly one") {
  BoundedEventQueue queue(2);
  queue.offer(numbered(0));
  queue.offer(numbered(1));
  Event event;
  REQUIRE(queue.take(event));
  queue.offer(numbered(2));
  queue.offer(numbered(3));
  CHECK(queue.dropped() == 1);
  REQUIRE(queue.take(event));
  CHECK(event.at.ms == 1);
  REQUIRE(queue.take(event));
  CHECK(event.at.ms == 2);
}

TEST_CASE("event queue: capacity is rounded up to a power of two, at least two") {
  CHECK(BoundedEventQueue(0).capacity() == 2);
  CHECK(BoundedEventQueue(1).capacity() == 2);
  CHECK(BoundedEventQueue(2).capacity() == 2);
  CHECK(BoundedEventQueue(3).capacity() == 4);
  CHECK(BoundedEventQueue(1000).capacity() == 1024);
}

TEST_CASE("event queue: many rounds through the ring lose nothing") {
  BoundedEventQueue queue(4);
  Event event;
  std::uint64_t taken = 0;
  for (std::uint64_t n = 0; n < 10000; ++n) {
    queue.offer(numbered(n));
    if (n % 3 != 2) continue;
    while (queue.take(event)) REQUIRE(event.at.ms == taken++);
  }
  CHECK(taken == 9999);
  CHECK(queue.dropped() == 0);
}

TEST_CASE("event queue: an event that was taken holds no subject alive in the queue") {
  BoundedEventQueue queue(2);
  auto subject = std::make_shared<const EventSubject>();
  const std::weak_ptr<const EventSubject> watched = subject;
  Event event = numbered(1);
  event.subject = std::move(subject);
  queue.offer(event);
  event = {};
  CHECK_FALSE(watched.expired());
  REQUIRE(queue.take(event));
  event = {};
  CHECK(watched.expired());
}

}  // namespace
}  // namespace halfopen
