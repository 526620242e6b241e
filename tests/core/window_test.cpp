#include "core/window.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/core/dice.hpp"

namespace halfopen {
namespace {

using testing::Dice;
using Kind = BucketWindow::Kind;

constexpr std::size_t BUCKET_BYTES = 16;

// What the window must be indistinguishable from: every observation with its own time, dropped from the old
// end up to the first that has not aged.
class PlainList {
 public:
  void append(std::uint64_t now, Kind kind) { entries_.push_back({now, kind}); }
  void drop(std::uint64_t now, std::uint64_t window_ms) {
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(aged(now, window_ms)));
  }
  std::uint64_t count(Kind kind, std::size_t from = 0) const {
    std::uint64_t n = 0;
    for (std::size_t i = from; i < entries_.size(); ++i) n += entries_[i].kind == kind;
    return n;
  }
  std::size_t aged(std::uint64_t now, std::uint64_t window_ms) const {
    std::size_t n = 0;
    while (n < entries_.size() && now >= entries_[n].at && now - entries_[n].at >= window_ms) ++n;
    return n;
  }
  void clear() { entries_.clear(); }

 private:
  struct Entry {
    std::uint64_t at;
    Kind kind;
  };
  std::vector<Entry> entries_;
};

TEST_CASE("window: an observation counts until one millisecond before it is window_ms old") {
  BucketWindow window;
  window.append(Instant{1000}, Kind::second);
  window.drop(Instant{1099}, 100);
  CHECK(window.counts().second == 1);
  window.drop(Instant{1100}, 100);
  CHECK(window.counts().total() == 0);
}

TEST_CASE("window: counts at a later time leave out what has aged and drop nothing") {
  BucketWindow window;
  window.append(Instant{1000}, Kind::first);
  window.append(Instant{1001}, Kind::second);
  CHECK(window.counts_at(Instant{1099}, 100).total() == 2);
  CHECK(window.counts_at(Instant{1100}, 100).first == 0);
  CHECK(window.counts_at(Instant{1100}, 100).second == 1);
  CHECK(window.counts_at(Instant{1101}, 100).total() == 0);
  CHECK(window.counts().total() == 2);
}

TEST_CASE("window: an observation from before the newest one ages with it") {
  BucketWindow window;
  window.append(Instant{1000}, Kind::first);
  window.append(Instant{900}, Kind::second);  // the clock stepped back
  window.drop(Instant{1099}, 100);
  CHECK(window.counts().total() == 2);
  window.drop(Instant{1100}, 100);
  CHECK(window.counts().total() == 0);
}

TEST_CASE("window: nothing ages while the clock stands before the oldest observation") {
  BucketWindow window;
  window.append(Instant{1000}, Kind::first);
  window.drop(Instant{0}, 1);
  CHECK(window.counts().total() == 1);
}

void play_against_plain_list(std::uint64_t seed, std::uint64_t operations) {
  Dice dice(seed);
  BucketWindow window;
  PlainList list;
  const std::uint64_t window_ms = 1 + dice(60);
  std::uint64_t now = 1000;
  for (std::uint64_t i = 0; i < operations; ++i) {
    if (dice.one_in(3)) now += dice(4);
    if (dice.one_in(20)) now += dice(2 * window_ms);
    if (dice.one_in(15)) now -= std::min(now, dice(2 * window_ms));
    const Kind kind = dice.one_in(3) ? Kind::second : Kind::first;
    const std::uint64_t what = dice(300);
    if (what == 0)
      window.clear(), list.clear();
    else if (what < 200)
      window.append(Instant{now}, kind), list.append(now, kind);
    else
      window.drop(Instant{now}, window_ms), list.drop(now, window_ms);
    REQUIRE(window.counts().first == list.count(Kind::first));
    REQUIRE(window.counts().second == list.count(Kind::second));
    const std::uint64_t later = now + dice(window_ms + 2);
    const auto shown = window.counts_at(Instant{later}, window_ms);
    REQUIRE(shown.first == list.count(Kind::first, list.aged(later, window_ms)));
    REQUIRE(shown.second == list.count(Kind::second, list.aged(later, window_ms)));
  }
}

TEST_CASE("window: random operations count as a plain list does, also when time steps back") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    play_against_plain_list(seed, 1500);
  }
}

TEST_CASE("window: memory is a matter of milliseconds, not of volume") {
  BucketWindow window;
  for (std::uint64_t now = 0; now < 1000; ++now) {
    for (int burst = 0; burst < 200; ++burst) window.append(Instant{now}, Kind::first);
    window.drop(Instant{now}, 100);
    REQUIRE(window.counts().total() == 200 * std::min<std::uint64_t>(now + 1, 100));
  }
  CHECK(window.memory_bytes() == 128 * BUCKET_BYTES);
}

TEST_CASE(
    "window: however much arrives while the clock stands or has stepped back, it shares the newest bucket") {
  BucketWindow window;
  window.append(Instant{1000}, Kind::first);
  for (std::uint64_t i = 0; i < 10000; ++i) window.append(Instant{1000 - i % 900}, Kind::second);
  CHECK(window.counts().total() == 10001);
  CHECK(window.memory_bytes() == 16 * BUCKET_BYTES);
}

TEST_CASE("window: once it has grown to its span its capacity stays the same") {
  BucketWindow window;
  std::uint64_t now = 0;
  const auto pass = [&](std::uint64_t milliseconds) {
    for (const std::uint64_t end = now + milliseconds; now < end; ++now) {
      window.append(Instant{now}, Kind::second);
      window.drop(Instant{now}, 50);
    }
  };
  pass(100);
  const std::size_t grown = window.memory_bytes();
  CHECK(grown == 64 * BUCKET_BYTES);
  pass(10000);
  CHECK(window.memory_bytes() == grown);
  CHECK(window.counts().second == 50);
}

TEST_CASE("window: growing keeps what a ring that has turned holds") {
  BucketWindow window;
  std::uint64_t now = 0;
  for (; now < 25; ++now) {  // 16 buckets turn several times
    window.append(Instant{now}, Kind::first);
    window.drop(Instant{now}, 10);
  }
  for (; now < 90; ++now) window.append(Instant{now}, Kind::second);
  CHECK(window.counts().first == 10);
  window.drop(Instant{24 + 100}, 100);
  CHECK(window.counts().first == 0);
  CHECK(window.counts().second == 65);
  window.drop(Instant{25 + 100}, 100);
  CHECK(window.counts().second == 64);
}

TEST_CASE("window: clear gives the memory back") {
  BucketWindow window;
  CHECK(window.memory_bytes() == 0);
  for (std::uint64_t now = 0; now < 1000; ++now) window.append(Instant{now}, Kind::first);
  CHECK(window.memory_bytes() > 0);
  window.clear();
  CHECK(window.memory_bytes() == 0);
  CHECK(window.counts().total() == 0);
  window.append(Instant{5}, Kind::second);  // an older stamp than any before the clear
  CHECK(window.counts().second == 1);
}

}  // namespace
}  // namespace halfopen
