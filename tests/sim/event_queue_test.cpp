#include "sim/event_queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "core/random.hpp"

using namespace halfopen::sim;

namespace {

std::vector<std::uint64_t> payloads(EventQueue& queue) {
  std::vector<std::uint64_t> out;
  while (!queue.empty()) out.push_back(queue.pop().payload);
  return out;
}

using Numbers = std::vector<std::uint64_t>;

// Random work beside a sorted list. `gap` spreads the times: all in one instant, in one bucket of a wheel,
// over many, or beyond it. Times never lie before what was taken last, as in a run.
void compare_with_sorted_list(std::uint64_t gap, std::uint64_t seed) {
  using Key = std::tuple<Nanos, EventKind, std::uint64_t>;
  EventQueue queue;
  std::map<Key, std::pair<std::uint32_t, EventId>> model;
  std::uint64_t sequence = 0;
  Nanos now = 0;
  for (std::uint64_t i = 0; i < 30'000; ++i) {
    const auto words = halfopen::philox4x64_10({i, 0, 0, 0}, {1, seed});
    // Grows for a while, then shrinks to nothing, again and again.
    const std::uint64_t schedules = i / 3000 % 2 == 0 ? 60 : 25;
    if (words[0] % 100 < schedules || model.empty()) {
      const Nanos at = now + (words[1] % 16 == 0 ? words[3] % (gap * 1000 + 1) : words[3] % (gap + 1));
      const auto kind = static_cast<EventKind>(words[2] % 10);
      const auto payload = static_cast<std::uint32_t>(i);
      model[{at, kind, sequence++}] = {payload, queue.schedule_cancellable(at, kind, payload)};
    } else if (words[0] % 100 < schedules + 20) {
      auto chosen = model.begin();
      std::advance(chosen, static_cast<std::ptrdiff_t>(words[1] % std::min<std::size_t>(model.size(), 40)));
      queue.cancel(chosen->second.second);
      model.erase(chosen);
    } else {
      now = queue.next_time();
      REQUIRE(now == std::get<0>(model.begin()->first));
      REQUIRE(queue.next_kind() == std::get<1>(model.begin()->first));
      REQUIRE(queue.pop().payload == model.begin()->second.first);
      model.erase(model.begin());
    }
    REQUIRE(queue.empty() == model.empty());
    REQUIRE(queue.size() >= model.size());
    REQUIRE(queue.size() <= 3 * model.size() + 130);
  }
  Numbers left;
  for (const auto& [key, event] : model) left.push_back(event.first);
  CHECK(payloads(queue) == left);
}

}  // namespace

