// The circuit breaker of one upstream: closed -> open -> half-open -> closed (seed 004). It stands above the
// balancer and knows nothing of endpoints.
//
// check() is lock-free; report() takes a short mutex around the window and the streak. Every public member
// may be called from any thread (policy Threads). Time is the caller's.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "core/check.hpp"
#include "core/event.hpp"
#include "core/params.hpp"
#include "core/state_word.hpp"
#include "core/sync.hpp"
#include "core/time.hpp"
#include "core/window.hpp"

namespace halfopen {

enum class BreakerState : std::uint8_t { closed, open, half_open };

const char* to_string(BreakerState state) noexcept;

// The answer of check(). A rejected request gets 503, body "upstream circuit open", and Retry-After.
struct BreakerDecision {
  bool allowed = true;
  Ticket ticket;  // allowed: to be handed to report() or give_back()
  std::uint64_t retry_after_ms =
      0;  // rejected: until half-open, or HALF_OPEN_RETRY_AFTER_MS while trials run

  // Whole seconds, rounded up, at least 1: the Retry-After header.
  constexpr std::uint64_t retry_after_s() const {
    const std::uint64_t seconds = retry_after_ms / 1000 + (retry_after_ms % 1000 != 0);
    return seconds == 0 ? 1 : seconds;
  }
};

template <class Sync>
class BasicBreaker {
 public:
  // `sink` may be null: no events.
  explicit BasicBreaker(EventSink* sink = nullptr, std::shared_ptr<const EventSubject> subject = nullptr)
      : sink_(sink), subject_(std::move(subject)) {}

  BasicBreaker(const BasicBreaker&) = delete;
  BasicBreaker& operator=(const BasicBreaker&) = delete;

  // May an attempt go ahead? An expired open period becomes half-open here, and this attempt is its first
  // trial.
  BreakerDecision check(const BreakerParams& params, Instant now) noexcept {
    StateWord word = load();
    for (;;) {
      if (word.state() == GateState::in) return {true, {word.generation(), false}, 0};
      if (detached()) return {};  // no report could ever close it again: whoever still asks is let through
      if (word.state() == GateState::half_open) {
        if (take_slot(word_, word)) return {true, {word.generation(), true}, 0};
        if (word.state() == GateState::half_open) return {false, {}, HALF_OPEN_RETRY_AFTER_MS};
        continue;
      }
      const Instant until{until_.load(std::memory_order_acquire)};
      const StateWord again = load();
      if (again.bits != word.bits) {
        word = again;
        continue;
      }
      if (now < until) return {false, {}, (until - now).ms};
      Because because;
      because.slots = params.half_open_probes;
      if (move(word, GateState::half_open, now, Rule::none, because))
        return {true, {word.generation(), true}, 0};
      word = load();
    }
  }

  // An admitted attempt that ended without an outcome gives its trial slot back.
  void give_back(Ticket ticket) noexcept { return_slot(word_, ticket); }

  // The outcome of an admitted attempt, by the parameters of its check. Any report settles a half-open
  // breaker.
  void report(const BreakerParams& params, Instant now, bool failure) noexcept {
    const Guard lock(mutex_);
    if (detached()) return;
    window_.drop(now, BREAKER_WINDOW_MS);
    window_.append(now, failure ? BucketWindow::Kind::second : BucketWindow::Kind::first);
    StateWord word = load();
    while (!judge(word, params, now, failure)) word = load();
  }

  BreakerState state() const noexcept { return static_cast<BreakerState>(load().state()); }

  struct Snapshot {
    BreakerState state = BreakerState::closed;
    Instant until;  // meaningful while open
    std::uint32_t slots = 0;
    std::uint32_t streak = 0;
    std::uint64_t openings = 0;
    std::uint64_t window_total = 0, window_failures = 0;  // without what has aged
    std::size_t window_bytes = 0;
  };

  // Everything at one instant, for showing and for tests. Takes the mutex.
  Snapshot snapshot(Instant now) const noexcept {
    const Guard lock(mutex_);
    const StateWord word = load();
    const auto counts = window_.counts_at(now, BREAKER_WINDOW_MS);
    return {static_cast<BreakerState>(word.state()),
            Instant{until_.load(std::memory_order_acquire)},
            word.slots(),
            streak_,
            openings_,
            counts.total(),
            counts.second,
            window_.memory_bytes()};
  }

