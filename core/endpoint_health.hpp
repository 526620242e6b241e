// Passive health of one endpoint: healthy -> ejected -> half-open -> healthy (seed 000).
//
// Picks ask is_candidate() and, for the endpoint they selected, select(); both are lock-free and allocate
// nothing. Reports take a short mutex around the observation window and the streak. Every public member may
// be called from any thread (policy Threads). Time is the caller's; nothing here reads a clock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "core/check.hpp"
#include "core/event.hpp"
#include "core/health_types.hpp"
#include "core/params.hpp"
#include "core/state_word.hpp"
#include "core/sync.hpp"
#include "core/time.hpp"
#include "core/window.hpp"

namespace halfopen {

template <class Sync>
class alignas(64) BasicEndpointHealth {
 public:
  using Pool = PoolHealth<Sync>;
  using ProbeDecision = halfopen::ProbeDecision;
  using BodyTicket = halfopen::BodyTicket;

  // `sink` may be null: no events. `pool` may be null: a tracker that belongs to no balancer.
  explicit BasicEndpointHealth(EventSink* sink = nullptr,
                               std::shared_ptr<const EventSubject> subject = nullptr,
                               std::shared_ptr<Pool> pool = nullptr)
      : sink_(sink), subject_(std::move(subject)), pool_(std::move(pool)) {}

  BasicEndpointHealth(const BasicEndpointHealth&) = delete;
  BasicEndpointHealth& operator=(const BasicEndpointHealth&) = delete;

  // May a pick choose this endpoint? An expired ejection becomes half-open here. Takes no slot. Lock-free.
  bool is_candidate(const HealthParams& params, Instant now) noexcept {
    StateWord word = load();
    for (;;) {
      switch (word.state()) {
        case GateState::in: return true;
        case GateState::half_open: return word.slots() > 0;
        case GateState::out: break;
      }
      const Instant until{until_.load(std::memory_order_acquire)};
      const StateWord again = load();
      if (again.bits != word.bits) {
        word = again;
        continue;
      }
      if (now < until) return false;
      Because because;
      because.slots = params.half_open_probes;
      if (move(word, GateState::half_open, now, Rule::none, Via::none, because)) return true;
      word = load();
    }
  }

  // Takes one trial slot if half-open and one is left. Lock-free.
  bool consume_probe() noexcept {
    StateWord met;
    return take_slot(word_, met);
  }

  // For the endpoint that a pick selected: the ticket its report will carry. False when it has no slot left
  // or was ejected meanwhile, in which case the pick runs again without it. Lock-free.
  bool select(Ticket& ticket) noexcept {
    StateWord met = load();
    const bool took = met.state() != GateState::in && take_slot(word_, met);
    if (!took && met.state() != GateState::in) return false;
    ticket = Ticket(met.generation(), took);
    return true;
  }

  // The ticket of a fail-open pick, which takes no slot and is no trial.
  Ticket ticket_without_slot() const noexcept { return {load().generation(), false}; }

  // is_candidate and the slot in one step, for callers with one endpoint and no balancer. Lock-free.
  bool acquire(const HealthParams& params, Instant now) noexcept {
    Ticket ticket;
    while (is_candidate(params, now)) {
      if (select(ticket)) return true;
    }
    return false;
  }

  // The slot of an abandoned trial returns, if this half-open is still the one it was taken from.
  void give_back(Ticket ticket) noexcept { return_slot(word_, ticket); }

  // One outcome of real traffic. Late: the ticket's generation is no longer the tracker's. Returns false when
  // it changed nothing, because it was late and late reports are ignored.
  bool report(const HealthParams& params, Instant now, bool failure,
              std::optional<Ticket> ticket = std::nullopt, LateReports policy = LateReports::count) noexcept {
    const Guard lock(mutex_);
    if (detached()) return true;
    const bool late = ticket && ticket->generation() != load().generation();
    return observe(params, now, failure, late, policy);
  }

