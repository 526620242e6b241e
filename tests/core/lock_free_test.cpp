// Counts allocations of the measured section, so the operators new and delete of this whole program are here.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/core/upstreams.hpp"

namespace {

thread_local bool counting = false;
thread_local std::uint64_t allocations = 0;

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (counting) ++allocations;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if (void* const memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded)) return memory;
  throw std::bad_alloc();
}

}  // namespace

// Not inlined: g++ would see std::free meet what operator new returned, and warn.
void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new[](std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace halfopen {
namespace {

using testing::upstream_of;

template <class Work>
std::uint64_t allocations_of(Work&& work) {
  allocations = 0;
  counting = true;
  work();
  counting = false;
  return allocations;
}

void attempts(Upstream& upstream, std::uint64_t from, std::uint64_t until) {
  for (std::uint64_t now = from; now < until; ++now) {
    for (std::uint64_t i = 0; i < 10; ++i) {
      auto admission = upstream.admit(Instant{now}, AttemptKind::first);
      auto dispatch = admission.pick(Instant{now}, {"10.0.0.1", now << 40, i << 60});
      if (i == 0) continue;  // abandoned
      auto body = dispatch.report(Instant{now}, Outcome::http(200));
      if (i == 5) body.broken(Instant{now});
    }
  }
}

// Windows of 50 ms, grown to their span before measuring; the retry budget's 10,000 ms stay at one.
UpstreamConfig measured(Algorithm algorithm) {
  UpstreamConfig config = upstream_of("abcdefgh", algorithm);
  config.health->window_ms = 50;
  config.health->consecutive_failures = 1000000;
  config.health->failure_ratio = 1.0;
  config.health->eject_ms = 1000000;
  config.breaker = testing::quick_breaker();
  return config;
}

TEST_CASE("lock-free: the words of the pick path never hide a lock") {
  CHECK(std::atomic<std::uint64_t>::is_always_lock_free);
  CHECK(std::atomic<std::uint32_t>::is_always_lock_free);
  CHECK(std::atomic<std::int64_t>::is_always_lock_free);
  CHECK(std::atomic<bool>::is_always_lock_free);
}

TEST_CASE("lock-free: the counter of allocations counts") {
  CHECK(allocations_of([] { delete new int(1); }) == 1);
}

TEST_CASE("lock-free: an attempt allocates nothing in steady state, by any algorithm") {
  for (const auto algorithm :
       {Algorithm::round_robin, Algorithm::least_requests, Algorithm::random, Algorithm::ip_hash}) {
    CAPTURE(to_string(algorithm));
    Upstream upstream(measured(algorithm), Instant{0});
    attempts(upstream, 0, 20000);  // grows the windows of 60,000 ms past what follows
    CHECK(allocations_of([&] { attempts(upstream, 20000, 21000); }) == 0);
  }
}

TEST_CASE("lock-free: picks around ejected endpoints and new ones that ramp up allocate nothing") {
  UpstreamConfig config = measured(Algorithm::round_robin);
  Upstream upstream(config, Instant{0});
  config.slow_start_ms = 1000000;
  config.endpoints.push_back(testing::endpoint("i", 3));
  upstream.reload(config, Instant{0});
  attempts(upstream, 0, 20000);
  const auto views = upstream.endpoints();
  HealthParams ejecting = *config.health;
  ejecting.consecutive_failures = 1;
  std::uint64_t turn = 0;
  const auto eject_one = [&] { views[turn++ % 9].tracker->report(ejecting, Instant{20000}, true); };
  eject_one();
  attempts(upstream, 20000, 20100);
  CHECK(allocations_of([&] { attempts(upstream, 20100, 20200); }) == 0);
  eject_one();
  eject_one();
  CHECK(allocations_of([&] { upstream.admit(Instant{20200}, AttemptKind::retry).pick(Instant{20200}); }) ==
        0);
}

TEST_CASE("lock-free: a pick that fails open allocates nothing") {
  Upstream upstream(upstream_of("abc"), Instant{0});
  for (std::size_t i = 0; i < 3; ++i) testing::eject(upstream, i, 1000);
  CHECK(allocations_of([&] { testing::dispatch(upstream, 1000); }) == 0);
  CHECK(upstream.fail_open_picks() == 1);
}

}  // namespace
}  // namespace halfopen
