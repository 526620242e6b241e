// The life of one attempt, as three move-only handles: Admission (the breaker let it in) -> Dispatch (an
// endpoint was picked) -> Body (headers are in). Each is used once or destroyed; destroying one is the
// abandoned attempt, which observes nothing and gives back what it holds: trial slots and the in-flight
// count. Nothing can wedge.
//
// A handle keeps its generation of the upstream alive, so it may outlive reloads and the upstream itself. A
// handle is one thread's at a time; different handles need no coordination.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/check.hpp"
#include "core/outcome.hpp"
#include "core/upstream_snapshot.hpp"

namespace halfopen {

template <class Sync>
using SnapshotPin = typename SnapshotCell<Sync, UpstreamSnapshot<Sync>>::Pin;

// What is left of an attempt once its headers were reported: its body may still break off. Destroying it says
// nothing, which is right for a whole body and for a caller that left.
template <class Sync>
class BasicBody {
 public:
  BasicBody() = default;

  // The body broke off: one more failure for the tracker, none for the breaker. At most once.
  void broken(Instant now) noexcept {
    HALFOPEN_CHECK(static_cast<bool>(pin_));
    const auto& member = pin_->members[index_];
    if (member.tracker && !member.tracker->report_broken_body(*pin_->config->health, now, ticket_,
                                                              pin_->config->late_reports)) {
      pin_->counters->late_reports_ignored.fetch_add(1, std::memory_order_relaxed);
    }
    pin_.reset();
  }

 private:
  template <class>
  friend class BasicDispatch;

  SnapshotPin<Sync> pin_;
  std::uint32_t index_ = 0;
  BodyTicket ticket_;
};

template <class Sync>
class BasicDispatch {
 public:
  BasicDispatch() = default;
  BasicDispatch(BasicDispatch&&) noexcept = default;
  BasicDispatch& operator=(BasicDispatch&& other) noexcept {
    if (this != &other) {
      abandon();
      pin_ = std::move(other.pin_);
      choice_ = other.choice_;
      breaker_ticket_ = other.breaker_ticket_;
    }
    return *this;
  }
  ~BasicDispatch() { abandon(); }

  // False for a pick from an empty set, and after the report.
  explicit operator bool() const noexcept { return static_cast<bool>(pin_); }

  // The endpoint's place in the set it was picked from, and its "address:port".
  std::uint32_t index() const noexcept { return choice_.index(); }
  const std::string& endpoint() const noexcept {
    return pin_->members[choice_.index()].state->subject->endpoint;
  }
  const UpstreamConfig& config() const noexcept { return *pin_->config; }
  bool fail_open() const noexcept { return choice_.fail_open(); }
  bool is_trial() const noexcept { return choice_.ticket().took_slot(); }

  // The outcome at response headers, or at the attempt's timeout: to the tracker, then to the breaker, each
  // by the parameters in force at the pick; in-flight goes down. The body's handle takes over.
  BasicBody<Sync> report(Instant now, Outcome outcome) noexcept {
    HALFOPEN_CHECK(static_cast<bool>(pin_));
    UpstreamSnapshot<Sync>& snapshot = *pin_;
    const UpstreamConfig& config = *snapshot.config;
    auto& member = snapshot.members[choice_.index()];
    const bool failure = outcome.is_failure();
    BasicBody<Sync> body;
    if (member.tracker && !member.tracker->report_headers(*config.health, now, failure, choice_.ticket(),
                                                          config.late_reports, body.ticket_)) {
      snapshot.counters->late_reports_ignored.fetch_add(1, std::memory_order_relaxed);
    }
    if (snapshot.breaker) snapshot.breaker->report(*config.breaker, now, failure);
    member.state->in_flight.fetch_sub(1, std::memory_order_acq_rel);
    body.index_ = choice_.index();
    body.pin_ = std::move(pin_);
    return body;
  }

  // What destruction does, for owners who want to say so.
  void abandon() noexcept {
    if (!pin_) return;
    auto& member = pin_->members[choice_.index()];
    if (member.tracker) member.tracker->give_back(choice_.ticket());
    if (pin_->breaker) pin_->breaker->give_back(breaker_ticket_);
    member.state->in_flight.fetch_sub(1, std::memory_order_acq_rel);
    pin_.reset();
  }

 private:
  template <class>
  friend class BasicAdmission;

  SnapshotPin<Sync> pin_;
  typename UpstreamSnapshot<Sync>::Choice choice_;
  Ticket breaker_ticket_;
};

template <class Sync>
class BasicAdmission {
 public:
  BasicAdmission(BasicAdmission&&) noexcept = default;
  BasicAdmission& operator=(BasicAdmission&&) = delete;
  ~BasicAdmission() {
    if (pin_ && pin_->breaker) pin_->breaker->give_back(decision_.ticket);
  }

  bool allowed() const noexcept { return decision_.allowed; }
  // Refused: answer 503 with this Retry-After, make no pick and no attempt.
  const BreakerDecision& decision() const noexcept { return decision_; }
  // Only `random` looks at the words of a PickInput.
  bool wants_words() const noexcept { return pin_->config->load_balancer == Algorithm::random; }
  bool wants_key() const noexcept { return pin_->config->load_balancer == Algorithm::ip_hash; }

  // Picks an endpoint for the admitted attempt. Falsy when the set is empty: answer 503; the trial slot
  // returns.
  BasicDispatch<Sync> pick(Instant now, const PickInput& input = {}) noexcept {
    HALFOPEN_CHECK(pin_ && decision_.allowed);
    BasicDispatch<Sync> dispatch;
    const auto choice = pin_->pick(now, input);
    if (choice.nobody()) return dispatch;
    pin_->members[choice.index()].state->in_flight.fetch_add(1, std::memory_order_acq_rel);
    dispatch.choice_ = choice;
    dispatch.breaker_ticket_ = decision_.ticket;
    dispatch.pin_ = std::move(pin_);
    return dispatch;
  }

 private:
  template <class>
  friend class BasicUpstream;
  BasicAdmission(SnapshotPin<Sync> pin, BreakerDecision decision) noexcept
      : pin_(std::move(pin)), decision_(decision) {}

  SnapshotPin<Sync> pin_;
  BreakerDecision decision_;
};

}  // namespace halfopen