  // report() for a dispatch whose body is still to come.
  bool report_headers(const HealthParams& params, Instant now, bool failure, Ticket ticket,
                      LateReports policy, BodyTicket& body) noexcept {
    const Guard lock(mutex_);
    body.late = ticket.generation() != load().generation();
    const bool counted = detached() || observe(params, now, failure, body.late, policy);
    body.generation = load().generation();
    return counted;
  }

  // A body that broke off: one more failure by the same parameters. Late only if the generation moved before
  // its headers were reported, or since for another reason than that report.
  bool report_broken_body(const HealthParams& params, Instant now, BodyTicket body,
                          LateReports policy) noexcept {
    const Guard lock(mutex_);
    if (detached()) return true;
    return observe(params, now, true, body.late || body.generation != load().generation(), policy);
  }

  // One synthetic probe: the same transitions, but nothing enters the window and nothing is pruned.
  void report_probe(const HealthParams& params, Instant now, bool failure) noexcept {
    const Guard lock(mutex_);
    if (!detached()) apply(params, now, failure, Via::active_probe, {});
  }

  // A probe loop's verdict in one atomic step: `decide(ejections, state)` answers a ProbeDecision.
  template <class Decide>
  void probe_verdict(const HealthParams& params, Instant now, Decide&& decide) noexcept {
    const Guard lock(mutex_);
    if (detached()) return;
    const ProbeDecision decision = decide(ejections_, stored(load()));
    if (decision.report == ProbeDecision::Report::nothing) return;
    apply(params, now, decision.report == ProbeDecision::Report::failure, Via::active_probe, decision);
  }

  // Would a pick find it eligible? Changes nothing.
  bool is_available(Instant now) const noexcept {
    const auto [word, until] = load_with_until();
    if (word.state() == GateState::out) return now >= until;
    return word.state() == GateState::in || word.slots() > 0;
  }

  // As an operator reads it: an ejection that has expired but met no pick yet reads half_open.
  HealthState label(Instant now) const noexcept {
    const auto [word, until] = load_with_until();
    if (word.state() == GateState::out && now >= until) return HealthState::half_open;
    return stored(word);
  }

  HealthState stored_state() const noexcept { return stored(load()); }

  using Snapshot = HealthSnapshot;

  // Everything at one instant, for showing and for tests. Takes the mutex.
  Snapshot snapshot() const noexcept {
    const Guard lock(mutex_);
    const StateWord word = load();
    const auto counts = window_.counts();
    return {stored(word),
            Instant{until_.load(std::memory_order_acquire)},
            word.slots(),
            streak_,
            ejections_,
            word.generation(),
            counts.total(),
            counts.second,
            window_.memory_bytes()};
  }

  // Its endpoint left the configuration: from now on reports change nothing, count nowhere and emit nothing.
  void detach() noexcept {
    const Guard lock(mutex_);
    if (detached()) return;
    detached_.store(true, std::memory_order_relaxed);
    if (pool_ && load().state() != GateState::in) pool_->one_back();
    window_.clear();
  }

 private:
  using AtomicWord = typename Sync::template Atomic<std::uint64_t>;

  bool detached() const noexcept { return detached_.load(std::memory_order_relaxed); }
  StateWord load() const noexcept { return {word_.load(std::memory_order_acquire)}; }

  static HealthState stored(StateWord word) noexcept { return static_cast<HealthState>(word.state()); }

  std::pair<StateWord, Instant> load_with_until() const noexcept {
    StateWord word = load();
    for (;;) {
      const Instant until{until_.load(std::memory_order_acquire)};
      const StateWord again = load();
      if (again.bits == word.bits) return {word, until};
      word = again;
    }
  }

  // Traffic: into the window, prune, then judge. Mutex held.
  bool observe(const HealthParams& params, Instant now, bool failure, bool late,
               LateReports policy) noexcept {
    if (late && policy == LateReports::ignore) return false;
    window_.append(now, failure ? BucketWindow::Kind::second : BucketWindow::Kind::first);
    window_.drop(now, params.window_ms);
    apply(params, now, failure, late ? Via::late_report : Via::half_open_probe, {});
    return true;
  }

