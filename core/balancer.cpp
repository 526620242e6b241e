#include "core/balancer.hpp"

#include "core/hash.hpp"

namespace halfopen {
namespace {

__extension__ typedef unsigned __int128 Wide;

constexpr std::uint64_t POINTS_PER_WEIGHT = 160;

}  // namespace

std::uint32_t SmoothRoundRobin::pick(const Weights& weights, const Excluded& excluded) {
  if (weights.each != nullptr) return pick_by_scan(weights, excluded);
  if (!queue_fits(weights.equal, excluded)) rebuild_queue(weights.equal, excluded);
  return pick_from_queue();
}

bool SmoothRoundRobin::queue_fits(std::int64_t weight, const Excluded& excluded) const {
  if (queue_.empty() || queue_weight_ != weight || queue_excluded_count_ != excluded.count() ||
      lift_ > LIFT_LIMIT) {
    return false;
  }
  return excluded.count() == 0 || std::equal(queue_excluded_.begin(), queue_excluded_.end(), excluded.bits());
}

void SmoothRoundRobin::rebuild_queue(std::int64_t weight, const Excluded& excluded) {
  dissolve_queue();
  for (std::uint32_t i = 0; i < excluded.size(); ++i) {
    if (!excluded.test(i)) queue_.push_back(i);
  }
  std::sort(queue_.begin(), queue_.end(), [this](std::uint32_t a, std::uint32_t b) {
    return running_[a] != running_[b] ? running_[a] > running_[b] : a < b;
  });
  queue_weight_ = weight;
  queue_excluded_count_ = excluded.count();
  queue_excluded_.assign(excluded.bits(), excluded.bits() + excluded.words());
}

void SmoothRoundRobin::dissolve_queue() {
  for (const std::uint32_t i : queue_) running_[i] += lift_;
  queue_.clear();
  head_ = 0;
  lift_ = 0;
}

std::uint32_t SmoothRoundRobin::pick_from_queue() {
  const auto n = static_cast<std::uint32_t>(queue_.size());
  lift_ += queue_weight_;
  const std::uint32_t winner = queue_[head_];
  const std::int64_t paid = running_[winner] - queue_weight_ * n;
  running_[winner] = paid;
  // The head's place becomes the tail's; whoever stands behind the winner now moves one place back.
  std::uint32_t place = head_;
  head_ = head_ + 1 == n ? 0 : head_ + 1;
  while (place != head_) {
    const std::uint32_t before = place == 0 ? n - 1 : place - 1;
    const std::uint32_t other = queue_[before];
    if (running_[other] > paid || (running_[other] == paid && other < winner)) break;
    queue_[place] = other;
    place = before;
  }
  queue_[place] = winner;
  return winner;
}

std::uint32_t SmoothRoundRobin::pick_by_scan(const Weights& weights, const Excluded& excluded) {
  dissolve_queue();
  std::int64_t total = 0, best_weight = 0;
  std::uint32_t best = MAX_MEMBERS;
  for (std::uint32_t i = 0; i < excluded.size(); ++i) {
    if (excluded.test(i)) continue;
    running_[i] += weights.each[i];
    total += weights.each[i];
    if (best == MAX_MEMBERS || running_[i] > best_weight) {
      best = i;
      best_weight = running_[i];
    }
  }
  running_[best] -= total;
  return best;
}

std::vector<std::int64_t> SmoothRoundRobin::running_weights() {
  dissolve_queue();
  return running_;
}

void SmoothRoundRobin::set_running_weights(std::vector<std::int64_t> running) {
  dissolve_queue();
  running_ = std::move(running);
}

std::pair<std::uint32_t, std::uint32_t> two_choices(std::uint64_t x0, std::uint64_t x1,
                                                    std::uint32_t n) noexcept {
  const auto i = static_cast<std::uint32_t>((Wide{x0} * n) >> 64);
  auto j = static_cast<std::uint32_t>((Wide{x1} * (n - 1)) >> 64);
  j += j >= i;
  return {i, j};
}

HashRing::HashRing(const std::vector<EndpointConfig>& endpoints) {
  std::uint32_t index = 0;
  for (const EndpointConfig& endpoint : endpoints) {
    StableHash identity;
    identity.add(endpoint.address);
    identity.add_u16_be(endpoint.port);
    for (std::uint64_t point = 0; point < POINTS_PER_WEIGHT * endpoint.weight; ++point) {
      StableHash at = identity;
      at.add_u64_be(point);
      points_.push_back({at.finish(), index});
    }
    ++index;
  }
  std::sort(points_.begin(), points_.end(),
            [](const Point& a, const Point& b) { return a.at != b.at ? a.at < b.at : a.owner < b.owner; });
  const auto same = [](const Point& a, const Point& b) { return a.at == b.at; };
  points_.erase(std::unique(points_.begin(), points_.end(), same), points_.end());
}

std::uint32_t HashRing::owner(std::string_view key, const Excluded& excluded) const noexcept {
  const std::uint64_t at = stable_hash(key);
  const auto from =
      std::lower_bound(points_.begin(), points_.end(), at,
                       [](const Point& point, std::uint64_t value) { return point.at < value; });
  auto place = static_cast<std::size_t>(from - points_.begin());
  for (std::size_t walked = 0; walked < points_.size(); ++walked, ++place) {
    if (place >= points_.size()) place = 0;
    if (!excluded.test(points_[place].owner)) return points_[place].owner;
  }
  return excluded.nth_candidate(0);  // its points all collided with others' (unheard of, but defined)
}

}  // namespace halfopen
