#include "core/balancer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/hash.hpp"
#include "tests/core/dice.hpp"

namespace halfopen {
namespace {

using testing::Dice;

__extension__ typedef unsigned __int128 Wide;

// Smooth weighted round-robin as it is told, and nothing else.
class PlainScan {
 public:
  explicit PlainScan(std::size_t n) : running_(n, 0) {}

  std::uint32_t pick(const std::vector<std::int64_t>& weights, const Excluded& excluded) {
    std::int64_t total = 0;
    std::uint32_t winner = MAX_MEMBERS;
    for (std::uint32_t i = 0; i < running_.size(); ++i) {
      if (excluded.test(i)) continue;
      running_[i] += weights[i];
      total += weights[i];
      if (winner == MAX_MEMBERS || running_[i] > running_[winner]) winner = i;
    }
    running_[winner] -= total;
    return winner;
  }
  const std::vector<std::int64_t>& running() const { return running_; }

 private:
  std::vector<std::int64_t> running_;
};

std::string letters(const std::vector<std::int64_t>& weights, int picks) {
  SmoothRoundRobin balancer(static_cast<std::uint32_t>(weights.size()));
  const Excluded nobody(static_cast<std::uint32_t>(weights.size()));
  std::string order;
  for (int i = 0; i < picks; ++i)
    order += static_cast<char>('a' + balancer.pick({weights.data(), 0}, nobody));
  return order;
}

TEST_CASE("round robin: weights 5, 1, 1 are served a a b a c a a") {
  CHECK(letters({5, 1, 1}, 14) == "aabacaaaabacaa");
}

TEST_CASE("round robin: equal weights take turns in set order, whatever the weight is") {
  SmoothRoundRobin balancer(3);
  const Excluded nobody(3);
  for (std::uint32_t i = 0; i < 9; ++i) CHECK(balancer.pick({nullptr, 7}, nobody) == i % 3);
  CHECK(letters({1, 1, 1}, 6) == "abcabc");
}

void hold_against_scan(std::uint64_t seed) {
  Dice dice(seed);
  const auto n = static_cast<std::uint32_t>(2 + dice(seed % 3 == 0 ? 140 : 9));
  SmoothRoundRobin balancer(n);
  PlainScan scan(n);
  Excluded excluded(n);
  std::vector<std::int64_t> weights(n, 1);
  bool equal = true;
  for (int step = 0; step < 1500; ++step) {
    if (dice.one_in(40)) {
      equal = !dice.one_in(4);
      const auto all = static_cast<std::int64_t>(1 + dice(3));
      for (auto& weight : weights) weight = equal ? all : static_cast<std::int64_t>(1 + dice(9));
    }
    if (dice.one_in(15)) {
      excluded = Excluded(n);
      for (std::uint64_t out = dice(n - 1); out > 0; --out) excluded.add(static_cast<std::uint32_t>(dice(n)));
    }
    const Weights seen = equal ? Weights{nullptr, weights[0]} : Weights{weights.data(), 0};
    REQUIRE(balancer.pick(seen, excluded) == scan.pick(weights, excluded));
    if (dice.one_in(50)) REQUIRE(balancer.running_weights() == scan.running());
  }
  REQUIRE(balancer.running_weights() == scan.running());
}

TEST_CASE(
    "round robin: the queue of equal weights picks and counts as the plain scan, through every change") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    hold_against_scan(seed);
  }
}

TEST_CASE("round robin: who is excluded keeps its running weight until it is back") {
  SmoothRoundRobin balancer(3);
  Excluded without_a(3);
  without_a.add(0);
  const Excluded nobody(3);
  CHECK(balancer.pick({nullptr, 1}, nobody) == 0);
  for (int i = 0; i < 4; ++i) CHECK(balancer.pick({nullptr, 1}, without_a) == 1 + i % 2);
  CHECK(balancer.running_weights() == std::vector<std::int64_t>{-2, 1, 1});
  balancer.set_running_weights({-2, 1, 5});
  CHECK(balancer.pick({nullptr, 1}, nobody) == 2);
}

TEST_CASE("excluded: counts each once, and the k-th candidate skips them") {
  Excluded excluded(130);
  CHECK(excluded.nth_candidate(129) == 129);
  for (const std::uint32_t i : {0U, 63U, 64U, 129U, 64U}) excluded.add(i);
  CHECK(excluded.count() == 4);
  CHECK(excluded.candidates() == 126);
  std::vector<std::uint32_t> expected;
  for (std::uint32_t i = 0; i < 130; ++i) {
    if (!excluded.test(i)) expected.push_back(i);
  }
  for (std::uint32_t k = 0; k < excluded.candidates(); ++k) CHECK(excluded.nth_candidate(k) == expected[k]);
}

