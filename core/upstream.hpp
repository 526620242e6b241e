// One upstream as a gateway holds it: balancer, breaker, trackers and retry budget together. This is the
// class to embed.
//
//   auto admission = upstream.admit(now, AttemptKind::first);      // the breaker's check
//   if (!admission.allowed()) return answer_503(admission.decision().retry_after_s());
//   auto dispatch = admission.pick(now);                           // in-flight + 1
//   if (!dispatch) return answer_503();                            // empty set
//   ... send to dispatch.endpoint() ...
//   auto body = dispatch.report(now, Outcome::http(status));       // tracker, breaker, in-flight - 1
//   if (broke_off) body.broken(now);
//
// Thread-safe (policy Threads): admit, pick and report from any thread, reload from one at a time beside
// them. The pick path - snapshot, health question, closed check - is lock-free and allocates nothing;
// round-robin's step and the entry in the retry budget hold one short lock each. Configurations must be valid
// (core/validate.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/retry_budget.hpp"
#include "core/upstream_handles.hpp"

namespace halfopen {

enum class AttemptKind : std::uint8_t { first, retry };

template <class Sync>
class BasicUpstream {
 public:
  using Snapshot = UpstreamSnapshot<Sync>;
  using Tracker = BasicEndpointHealth<Sync>;
  using Breaker = BasicBreaker<Sync>;
  using Budget = BasicRetryBudget<Sync>;
  using Admission = BasicAdmission<Sync>;
  using Dispatch = BasicDispatch<Sync>;
  using Body = BasicBody<Sync>;

  // `sink` (may be null) must outlive the upstream and every handle. `budget`: kept by name across removal
  // and return of an upstream; null makes a fresh one.
  BasicUpstream(UpstreamConfig config, Instant now, EventSink* sink = nullptr,
                std::shared_ptr<Budget> budget = nullptr)
      : sink_(sink),
        budget_(budget ? std::move(budget) : std::make_shared<Budget>()),
        cell_(next_generation(nullptr, std::move(config), now)) {}

  ~BasicUpstream() { retire(); }

  // The first half of an attempt. A request's first attempt, if admitted, enters the retry budget.
  Admission admit(Instant now, AttemptKind kind) noexcept {
    auto pin = cell_.pin();
    BreakerDecision decision;
    if (pin->breaker) decision = pin->breaker->check(*pin->config->breaker, now);
    if (decision.allowed && kind == AttemptKind::first) budget_->request(now);
    return Admission(std::move(pin), decision);
  }

  // After a report: shall the request be tried again? `settings` are those at its arrival
  // (config()->retries).
  template <class Draw>
  RetryDecision decide_retry(const RetryParams& settings, std::uint32_t retries_made, Outcome outcome,
                             std::uint64_t elapsed_ns, Instant now, Draw&& draw) noexcept {
    return halfopen::decide_retry(settings, *budget_, retries_made, outcome, elapsed_ns, now,
                                  std::forward<Draw>(draw));
  }

  // Swaps the configuration whole. Trackers, in-flight counts and slow-start entries stay with their
  // address:port, the breaker with the upstream; see "Reload" in the specification of the machines. Emits
  // nothing.
  void reload(UpstreamConfig config, Instant now) {
    auto before = cell_.pin();
    Snapshot* const next = next_generation(&*before, std::move(config), now);
    const auto breaker_stays = next->breaker;
    std::map<const Tracker*, bool> stays;
    for (const auto& member : next->members) stays[member.tracker.get()] = true;
    cell_.replace(next);
    if (before->breaker && before->breaker != breaker_stays) before->breaker->detach();
    for (const auto& member : before->members) {
      if (member.tracker && !stays.contains(member.tracker.get())) member.tracker->detach();
    }
  }

  // It left the configuration: whoever still holds it may go on, but reports reach nobody and emit nothing.
  void retire() noexcept {
    const auto last = cell_.pin();
    if (last->breaker) last->breaker->detach();
    for (const auto& member : last->members) {
      if (member.tracker) member.tracker->detach();
    }
  }

  // The settings in force. A request keeps the ones of its arrival for its retries and timeouts.
  std::shared_ptr<const UpstreamConfig> config() const { return cell_.pin()->config; }
  std::shared_ptr<Budget> budget() const { return budget_; }

  // For showing: never on the pick path.
  struct EndpointView {
    std::string name;
    std::uint32_t in_flight = 0;
    std::shared_ptr<Tracker> tracker;  // null: no health block
  };
  // One generation: the i-th endpoint is the i-th of its configuration.
  struct View {
    std::shared_ptr<const UpstreamConfig> config;
    std::vector<EndpointView> endpoints;
  };
  View view() const {
    const auto pin = cell_.pin();
    View view{pin->config, {}};
    for (const auto& member : pin->members) {
      view.endpoints.push_back({member.state->subject->endpoint,
                                member.state->in_flight.load(std::memory_order_acquire), member.tracker});
    }
    return view;
  }
  std::vector<EndpointView> endpoints() const { return view().endpoints; }
  std::shared_ptr<Breaker> breaker() const { return cell_.pin()->breaker; }
  std::uint64_t fail_open_picks() const { return counters_->fail_open_picks.load(std::memory_order_relaxed); }
  std::uint64_t late_reports_ignored() const {
    return counters_->late_reports_ignored.load(std::memory_order_relaxed);
  }

