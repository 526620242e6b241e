// The two small machines as exploration_test.cpp explores them: thresholds of two, two trials, a window of
// two ticks, and few enough observations and attempts under way that the states can be counted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/breaker.hpp"
#include "core/endpoint_health.hpp"
#include "tests/core/event_log.hpp"

namespace halfopen::testing {

inline constexpr std::uint32_t TRIALS = 2;
inline constexpr std::size_t MOST_OBSERVATIONS = 3, MOST_TICKETS = 2;

// The observations as a plain list, kept beside the machine: its counts must agree, and its ages make the
// key.
class Shadow {
 public:
  explicit Shadow(std::uint64_t window_ms) : window_ms_(window_ms) {}
  void append(std::uint64_t now, bool failure) { seen_.push_back({now, failure}); }
  void drop(std::uint64_t now) {
    std::erase_if(seen_, [&](const auto& one) { return now - one.first >= window_ms_; });
  }
  void clear() { seen_.clear(); }
  std::size_t total() const { return seen_.size(); }
  std::size_t failures() const {
    return static_cast<std::size_t>(std::count_if(seen_.begin(), seen_.end(), is_failure));
  }
  Shadow at(std::uint64_t now) const {
    Shadow left = *this;
    left.drop(now);
    return left;
  }
  std::string key(std::uint64_t now) const {
    std::vector<std::pair<std::uint64_t, bool>> ages;
    for (const auto& one : seen_) ages.emplace_back(std::min(now - one.first, window_ms_), one.second);
    std::sort(ages.begin(), ages.end());
    std::string text;
    for (const auto& one : ages) text += std::to_string(one.first) + (one.second ? "F" : "S");
    return text;
  }

 private:
  static bool is_failure(const std::pair<std::uint64_t, bool>& one) { return one.second; }
  std::uint64_t window_ms_;
  std::vector<std::pair<std::uint64_t, bool>> seen_;
};

struct HealthMachine {
  enum Operation { succeed, fail, probe_ok, probe_bad, ask, pick, trial_ok, trial_bad, abandon, tick };
  static constexpr int OPERATIONS = 10;
  static constexpr std::uint64_t WINDOW_MS = 2, EJECT_MS = 2;

  HealthParams params{WINDOW_MS, 2, 0.5, 3, EJECT_MS, TRIALS};
  EventLog log;
  BasicEndpointHealth<Single> health{&log};
  std::vector<Ticket> held;  // trials that are under way
  Shadow window{WINDOW_MS};
  std::uint64_t now = 100;
  HealthState before = HealthState::healthy;
  std::uint32_t generation_before = 0;
  bool granted = false, returned = false, refused_early = false;

  void observe(bool failure, std::optional<Ticket> ticket = std::nullopt) {
    window.append(now, failure);
    window.drop(now);
    health.report(params, Instant{now}, failure, ticket);
  }
  Ticket take_held() {
    const Ticket ticket = held.front();
    held.erase(held.begin());
    return ticket;
  }
  bool applies(int operation) const {
    const bool reports =
        operation == succeed || operation == fail || operation == trial_ok || operation == trial_bad;
    if (reports && window.at(now).total() >= MOST_OBSERVATIONS) return false;
    if (operation == pick) return held.size() < MOST_TICKETS;
    return !(operation == trial_ok || operation == trial_bad || operation == abandon) || !held.empty();
  }
  void ask_for_a_trial(bool take) {
    const bool standing = health.stored_state() == HealthState::ejected && now < health.snapshot().until.ms;
    const bool candidate = health.is_candidate(params, Instant{now});
    refused_early = standing && !candidate;
    if (!candidate || !take) return;
    Ticket ticket;
    if (health.select(ticket) && ticket.took_slot()) held.push_back(ticket), granted = true;
  }
  void perform(int operation) {
    switch (operation) {
      case succeed: return observe(false);
      case fail: return observe(true);
      case probe_ok: return health.report_probe(params, Instant{now}, false);
      case probe_bad: return health.report_probe(params, Instant{now}, true);
      case ask: return ask_for_a_trial(false);
      case pick: return ask_for_a_trial(true);
      case trial_ok: return observe(false, take_held());
      case trial_bad: return observe(true, take_held());
      case abandon: return health.give_back(take_held());
      default: ++now;
    }
  }
  bool apply(int operation) {
    if (!applies(operation)) return false;
    granted = returned = refused_early = false;
    before = health.stored_state();
    generation_before = health.snapshot().generation;
    log.events.clear();
    const std::uint32_t slots = health.snapshot().slots;
    perform(operation);
    returned = operation == abandon && health.snapshot().slots > slots;
    if (before != health.stored_state() && health.stored_state() != HealthState::half_open) window.clear();
    return true;
  }
  std::size_t trials_of_now() const {
    const std::uint32_t generation = health.snapshot().generation;
    return static_cast<std::size_t>(std::count_if(
        held.begin(), held.end(), [&](Ticket ticket) { return ticket.generation() == generation; }));
  }
  // A streak of the threshold or more is the same to all that follows; so is an ejection that has expired.
  std::string key() const {
    const auto seen = health.snapshot();
    std::string text = std::string(to_string(seen.state)) + std::to_string(seen.slots) + "/" +
                       std::to_string(std::min(seen.streak, params.consecutive_failures)) + "/";
    if (seen.state == HealthState::ejected) text += std::to_string((seen.until - Instant{now}).ms);
    for (const Ticket ticket : held) text += ticket.generation() == seen.generation ? "n" : "o";
    return text + window.key(now);
  }
};

struct BreakerMachine {
  enum Operation { check, answer_ok, answer_bad, abandon, tick };
  static constexpr int OPERATIONS = 5;
  static constexpr std::uint64_t TICK_MS = BREAKER_WINDOW_MS / 2;

