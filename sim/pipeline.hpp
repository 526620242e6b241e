// The life of a request: it arrives, the gateway admits it and picks, the server answers or does not, the
// outcome is reported, a retry is decided, and it ends; then its client may come again, and its user thinks
// and asks for the next thing. Every decision of the gateway is core's; this file only carries things between
// them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/arrivals.hpp"
#include "sim/world.hpp"

namespace halfopen::sim {

class Pipeline {
 public:
  explicit Pipeline(World& world);

  // The next arrival of any entry, by (time, entry, request). NEVER when there are none left for now.
  Nanos next_arrival() const {
    const Nanos first = turns_.empty() ? NEVER : turns_.front().at;
    return again_.empty() ? first : std::min(first, again_.front().at);
  }
  void arrive();

  // The payload of a request's events is its place; they are cancelled when it ends.
  void answered(std::uint32_t request) { answer(requests_.ref(request)); }
  void completed(const Job& job);
  void timed_out(std::uint32_t request);
  void departs(std::uint32_t request);
  void retry_due(std::uint32_t request);

 private:
  struct Entry {
    Entry(const Traffic& entry_traffic, std::uint64_t number, std::uint64_t seed, Nanos duration,
          std::uint32_t slot);
    const Traffic& traffic;
    std::uint32_t upstream;
    ArrivalSource source;
    Arrival next;
    Stream keys, abandons, jitter, clients;
    std::vector<double> key_shares;  // cumulative, by client
    const Users* users;              // of a closed loop; or null
    Nanos patience;                  // how long a client waits for a try
    bool returns;                    // somebody may come again when a request has ended
  };

  struct Turn {
    Nanos at;
    std::uint32_t entry;
  };
  static bool later(const Turn& a, const Turn& b) { return a.at != b.at ? a.at > b.at : a.entry > b.entry; }

  // Somebody who has asked before: a client for the same thing, a user for the next.
  struct Comeback {
    Nanos at = 0;
    std::uint32_t entry = 0;
    std::uint32_t tryn = 0;
    std::uint64_t index = 0;
  };
  static bool comes_later(const Comeback& a, const Comeback& b) {
    if (a.at != b.at) return a.at > b.at;
    return a.entry != b.entry ? a.entry > b.entry : a.index > b.index;
  }

  struct Request {
    std::uint64_t index = 0;
    Nanos arrival = 0;
    std::uint32_t entry = 0;
    std::uint32_t tryn = 0;     // of the client: the gateway takes each for a request of its own
    std::uint32_t retries = 0;  // of the gateway
    std::uint32_t lane = 0;     // of the attempt under way
    bool truncated = false;     // the answer's body will break off
    bool gives_up = false;      // its departure is its client's timeout
    bool returns = false;       // somebody has to be told when it ends
    AttemptTruth truth;         // of the attempt under way
    Sent sent;                  // when it was, in time and in order
    Outcome outcome;            // of the attempt under way, known to its server alone; or of the one before
    TransportError bound = TransportError::attempt_timeout;  // what its timeout would be called
    SlabRef job;                               // of the attempt under way, at a server that keeps a list
    const UpstreamConfig* settings = nullptr;  // retries and timeouts: those at arrival
    BasicDispatch<Single> dispatch;
    EventId answer, timeout, departure, retry;
  };

  RequestName name_of(const Request& request) const { return {request.entry, request.index, request.tryn}; }
  bool again_comes_first() const;
  void begin(std::uint32_t number, std::uint64_t index, std::uint32_t tryn);
  void over(const RequestName& name, bool served, std::uint64_t retry_after_s);
  bool tries_again(const RequestName& name, std::uint64_t retry_after_s);
  void come_back(Nanos wait, const RequestName& name);
  void observe(const Request& request, bool body_broke) const;
  void attempt(SlabRef ref, AttemptKind kind);
  void send(SlabRef ref, const ServerAnswer& answer);
  void send_to_tracked(SlabRef ref, const ServerAnswer& answer);
  void answer(SlabRef ref);
  void end(SlabRef ref, bool whole_body);
  void end_fast(SlabRef ref, AttemptKind kind, std::uint64_t retry_after_s = 0);
  void gone(SlabRef ref, RequestEnd how, std::uint64_t retry_after_s = 0);
  BasicDispatch<Single> pick_with_luck(const Request& request, const UpstreamSlot& slot,
                                       BasicAdmission<Single>& admission);
  std::string key_of(const Request& request) const;

  World& world_;
  std::vector<std::unique_ptr<Entry>> entries_;
  Slab<Request> requests_;
  std::vector<Turn> turns_;      // a heap: whose arrival is next
  std::vector<Comeback> again_;  // a heap: who comes again next; empty but for clients and users
};

}  // namespace halfopen::sim
