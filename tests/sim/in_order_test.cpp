#include "sim/in_order.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

using namespace halfopen::sim;

namespace {

constexpr std::uint64_t MANY = 20'000;  // several times what may wait

// Takes longer for some than for others.
std::uint64_t squared(std::uint64_t n) {
  volatile std::uint64_t work = 0;
  for (std::uint64_t i = 0; i < n * 7919 % 300; ++i) work = work + i;
  return n * n;
}

struct Maker {
  std::uint64_t operator()(std::uint64_t n) const { return squared(n); }
};

}  // namespace

TEST_CASE("in_order: everything comes once and in order, however many threads there are") {
  for (const unsigned threads : {0U, 1U, 2U, 7U}) {
    CAPTURE(threads);
    std::uint64_t next = 0;
    in_order<std::uint64_t>(
        MANY, threads, [] { return Maker(); },
        [&next](std::uint64_t got) {
          REQUIRE(got == next * next);
          ++next;
        },
        {});
    CHECK(next == MANY);
  }
}

TEST_CASE("in_order: of nothing nothing is made, and one thing needs no second thread") {
  std::atomic<int> makers{0};
  std::uint64_t seen = 0;
  const auto make_maker = [&makers] {
    ++makers;
    return Maker();
  };
  const auto count = [&seen](std::uint64_t) { ++seen; };
  in_order<std::uint64_t>(0, 4, make_maker, count, {});
  CHECK(makers == 0);
  CHECK(seen == 0);
  in_order<std::uint64_t>(1, 4, make_maker, count, {});
  CHECK(makers == 1);
  CHECK(seen == 1);
}

TEST_CASE("in_order: what is thrown first in the order of indices is thrown, after all that is before it") {
  for (const unsigned threads : {1U, 5U}) {
    for (const std::uint64_t bad : {0U, 1U, 4321U}) {
      CAPTURE(threads);
      CAPTURE(bad);
      std::uint64_t seen = 0;
      const auto make_maker = [bad] {
        return [bad](std::uint64_t n) {
          if (n >= bad) throw std::runtime_error(std::to_string(n));
          return squared(n);
        };
      };
      std::string thrown;
      try {
        in_order<std::uint64_t>(MANY, threads, make_maker, [&seen](std::uint64_t) { ++seen; }, {});
      } catch (const std::runtime_error& error) {
        thrown = error.what();
      }
      CHECK(thrown == std::to_string(bad));
      CHECK(seen == bad);
    }
  }
}

TEST_CASE("in_order: what the receiver throws ends the work") {
  std::atomic<std::uint64_t> made{0};
  const auto make_maker = [&made] {
    return [&made](std::uint64_t n) {
      ++made;
      return n;
    };
  };
  CHECK_THROWS_AS(in_order<std::uint64_t>(10'000'000, 3, make_maker,
                                          [](std::uint64_t n) {
                                            if (n == 10) throw std::logic_error("enough");
                                          },
                                          {}),
                  std::logic_error);
  CHECK(made > 10);
  CHECK(made < 10'000'000);
}

TEST_CASE("in_order: a pause is offered while nothing is ready, and its no ends the work") {
  std::atomic<bool> go_on{true};
  int pauses = 0;
  std::uint64_t seen = 0;
  // The only thing takes until the third pause: without pauses this would never end.
  in_order<int>(
      1, 2,
      [&go_on] {
        return [&go_on](std::uint64_t) {
          while (go_on) std::this_thread::yield();
          return 1;
        };
      },
      [&seen](int) { ++seen; },
      [&] {
        if (++pauses == 3) go_on = false;
        return pauses < 3;
      });
  CHECK(pauses == 3);
  CHECK(seen == 0);
}