TEST_CASE("two choices: distinct, in range, and exactly the high halves of the products") {
  Dice dice(3);
  for (int i = 0; i < 20000; ++i) {
    const auto n = static_cast<std::uint32_t>(2 + dice(i % 2 == 0 ? 5 : 65535));
    const std::uint64_t x0 = dice.word(), x1 = dice.word();
    const auto [first, second] = two_choices(x0, x1, n);
    REQUIRE(first < n);
    REQUIRE(second < n);
    REQUIRE(first != second);
    REQUIRE(first == static_cast<std::uint32_t>((Wide{x0} * n) >> 64));
    const auto among_others = static_cast<std::uint32_t>((Wide{x1} * (n - 1)) >> 64);
    REQUIRE(second == among_others + (among_others >= first));
  }
}

TEST_CASE("two choices: the extreme words give the extreme places") {
  CHECK(two_choices(0, 0, 2) == std::pair<std::uint32_t, std::uint32_t>{0, 1});
  CHECK(two_choices(UINT64_MAX, 0, 2) == std::pair<std::uint32_t, std::uint32_t>{1, 0});
  CHECK(two_choices(0, UINT64_MAX, 5) == std::pair<std::uint32_t, std::uint32_t>{0, 4});
  CHECK(two_choices(UINT64_MAX, UINT64_MAX, 5) == std::pair<std::uint32_t, std::uint32_t>{4, 3});
}

TEST_CASE("two choices: every ordered pair of five comes up about equally often") {
  Dice dice(5);
  int hits[5][5] = {};
  for (int i = 0; i < 20000; ++i) {
    const auto [first, second] = two_choices(dice.word(), dice.word(), 5);
    ++hits[first][second];
  }
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 5; ++j) CHECK((i == j ? hits[i][j] == 0 : (hits[i][j] > 850 && hits[i][j] < 1150)));
  }
}

struct PlainPoint {
  std::uint64_t at;
  std::uint32_t owner;
};

std::vector<PlainPoint> plain_ring(const std::vector<EndpointConfig>& endpoints) {
  std::vector<PlainPoint> points;
  for (std::uint32_t i = 0; i < endpoints.size(); ++i) {
    for (std::uint64_t point = 0; point < 160ULL * endpoints[i].weight; ++point) {
      std::string bytes = endpoints[i].address;
      bytes += static_cast<char>(endpoints[i].port >> 8);
      bytes += static_cast<char>(endpoints[i].port & 0xff);
      for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>((point >> shift) & 0xff);
      points.push_back({stable_hash(bytes), i});
    }
  }
  return points;
}

// The owner of the nearest point at or after the key, by looking at all of them.
std::uint32_t plain_owner(const std::vector<PlainPoint>& points, std::string_view key,
                          const Excluded& excluded) {
  const std::uint64_t at = stable_hash(key);
  std::uint64_t nearest = UINT64_MAX;
  std::uint32_t owner = MAX_MEMBERS;
  for (const PlainPoint& point : points) {
    const std::uint64_t away = point.at - at;  // wraps around as the ring does
    if (excluded.test(point.owner)) continue;
    if (owner == MAX_MEMBERS || away < nearest || (away == nearest && point.owner < owner)) {
      nearest = away;
      owner = point.owner;
    }
  }
  return owner;
}

TEST_CASE("ip hash: the owner is the first point at or after the key, past the excluded, around the end") {
  const std::vector<EndpointConfig> endpoints{
      {"10.0.0.1", 8080, 1}, {"10.0.0.2", 8080, 2}, {"::1", 443, 1}, {"db", 65535, 1}};
  const HashRing ring(endpoints);
  const std::vector<PlainPoint> points = plain_ring(endpoints);
  Dice dice(9);
  std::vector<int> owned(4, 0);
  for (int i = 0; i < 3000; ++i) {
    const std::string key = "192.168." + std::to_string(i / 250) + "." + std::to_string(i % 250);
    Excluded excluded(4);
    if (i % 2 == 0) {
      for (std::uint64_t out = dice(4); out > 0 && excluded.candidates() > 1; --out) {
        excluded.add(static_cast<std::uint32_t>(dice(4)));
      }
    }
    const std::uint32_t owner = ring.owner(key, excluded);
    REQUIRE(owner == plain_owner(points, key, excluded));
    if (i % 2 == 1) ++owned[owner];
  }
  CHECK(owned[1] > owned[0]);
  CHECK(*std::min_element(owned.begin(), owned.end()) > 150);
}

TEST_CASE("ip hash: an endpoint that leaves moves its own keys and no others") {
  const std::vector<EndpointConfig> endpoints{{"a", 1, 1}, {"b", 1, 1}, {"c", 1, 1}};
  const HashRing ring(endpoints);
  Excluded without_b(3);
  without_b.add(1);
  int moved = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string key = std::to_string(i);
    const std::uint32_t before = ring.owner(key, Excluded(3)), after = ring.owner(key, without_b);
    if (before == 1)
      ++moved;
    else
      REQUIRE(after == before);
    REQUIRE(after != 1);
  }
  CHECK(moved > 200);
}

}  // namespace
}  // namespace halfopen
