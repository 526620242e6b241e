// How one simulated server would answer an attempt that reaches it now: its latency and the faults that are
// active, composed as the scenario's reference says. Knows nothing of ejection, gateways or queues.
#pragma once

#include <array>
#include <cstdint>
#include <variant>
#include <vector>

#include "core/outcome.hpp"
#include "sim/draws.hpp"
#include "sim/latency.hpp"
#include "sim/scenario.hpp"
#include "sim/truth.hpp"

namespace halfopen::sim {

// The counter of every draw that an attempt makes, and what it is to the server.
struct AttemptKey {
  std::uint64_t index = 0;    // request in its entry, or probe in its loop
  std::uint32_t attempt = 0;  // 0 for the first, n for the n-th retry
  std::uint64_t entry = 0;    // place in `traffic`; 0 for probes
  bool probe = false;
  bool tcp_probe = false;
  std::uint32_t tryn = 0;  // of the client; 0 for probes

  std::uint64_t kind() const { return probe ? PROBE_DRAW : REQUEST_DRAW; }
};

struct ServerAnswer {
  enum class Manner : std::uint8_t {
    serve,         // takes a place in service, answers `outcome` after `latency`
    hang,          // takes a place in service, never answers
    at_once,       // refused, or a tcp connect: no time, no place in service
    reset,         // answers after `latency` without a place in service
    never_accept,  // no connection, ever
  };
  Manner manner = Manner::serve;
  Outcome outcome;
  Nanos latency = 0;
  bool truncated = false;    // the body breaks off after the headers of a good answer
  bool met_failing = false;  // a failing fault of the attempt's scope was at work
};

class EndpointModel {
 public:
  EndpointModel(const ServerModel& model, std::uint64_t seed);

  const ServerModel& model() const { return *model_; }

  // Judged when the attempt reaches the endpoint. `service` is the stream of its latency. Uses up an entry of
  // an `outcomes` list where one decides.
  ServerAnswer judge(Nanos t, const AttemptKey& key, const Stream& service) {
    if (!model_->faults.empty() || key.tcp_probe) return judge_with_faults(t, key, service);
    ServerAnswer answer;
    answer.latency = to_nanos(base_latency_ms(key, service));
    return answer;
  }

  // concurrency * the factors of the active brownouts in whose scope the attempt is, at least 1. Needs a
  // capacity.
  std::uint32_t concurrency(Nanos t, bool probe) const;

  // Flaps and bursts move by their boundaries, not by asking: phase 0 is the good one, which begins at the
  // fault's `from`, and the odd ones are bad: a flap is down, bursts err.
  struct Phases {
    bool bad = false;
    std::uint64_t next = 0;
  };
  static bool has_phases(const Fault& fault) {
    return std::holds_alternative<FlapFault>(fault.kind) || std::holds_alternative<BurstsFault>(fault.kind);
  }
  Phases& phases(std::uint32_t fault) { return phases_[fault]; }
  // How long phase `phase` of a flap or of bursts lasts; 0 where the draw says so.
  Nanos phase_length(std::uint32_t fault, std::uint64_t phase) const;

  // Whether attempts in service can be reset, so that somebody must keep their list.
  bool can_go_down() const { return can_go_down_; }
  static bool takes_down(const Fault& fault) {
    return std::holds_alternative<DownFault>(fault.kind) || std::holds_alternative<FlapFault>(fault.kind);
  }

  // Warm-ups. Traffic and probes each have their own: an attempt is served cold from the instant at which no
  // `down` or flap of its scope has the server down any more, for the cold_start fault's length. A `down` of
  // scope traffic thus leaves probes warm, and the last of overlapping ones counts. Going down again ends the
  // warm-up, and the next return begins another; a server that was never down is warm. The return may come
  // before the fault's own `from`: then the rest of the warm-up counts.
  bool can_be_cold() const { return can_be_cold_; }
  // To be told after each start and end of a `down` and of a flap's phases, where can_be_cold().
  void downs_changed(Nanos t);
  // When the warm-up of a cold_start fault in progress ends, for the last of those in its scope, its own from
  // and to not considered; 0 while there is none.
  Nanos cold_until(std::uint32_t fault) const;

 private:
  static bool in_scope(const Fault& fault, bool probe) {
    return fault.scope == Scope::both || (fault.scope == Scope::probes) == probe;
  }
  static bool active(const Fault& fault, Nanos t) { return t >= fault.from && t < fault.to; }
  double base_latency_ms(const AttemptKey& key, const Stream& service) const {
    return draw_ms(model_->latency, service.unit(key.index, key.tryn, key.attempt, key.entry, key.kind()));
  }
  ServerAnswer judge_with_faults(Nanos t, const AttemptKey& key, const Stream& service);
  bool down_decides(Nanos t, bool probe, DownKind& kind) const;
  Nanos cold_until(const ColdStartFault& fault, bool probe) const;
  bool script_decides(Nanos t, const AttemptKey& key, ServerAnswer& answer);
  double latency_ms(Nanos t, const AttemptKey& key, const Stream& service) const;
  void draw_faults(Nanos t, const AttemptKey& key, ServerAnswer& answer) const;
  bool hits(std::uint32_t fault, double ratio, const AttemptKey& key) const;
  bool meets_failing(Nanos t, bool probe) const;

  const ServerModel* model_;
  std::vector<Stream> streams_;          // fault:<endpoint>/<n>
  std::vector<Phases> phases_;           // by fault
  std::vector<std::uint64_t> scripted_;  // by fault: attempts counted by an `outcomes` list
  std::vector<bool> fails_;              // by fault: it makes attempts fail by itself, unlike a script
  bool can_go_down_ = false, can_be_cold_ = false;
  struct Presence {
    bool down = false;
    Nanos back = NEVER;  // its last return; NEVER: none yet
  };
  std::array<Presence, 2> presences_;  // to traffic, to probes
};

}  // namespace halfopen::sim