  // Its upstream lost its breaker: reports of attempts that it admitted reach nobody from now on, and it
  // emits nothing.
  void detach() noexcept {
    const Guard lock(mutex_);
    detached_.store(true, std::memory_order_relaxed);
    window_.clear();
  }

 private:
  using AtomicWord = typename Sync::template Atomic<std::uint64_t>;

  bool detached() const noexcept { return detached_.load(std::memory_order_relaxed); }
  StateWord load() const noexcept { return {word_.load(std::memory_order_acquire)}; }

  // Mutex held. False when a check moved the word meanwhile: judge again.
  bool judge(StateWord word, const BreakerParams& params, Instant now, bool failure) noexcept {
    switch (word.state()) {
      case GateState::out: return true;
      case GateState::half_open:
        if (failure) return open(word, params, now, Rule::half_open_probe_failed);
        return move(word, GateState::in, now, Rule::none, counts_as_judged(params));
      case GateState::in: break;
    }
    streak_ = failure ? streak_ + (streak_ != UINT32_MAX) : 0;
    const Rule rule = failure ? opening_rule(params) : Rule::none;
    // Only reports move a closed word, and they hold the mutex: this cannot fail.
    return rule == Rule::none || open(word, params, now, rule);
  }

  Rule opening_rule(const BreakerParams& params) noexcept {
    if (streak_ >= params.consecutive_failures) return Rule::consecutive_failures;
    const auto counts = window_.counts();
    if (counts.total() < params.error_volume) return Rule::none;
    const double ratio = static_cast<double>(counts.second) / static_cast<double>(counts.total());
    return ratio >= params.error_ratio ? Rule::error_ratio : Rule::none;
  }

  Because counts_as_judged(const BreakerParams& params) noexcept {
    Because because;
    because.volume = window_.counts().total();
    because.failures = window_.counts().second;
    because.streak = streak_;
    because.threshold = params.consecutive_failures;
    because.min_volume = params.error_volume;
    because.limit = params.error_ratio;
    return because;
  }

  bool open(StateWord word, const BreakerParams& params, Instant now, Rule rule) noexcept {
    Because because = counts_as_judged(params);
    because.for_ms = params.open_ms;
    return move(word, GateState::out, now, rule, because);
  }

  // The only writer of the state: checks the edge, writes the word, resets what the new state resets (only
  // closing empties the window and the streak), emits one event. False when another thread moved first.
  bool move(StateWord from, GateState to, Instant now, Rule rule, const Because& because) noexcept {
    HALFOPEN_CHECK(is_legal_edge(from.state(), to));
    if (to == GateState::out) until_.store((now + Duration{because.for_ms}).ms, std::memory_order_release);
    // The check that ends an open period takes the first of the slots it grants.
    const StateWord next = to == GateState::half_open ? from.moved_to(to, because.slots - 1, because.slots)
                                                      : from.moved_to(to, 0, 0);
    if (!word_.compare_exchange_strong(from.bits, next.bits, std::memory_order_acq_rel,
                                       std::memory_order_acquire)) {
      return false;
    }
    if (to == GateState::out) ++openings_;
    if (to == GateState::in) {
      streak_ = 0;
      window_.clear();
    }
    if (sink_ != nullptr && !detached()) {
      sink_->offer(Event{event_type(to), rule, Via::none, next.generation(), now, because, subject_});
    }
    return true;
  }

  static EventType event_type(GateState to) noexcept {
    if (to == GateState::out) return EventType::breaker_opened;
    return to == GateState::in ? EventType::breaker_closed : EventType::breaker_half_open;
  }

  AtomicWord word_{0};
  AtomicWord until_{0};
  typename Sync::template Atomic<bool> detached_{false};  // written under the mutex
  mutable typename Sync::Mutex mutex_;
  // Below: guarded by mutex_.
  std::uint32_t streak_ = 0;
  std::uint64_t openings_ = 0;
  BucketWindow window_;
  EventSink* sink_;
  std::shared_ptr<const EventSubject> subject_;
};

using Breaker = BasicBreaker<Threads>;

}  // namespace halfopen
