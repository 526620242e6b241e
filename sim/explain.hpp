// Why an endpoint was out or a breaker open, collected: its outages from the timeline of a run, and what was
// reported to it around one of them from a second run of the same scenario, which a Listener hears. The first
// run says which outage is meant, so that the second needs to keep no other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "sim/observer.hpp"
#include "sim/timeline.hpp"

namespace halfopen::sim {

// An endpoint of an upstream, or an upstream's breaker.
struct Subject {
  bool breaker = false;
  std::uint32_t upstream = 0, lane = 0;  // as the timeline numbers them; a breaker has no lane
};

// From an ejection (opening) until it was back in, over failed trials.
struct Outage {
  enum class End : std::uint8_t { back, reload, run };
  Nanos from = 0, to = 0;
  End end = End::run;
  std::vector<std::size_t> events;  // places in Timeline::events; the first began it
};

std::vector<Outage> outages_of(const Timeline& timeline, const Subject& subject);

// Its states over the run; empty if it was never configured.
const std::vector<Interval>& states_of(const Timeline& timeline, const Subject& subject);

// The settings in force at `t`, or null where the upstream was not configured.
const UpstreamConfig* config_at(const Scenario& scenario, const std::string& upstream, Nanos t);

// One outcome that its machine was told, and what the machine held after it.
struct Heard {
  Nanos t = 0, sent = 0;  // sent: of an attempt
  RequestName request;
  std::uint32_t attempt = 0, lane = 0;
  Outcome outcome;
  bool probe = false, failure = false, body_broke = false;
  bool fail_open = false, trial = false;
  bool late = false;     // sent before the machine last went out or came back
  bool ignored = false;  // late, and late reports are ignored
  std::uint32_t streak = 0;
  std::uint64_t volume = 0, failures = 0;  // of the window
};

// What was heard between the ejection and the end of the outage.
struct Meanwhile {
  std::uint64_t fail_open = 0, trials = 0;  // picks
  std::uint64_t late_ok = 0, late_failed = 0, late_ignored = 0, probes_ok = 0, probes_failed = 0;
  std::uint64_t refused = 0;  // requests that an open breaker failed fast
};

class Listener final : public RunObserver {
 public:
  struct Aim {
    Subject subject;
    std::optional<Nanos> out_at;  // none: no outage but a stretch in which it was in
    std::size_t skip = 0;         // so many earlier ejections in that very instant are others
    Nanos from = 0, to = 0;       // the outage, or the stretch
    std::size_t keep = 12;
    // Where the ratio counts: so many observations at least, for `nearest_ratio`.
    std::uint64_t min_volume = 0;
  };

  Listener(const Scenario& scenario, const Timeline& timeline, const Aim& aim);

  void arrived(Nanos, const RequestName&, std::uint32_t /*upstream*/) override {}
  void attempted(Nanos t, const RequestName& name, std::uint32_t attempt, std::uint32_t lane, bool fail_open,
                 bool trial) override;
  void observed(const Observation& seen) override;
  void ended(Nanos t, const RequestName& name, RequestEnd end) override;

  // The last `keep` before the end of the stretch, oldest first; of an outage, the last one caused it.
  const std::deque<Heard>& led() const { return led_; }
  std::uint64_t led_total() const { return led_total_; }      // of all since it was last let in
  const std::optional<Heard>& back() const { return back_; }  // what brought it back
  const Meanwhile& meanwhile() const { return meanwhile_; }
  // How near it came within the stretch.
  const std::optional<Heard>& longest_streak() const { return longest_; }
  const std::optional<Heard>& nearest_ratio() const { return nearest_; }

 private:
  using Key = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>;
  enum class Phase : std::uint8_t { before, during, after };

  // What its machine held when it last spoke.
  struct State {
    bool out = false, in = true;
    std::uint64_t times_out = 0;
    std::uint32_t changes = 0;  // a number that moves whenever it goes out or comes back
  };
  struct Sent {
    Nanos at = 0;
    std::uint32_t changes = 0;
    bool fail_open = false, trial = false;
  };

  bool concerns(std::uint32_t upstream, std::uint32_t lane) const;
  std::optional<State> state_in(const Observation& seen) const;
  Heard heard(const Observation& seen) const;
  void before_it(const Heard& now, bool went_out, bool came_back);
  void during_it(const Heard& now, const State& state);
  void compare(const Heard& now);

  const Scenario& scenario_;
  const Timeline& timeline_;
  Aim aim_;
  Phase phase_ = Phase::before;
  State state_;
  std::map<Key, Sent> under_way_;
  std::vector<bool> entries_;  // of traffic: whether they ask this upstream
  std::deque<Heard> led_;
  std::uint64_t led_total_ = 0;
  std::optional<Heard> back_, longest_, nearest_;
  Meanwhile meanwhile_;
};

}  // namespace halfopen::sim