  BreakerParams params{2, 0.5, 3, 2 * TICK_MS, TRIALS};
  EventLog log;
  BasicBreaker<Single> breaker{&log};
  std::vector<Ticket> held;  // attempts that were admitted and are under way
  Shadow window{BREAKER_WINDOW_MS};
  std::uint64_t now = 10 * TICK_MS;
  BreakerState before = BreakerState::closed;
  std::uint32_t generation = 0;
  bool granted = false, returned = false, refused = false;

  Ticket take_held() {
    const Ticket ticket = held.front();
    held.erase(held.begin());
    return ticket;
  }
  bool applies(int operation) const {
    if (operation == check) return held.size() < MOST_TICKETS + 1;
    if (operation == tick) return true;
    return !held.empty() && (operation == abandon || window.at(now).total() < MOST_OBSERVATIONS);
  }
  void answer(bool failure) {
    take_held();
    window.drop(now);
    window.append(now, failure);
    breaker.report(params, Instant{now}, failure);
  }
  void ask() {
    const BreakerDecision decision = breaker.check(params, Instant{now});
    refused = !decision.allowed;
    granted = decision.ticket.took_slot();
    if (decision.allowed) held.push_back(decision.ticket);
  }
  bool apply(int operation) {
    if (!applies(operation)) return false;
    granted = returned = refused = false;
    before = breaker.state();
    log.events.clear();
    const std::uint32_t slots = breaker.snapshot(Instant{now}).slots;
    if (operation == check)
      ask();
    else if (operation == answer_ok || operation == answer_bad)
      answer(operation == answer_bad);
    else if (operation == abandon)
      breaker.give_back(take_held());
    else
      now += TICK_MS;
    returned = operation == abandon && breaker.snapshot(Instant{now}).slots > slots;
    if (!log.events.empty()) generation = log.events.back().generation;
    if (before != breaker.state() && breaker.state() == BreakerState::closed) window.clear();
    return true;
  }
  std::size_t trials_of_now() const {
    return static_cast<std::size_t>(std::count_if(held.begin(), held.end(), [&](Ticket ticket) {
      return ticket.took_slot() && ticket.generation() == generation;
    }));
  }
  std::string key() const {
    const auto seen = breaker.snapshot(Instant{now});
    std::string text =
        std::string(to_string(seen.state)) + std::to_string(seen.slots) + "/" + std::to_string(seen.streak);
    if (seen.state == BreakerState::open)
      text += "/" + std::to_string((seen.until - Instant{now}).ms / TICK_MS);
    for (const Ticket ticket : held)
      text += !ticket.took_slot() ? "-" : ticket.generation() == generation ? "n" : "o";
    return text + window.key(now);
  }
};

}  // namespace halfopen::testing
