// One generation of an upstream: the immutable endpoint set and settings that a pick reads, and the pick
// itself. An internal of core/upstream.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/balancer.hpp"
#include "core/breaker.hpp"
#include "core/endpoint_health.hpp"
#include "core/params.hpp"
#include "core/snapshot_cell.hpp"
#include "core/sync.hpp"
#include "core/time.hpp"

namespace halfopen {

// What a pick may need beyond the time: the key of ip_hash (none: round-robin), and two random words for
// `random` (x0 chooses the first candidate, x1 the second; ignored by the other algorithms).
struct PickInput {
  std::optional<std::string_view> key;
  std::uint64_t x0 = 0, x1 = 0;
};

// What an address:port keeps across reloads, whatever becomes of its tracker.
template <class Sync>
struct alignas(64) EndpointState {
  typename Sync::template Atomic<std::uint32_t> in_flight{0};
  std::optional<Instant> added_at;  // by a reload to an upstream already built: where slow start begins
  std::shared_ptr<const EventSubject> subject;
};

template <class Sync>
struct UpstreamCounters {
  typename Sync::template Atomic<std::uint64_t> fail_open_picks{0};
  typename Sync::template Atomic<std::uint64_t> late_reports_ignored{0};
};

// The state of round-robin, shared by the generations between which it is kept, under one short lock.
template <class Sync>
struct alignas(64) RoundRobinState {
  explicit RoundRobinState(std::uint32_t n) : running(n), scratch(n) { not_healthy.reserve(n); }

  typename Sync::Mutex mutex;
  SmoothRoundRobin running;
  std::vector<std::int64_t> scratch;  // weights in thousandths while somebody ramps up
  // Who was not healthy when the pool's word was `seen`; all others need no asking while it stays so. Valid
  // for every generation that shares this state: they have the same order, and a tracker that is replaced
  // while it is not healthy moves the word.
  std::vector<std::uint32_t> not_healthy;
  std::uint64_t seen = ~std::uint64_t{0};
};

template <class Sync>
struct UpstreamSnapshot : SnapshotBase<Sync> {
  using Tracker = BasicEndpointHealth<Sync>;

  struct Member {
    std::shared_ptr<EndpointState<Sync>> state;
    std::shared_ptr<Tracker> tracker;  // null: no health block
  };

  // A chosen endpoint, and what its report must carry: two words, for the reason given at Ticket.
  class Choice {
   public:
    Choice() = default;  // nobody: the set is empty
    Choice(std::uint32_t index, Ticket ticket, bool fail_open)
        : ticket_(ticket), place_(index | (fail_open ? FAIL_OPEN : 0)) {}

    bool nobody() const { return place_ == NOBODY; }
    std::uint32_t index() const { return place_ & ~FAIL_OPEN; }
    bool fail_open() const { return (place_ & FAIL_OPEN) != 0; }
    Ticket ticket() const { return ticket_; }

   private:
    static constexpr std::uint32_t NOBODY = UINT32_MAX, FAIL_OPEN = std::uint32_t{1} << 31;
    Ticket ticket_;
    std::uint32_t place_ = NOBODY;
  };

  std::shared_ptr<const UpstreamConfig> config;
  std::vector<Member> members;  // in set order
  std::shared_ptr<PoolHealth<Sync>> pool;
  std::shared_ptr<BasicBreaker<Sync>> breaker;  // null: no breaker block
  std::shared_ptr<UpstreamCounters<Sync>> counters;
  std::shared_ptr<RoundRobinState<Sync>> round_robin;
  HashRing ring;  // ip_hash only
  bool equal_weights = true;
  std::vector<std::int64_t> weights;   // as configured, in thousandths under slow start
  std::vector<std::uint32_t> ramping;  // members that a reload added, under slow start

  std::uint32_t size() const { return static_cast<std::uint32_t>(members.size()); }

  // Candidates first, then the algorithm. Allocates nothing.
  Choice pick(Instant now, const PickInput& input) noexcept {
    if (config->load_balancer != Algorithm::round_robin && size() > 0) return pick_by_other(now, input);
    return size() > 0 ? pick_by_turn(now) : Choice{};
  }

 private:
  Choice pick_by_other(Instant now, const PickInput& input) noexcept {
    if (config->load_balancer == Algorithm::ip_hash && !input.key) return pick_by_turn(now);
    Excluded excluded(size());
    ask_everybody(now, excluded);
    switch (config->load_balancer) {
      case Algorithm::round_robin: break;
      case Algorithm::least_requests:
        return settle(excluded, [this](const Excluded& out) { return least_loaded(out); });
      case Algorithm::random:
        return settle(excluded, [&](const Excluded& out) { return less_loaded_of_two(out, input); });
      case Algorithm::ip_hash: break;
    }
    return settle(excluded, [&](const Excluded& out) { return ring.owner(*input.key, out); });
  }