TEST_CASE("sim event queue: by time, then by kind, then in the order of scheduling") {
  EventQueue queue;
  queue.schedule(20, EventKind::clock_step, 6);
  queue.schedule(10, EventKind::sample, 5);
  queue.schedule(10, EventKind::completion, 1);
  queue.schedule(10, EventKind::attempt_timeout, 3);
  queue.schedule(10, EventKind::completion, 2);
  queue.schedule(10, EventKind::retry, 4);
  queue.schedule(10, EventKind::clock_step, 0);
  CHECK(payloads(queue) == Numbers{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("sim event queue: the kinds stand in the order of the scenario page") {
  using enum EventKind;
  const std::vector<EventKind> kinds{clock_step, reload, fault_boundary, completion, attempt_timeout,
                                     departure,  probe,  retry,          arrival,    sample};
  EventQueue queue;
  for (std::size_t i = kinds.size(); i-- > 0;) queue.schedule(5, kinds[i], static_cast<std::uint32_t>(i));
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    CHECK(queue.next_kind() == kinds[i]);
    const EventQueue::Next next = queue.pop();
    CHECK(next.payload == i);
    CHECK(next.at == 5);
  }
}

TEST_CASE("sim event queue: a caller's own sequence decides between events of one kind at one instant") {
  EventQueue queue;
  queue.schedule(7, EventKind::fault_boundary, 2, 900);
  queue.schedule(7, EventKind::fault_boundary, 0, 3);
  queue.schedule(6, EventKind::fault_boundary, 9, (std::uint64_t{1} << 56) - 1);
  queue.schedule(7, EventKind::fault_boundary, 1, 4);
  queue.schedule(7, EventKind::reload, 5);
  CHECK(payloads(queue) == Numbers{9, 5, 0, 1, 2});
}

TEST_CASE("sim event queue: a new event of this instant comes before older ones of later kinds") {
  EventQueue queue;
  queue.schedule(10, EventKind::attempt_timeout, 0);
  queue.schedule(10, EventKind::retry, 2);
  CHECK(queue.pop().payload == 0);
  queue.schedule(10, EventKind::completion, 1);
  CHECK(payloads(queue) == Numbers{1, 2});
}

TEST_CASE("sim event queue: a cancelled event never comes and is never asked about") {
  EventQueue queue;
  const EventId first = queue.schedule_cancellable(1, EventKind::completion, 1);
  const EventId middle = queue.schedule_cancellable(2, EventKind::completion, 2);
  queue.schedule_cancellable(3, EventKind::retry, 3);
  queue.cancel(middle);
  CHECK(queue.next_time() == 1);
  queue.cancel(first);
  CHECK(queue.next_time() == 3);
  CHECK(queue.next_kind() == EventKind::retry);
  queue.cancel(first);
  queue.cancel(EventId{});
  CHECK(payloads(queue) == Numbers{3});
  CHECK(queue.empty());
}

TEST_CASE("sim event queue: cancelling the last event leaves an empty queue") {
  EventQueue queue;
  const EventId id = queue.schedule_cancellable(1, EventKind::completion, 1);
  queue.cancel(id);
  CHECK(queue.empty());
}

TEST_CASE("sim event queue: an old reference does not cancel the new tenant of its place") {
  EventQueue queue;
  const EventId happened = queue.schedule_cancellable(1, EventKind::completion, 1);
  queue.pop();
  const EventId tenant = queue.schedule_cancellable(2, EventKind::completion, 2);
  queue.cancel(happened);
  CHECK(queue.next_time() == 2);
  queue.cancel(tenant);
  const EventId third = queue.schedule_cancellable(3, EventKind::completion, 3);
  queue.cancel(happened);
  queue.cancel(tenant);
  CHECK(payloads(queue) == Numbers{3});
  queue.cancel(third);
  CHECK(queue.empty());
}

TEST_CASE("sim event queue: after ten thousand cancels the survivors come in order") {
  EventQueue queue;
  std::vector<EventId> ids;
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    ids.push_back(
        queue.schedule_cancellable((i * 7919) % 10'000, EventKind::attempt_timeout, (i * 7919) % 10'000));
  }
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    if ((i * 7919) % 10'000 % 100 != 0) queue.cancel(ids[i]);
  }
  CHECK(queue.size() < 300);  // swept: what was cancelled does not pile up
  // New events take the places of the swept ones.
  for (std::uint32_t i = 0; i < 100; ++i)
    queue.schedule_cancellable(i * 100 + 50, EventKind::completion, i * 100 + 50);
  for (const EventId& id : ids) {
    if (&id - ids.data() >= 5000) break;  // what is long gone, or alive and cancelled now
    queue.cancel(id);
  }
  const Numbers left = payloads(queue);
  CHECK(std::is_sorted(left.begin(), left.end()));
  CHECK(std::count_if(left.begin(), left.end(), [](auto at) { return at % 100 == 50; }) == 100);
  CHECK(left.size() == 150);
}

TEST_CASE("sim event queue: answers as a sorted list does, whatever is scheduled, cancelled and taken") {
  for (const std::uint64_t gap :
       {0ULL, 3ULL, 1'000ULL, 100'000ULL, 5'000'000ULL, 400'000'000ULL, 60'000'000'000ULL}) {
    CAPTURE(gap);
    compare_with_sorted_list(gap, gap + 2);
  }
}

TEST_CASE(
    "sim event queue: events of one kind at one instant stay in their order, however far ahead they were "
    "scheduled") {
  for (const Nanos distance : {0ULL, 1'000ULL, 200'000ULL, 300'000'000ULL, 90'000'000'000ULL}) {
    EventQueue queue;
    Numbers expected;
    const Nanos at = 100'000'000'000 + distance;
    for (std::uint32_t i = 0; i < 300; ++i) {
      // Time goes on while they are scheduled: the first are far away, the last ones near.
      queue.schedule(at, EventKind::completion, i);
      expected.push_back(i);
      queue.schedule(at / 300 * i, EventKind::sample, 9999);
      while (queue.next_time() < at / 300 * (i + 1) && queue.next_kind() == EventKind::sample) queue.pop();
    }
    while (queue.next_kind() == EventKind::sample) queue.pop();
    CHECK(payloads(queue) == expected);
  }
}