 private:
  using Address = std::pair<std::string, std::uint16_t>;

  Snapshot* next_generation(const Snapshot* before, UpstreamConfig config, Instant now) {
    auto next = std::make_unique<Snapshot>();
    next->config = std::make_shared<const UpstreamConfig>(std::move(config));
    next->counters = counters_;
    next->pool = pool_;
    add_breaker(before, *next);
    add_members(before, *next, now);
    add_weights(*next);
    add_round_robin(before, *next);
    if (next->config->load_balancer == Algorithm::ip_hash) next->ring = HashRing(next->config->endpoints);
    return next.release();
  }

  void add_breaker(const Snapshot* before, Snapshot& next) {
    if (!next.config->breaker) return;
    if (before != nullptr) next.breaker = before->breaker;
    if (next.breaker) return;
    next.breaker =
        std::make_shared<Breaker>(sink_, std::make_shared<EventSubject>(EventSubject{next.config->name, ""}));
  }

  void add_members(const Snapshot* before, Snapshot& next, Instant now) {
    std::map<Address, const typename Snapshot::Member*> known;
    if (before != nullptr) {
      for (std::size_t i = 0; i < before->members.size(); ++i) {
        const EndpointConfig& endpoint = before->config->endpoints[i];
        known[{endpoint.address, endpoint.port}] = &before->members[i];
      }
    }
    for (const EndpointConfig& endpoint : next.config->endpoints) {
      typename Snapshot::Member member;
      if (const auto old = known.find({endpoint.address, endpoint.port}); old != known.end()) {
        member = *old->second;
      } else {
        member.state = std::make_shared<EndpointState<Sync>>();
        member.state->subject =
            std::make_shared<EventSubject>(EventSubject{next.config->name, endpoint.name()});
        if (before != nullptr) member.state->added_at = now;
      }
      if (!next.config->health)
        member.tracker = nullptr;
      else if (!member.tracker)
        member.tracker = std::make_shared<Tracker>(sink_, member.state->subject, pool_);
      next.members.push_back(std::move(member));
    }
  }

  // Under slow start all weights count in thousandths.
  static void add_weights(Snapshot& next) {
    const std::int64_t scale = next.config->slow_start_ms > 0 ? 1000 : 1;
    for (const EndpointConfig& endpoint : next.config->endpoints) {
      next.weights.push_back(scale * endpoint.weight);
      next.equal_weights = next.equal_weights && next.weights.back() == next.weights.front();
    }
    if (next.config->slow_start_ms == 0) return;
    for (std::uint32_t i = 0; i < next.size(); ++i) {
      if (next.members[i].state->added_at) next.ramping.push_back(i);
    }
  }

  // Running weights are kept while the set of (address, port, weight) and the algorithm are the same.
  void add_round_robin(const Snapshot* before, Snapshot& next) {
    next.round_robin = std::make_shared<RoundRobinState<Sync>>(next.size());
    if (before == nullptr || before->config->load_balancer != next.config->load_balancer) return;
    // One state for both generations only while they have the same trackers: it remembers who was not
    // healthy.
    const bool same_trackers = before->config->health.has_value() == next.config->health.has_value();
    if (same_trackers && before->config->endpoints == next.config->endpoints) {
      next.round_robin = before->round_robin;
      return;
    }
    std::map<std::pair<Address, std::uint32_t>, std::size_t> places;
    for (std::size_t i = 0; i < before->config->endpoints.size(); ++i) {
      const EndpointConfig& endpoint = before->config->endpoints[i];
      places[{{endpoint.address, endpoint.port}, endpoint.weight}] = i;
    }
    if (places.size() != next.config->endpoints.size()) return;
    std::vector<std::size_t> from;
    for (const EndpointConfig& endpoint : next.config->endpoints) {
      const auto place = places.find({{endpoint.address, endpoint.port}, endpoint.weight});
      if (place == places.end()) return;
      from.push_back(place->second);
    }
    const Guard lock(before->round_robin->mutex);
    const std::vector<std::int64_t> running = before->round_robin->running.running_weights();
    std::vector<std::int64_t> reordered;
    reordered.reserve(from.size());
    for (const std::size_t i : from) reordered.push_back(running[i]);
    next.round_robin->running.set_running_weights(std::move(reordered));
  }

  EventSink* sink_;
  std::shared_ptr<UpstreamCounters<Sync>> counters_ = std::make_shared<UpstreamCounters<Sync>>();
  std::shared_ptr<PoolHealth<Sync>> pool_ = std::make_shared<PoolHealth<Sync>>();
  std::shared_ptr<Budget> budget_;
  mutable SnapshotCell<Sync, Snapshot> cell_;
};

using Upstream = BasicUpstream<Threads>;
using Dispatch = BasicDispatch<Threads>;

}  // namespace halfopen