  // Judges one outcome on the stored state. Mutex held; only picks may move the word meanwhile. `via` is what
  // a recovery from half-open is called; one from ejected by traffic that is not late is the fail-open
  // path's.
  void apply(const HealthParams& params, Instant now, bool failure, Via via,
             const ProbeDecision& probe) noexcept {
    const std::uint32_t streak_before = streak_;
    streak_ = failure ? streak_ + (streak_ != UINT32_MAX) : 0;
    StateWord word = load();
    if (!failure && word.state() == GateState::in) return;
    for (;;) {
      bool settled = true;
      if (word.state() == GateState::in) {
        const Rule rule = ejection_rule(params, streak_, window_.counts());
        if (rule != Rule::none) settled = eject(word, params, now, rule);
      } else if (!failure) {
        const Via actual =
            word.state() == GateState::out && via == Via::half_open_probe ? Via::fail_open : via;
        settled = recover(word, now, actual, streak_before, probe, params);
      } else if (word.state() == GateState::half_open) {
        settled = eject(word, params, now, Rule::half_open_probe_failed);
      }
      if (settled) return;
      word = load();
    }
  }

  bool eject(StateWord word, const HealthParams& params, Instant now, Rule rule) noexcept {
    Because because = counts_as_judged(params, streak_, window_.counts());
    because.for_ms = params.eject_ms;
    return move(word, GateState::out, now, rule, Via::none, because);
  }

  bool recover(StateWord word, Instant now, Via via, std::uint32_t streak_before, const ProbeDecision& probe,
               const HealthParams& params) noexcept {
    Because because = counts_as_judged(params, streak_, window_.counts());
    because.streak = streak_before;
    because.successes = probe.successes;
    because.threshold = probe.threshold;
    return move(word, GateState::in, now, Rule::none, via, because);
  }

  // The only writer of the state. Checks the edge, writes the word, resets what the new state resets, emits
  // one event. False when a pick moved the word first; then nothing has changed but a not yet announced
  // `until`.
  bool move(StateWord from, GateState to, Instant now, Rule rule, Via via, const Because& because) noexcept {
    HALFOPEN_CHECK(is_legal_edge(from.state(), to));
    if (to == GateState::out) until_.store((now + Duration{because.for_ms}).ms, std::memory_order_release);
    const std::uint32_t slots = to == GateState::half_open ? because.slots : 0;
    const StateWord next = from.moved_to(to, slots, slots);
    if (!word_.compare_exchange_strong(from.bits, next.bits, std::memory_order_acq_rel,
                                       std::memory_order_acquire)) {
      return false;
    }
    if (to != GateState::half_open) {
      streak_ = 0;
      window_.clear();
      if (to == GateState::out) ++ejections_;
      if (pool_ && from.state() == GateState::in) pool_->one_out();
      if (pool_ && to == GateState::in) pool_->one_back();
    }
    if (sink_ != nullptr && !detached()) {
      sink_->offer(Event{health_event(to), rule, via, next.generation(), now, because, subject_});
    }
    return true;
  }

  AtomicWord word_{0};
  AtomicWord until_{0};
  typename Sync::template Atomic<bool> detached_{false};  // written under the mutex
  // Reports write from here on, picks only read what is above: a cache line of their own for each.
  alignas(64) mutable typename Sync::Mutex mutex_;
  // Below: guarded by mutex_.
  std::uint32_t streak_ = 0;
  std::uint64_t ejections_ = 0;
  BucketWindow window_;
  EventSink* sink_;
  std::shared_ptr<const EventSubject> subject_;
  std::shared_ptr<Pool> pool_;
};

using EndpointHealth = BasicEndpointHealth<Threads>;

}  // namespace halfopen
