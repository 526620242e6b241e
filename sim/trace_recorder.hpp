// Listens to a run for the trace of it: some of the requests with their attempts, and the failures that led
// to each ejection and opening. Its memory is bounded by the cap on requests and by the number of
// transitions, not by the length of the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "sim/observer.hpp"

namespace halfopen::sim {

struct TracedAttempt {
  Nanos from = 0;
  std::optional<Nanos> to;  // none: dropped with its request, or under way when the run ended
  std::uint32_t lane = 0;
  bool fail_open = false, trial = false, body_broke = false;
  Outcome outcome;  // meaningful with `to`
};

struct TracedRequest {
  RequestName name;
  std::uint32_t upstream = 0;
  Nanos from = 0;
  std::optional<Nanos> to;  // none: unfinished
  RequestEnd end = RequestEnd::ok;
  std::vector<TracedAttempt> attempts;
};

// The last failures before a tracker ejected or a breaker opened, oldest first, the one that did it last.
struct TracedCause {
  Nanos t = 0;
  bool breaker = false;
  std::uint32_t who = 0;  // the lane, or the breaker's upstream
  std::vector<Observation> failures;
};

class TraceRecorder final : public RunObserver {
 public:
  static constexpr std::size_t MAX_FAILURES = 20;  // kept for each cause

  // At most `max_requests` are kept. Of more, every second, fourth, … in order of arrival: evenly over the
  // run, because the trouble is seldom at its beginning.
  explicit TraceRecorder(std::uint64_t max_requests) : max_requests_(max_requests) {}

  void arrived(Nanos t, const RequestName& name, std::uint32_t upstream) override;
  void attempted(Nanos t, const RequestName& name, std::uint32_t attempt, std::uint32_t lane, bool fail_open,
                 bool trial) override;
  void observed(const Observation& seen) override;
  void ended(Nanos t, const RequestName& name, RequestEnd end) override;

  const std::map<std::uint64_t, TracedRequest>& requests() const { return kept_; }  // by order of arrival
  std::uint64_t arrivals() const { return arrivals_; }
  std::uint64_t stride() const { return stride_; }                    // 1: every request was kept
  const std::vector<TracedCause>& causes() const { return causes_; }  // in order of time

 private:
  using Key = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>;

  // What was last seen of a machine, and its last failures.
  struct Machine {
    bool out = false;
    std::uint64_t times_out = 0;
    std::uint32_t streak = 0;
    std::deque<Observation> failures;
  };

  TracedRequest* find(const RequestName& name);
  void thin_out();
  static void remember(Machine& machine, const Observation& seen);
  void judged(Machine& machine, const Observation& seen, bool out, std::uint64_t times_out, bool breaker);

  std::uint64_t max_requests_, arrivals_ = 0, stride_ = 1;
  std::map<std::uint64_t, TracedRequest> kept_;
  std::map<Key, std::uint64_t> under_way_;  // of those kept: the order of arrival
  std::map<std::uint32_t, Machine> trackers_, breakers_;
  std::vector<TracedCause> causes_;
};

}  // namespace halfopen::sim