  Choice pick_by_turn(Instant now) noexcept {
    RoundRobinState<Sync>& state = *round_robin;
    const Guard lock(state.mutex);
    const Weights weighted = weights_at(now, state);
    const bool all_healthy =
        !config->health || PoolHealth<Sync>::all_healthy(pool->word.load(std::memory_order_acquire));
    // The usual case, without a set to keep: everybody is a candidate and the queue of all of them stands.
    if (all_healthy && size() > 1 && state.running.queue_of_all(weighted)) {
      const std::uint32_t i = state.running.pick_from_queue();
      if (!members[i].tracker) return Choice{i, {}, false};
      Ticket ticket;
      if (members[i].tracker->select(ticket)) return Choice{i, ticket, false};
      Excluded excluded(size());  // ejected since: again, without it
      excluded.add(i);
      return settle(excluded, [&](const Excluded& out) { return state.running.pick(weighted, out); });
    }
    Excluded excluded(size());
    if (!all_healthy) ask_the_unhealthy(now, state, excluded);
    return settle(excluded, [&](const Excluded& out) { return state.running.pick(weighted, out); });
  }

  // Every endpoint is asked, in set order; an expired ejection becomes half-open by being asked.
  void ask_everybody(Instant now, Excluded& excluded) noexcept {
    if (!config->health || PoolHealth<Sync>::all_healthy(pool->word.load(std::memory_order_acquire))) return;
    for (std::uint32_t i = 0; i < size(); ++i) {
      if (!members[i].tracker->is_candidate(*config->health, now)) excluded.add(i);
    }
  }

  // The same answers without touching the healthy: a tracker that leaves `healthy` moves the pool's word.
  // Lock held.
  void ask_the_unhealthy(Instant now, RoundRobinState<Sync>& state, Excluded& excluded) noexcept {
    const std::uint64_t seen = pool->word.load(std::memory_order_acquire);
    if (state.seen != seen) {
      state.not_healthy.clear();
      for (std::uint32_t i = 0; i < size(); ++i) {
        if (members[i].tracker->stored_state() != HealthState::healthy) state.not_healthy.push_back(i);
      }
      state.seen = seen;
    }
    for (const std::uint32_t i : state.not_healthy) {
      if (!members[i].tracker->is_candidate(*config->health, now)) excluded.add(i);
    }
  }

  // Runs `algorithm` until it selects an endpoint that has a slot, or fails open. A single candidate is taken
  // without running it.
  template <class Run>
  Choice settle(Excluded& excluded, Run&& algorithm) noexcept {
    while (excluded.candidates() > 0) {
      const std::uint32_t i = excluded.candidates() == 1 ? excluded.nth_candidate(0) : algorithm(excluded);
      if (!members[i].tracker) return Choice{i, {}, false};
      Ticket ticket;
      if (members[i].tracker->select(ticket)) return Choice{i, ticket, false};
      excluded.add(i);
    }
    counters->fail_open_picks.fetch_add(1, std::memory_order_relaxed);
    const Excluded nobody(size());
    const std::uint32_t i = size() == 1 ? 0 : algorithm(nobody);
    return Choice{i, members[i].tracker->ticket_without_slot(), true};
  }

  std::uint32_t load(std::uint32_t i) const noexcept {
    return members[i].state->in_flight.load(std::memory_order_relaxed);
  }

  std::uint32_t least_loaded(const Excluded& excluded) const noexcept {
    std::uint32_t best = MAX_MEMBERS;
    for (std::uint32_t i = 0; i < size(); ++i) {
      if (!excluded.test(i) && (best == MAX_MEMBERS || load(i) < load(best))) best = i;
    }
    return best;
  }

  std::uint32_t less_loaded_of_two(const Excluded& excluded, const PickInput& input) const noexcept {
    const auto [first, second] = two_choices(input.x0, input.x1, excluded.candidates());
    const std::uint32_t i = excluded.nth_candidate(first), j = excluded.nth_candidate(second);
    const std::uint32_t load_i = load(i), load_j = load(j);
    if (load_i != load_j) return load_i < load_j ? i : j;
    return i < j ? i : j;
  }

  // Slow start: in thousandths, max(1, 1000 * weight * elapsed / slow_start_ms) for those who ramp. Lock
  // held.
  Weights weights_at(Instant now, RoundRobinState<Sync>& state) const noexcept {
    bool somebody_ramps = false;
    for (const std::uint32_t i : ramping) {
      somebody_ramps |= (now - *members[i].state->added_at).ms < config->slow_start_ms;
    }
    if (!somebody_ramps) return {equal_weights ? nullptr : weights.data(), weights[0]};
    state.scratch = weights;
    for (const std::uint32_t i : ramping)
      state.scratch[i] = ramped(weights[i], now - *members[i].state->added_at);
    return {state.scratch.data(), 0};
  }

  std::int64_t ramped(std::int64_t full, Duration elapsed) const noexcept {
    if (elapsed.ms >= config->slow_start_ms) return full;
    __extension__ typedef unsigned __int128 Wide;
    const auto weight =
        static_cast<std::int64_t>(static_cast<Wide>(full) * elapsed.ms / config->slow_start_ms);
    return weight < 1 ? 1 : weight;
  }
};

}  // namespace halfopen
