// The life of a request: it arrives, the gateway admits it and picks, the server answers or does not, the
// outcome is reported, a retry is decided, and it ends. Every decision is core's; this file only carries
// things between them.
#pragma once

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

  // The next arrival of any entry, by (time, entry, request). NEVER when there are none left.
  Nanos next_arrival() const { return turns_.empty() ? NEVER : turns_.front().at; }
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
    Stream keys, abandons, jitter;
    std::vector<double> key_shares;  // cumulative, by client
  };

  struct Turn {
    Nanos at;
    std::uint32_t entry;
  };
  static bool later(const Turn& a, const Turn& b) { return a.at != b.at ? a.at > b.at : a.entry > b.entry; }

  struct Request {
    std::uint64_t index = 0;
    Nanos arrival = 0;
    std::uint32_t entry = 0;
    std::uint32_t retries = 0;
    std::uint32_t lane = 0;  // of the attempt under way
    bool truncated = false;  // the answer's body will break off
    AttemptTruth truth;      // of the attempt under way
    Sent sent;               // when it was, in time and in order
    Outcome outcome;         // of the attempt under way, known to its server alone; or of the one before
    TransportError bound = TransportError::attempt_timeout;  // what its timeout would be called
    SlabRef job;                               // of the attempt under way, at a server that keeps a list
    const UpstreamConfig* settings = nullptr;  // retries and timeouts: those at arrival
    BasicDispatch<Single> dispatch;
    EventId answer, timeout, departure, retry;
  };

  RequestName name_of(const Request& request) const { return {request.entry, request.index, 0}; }
  void observe(const Request& request, bool body_broke) const;
  void attempt(SlabRef ref, AttemptKind kind);
  void send(SlabRef ref, const ServerAnswer& answer);
  void send_to_tracked(SlabRef ref, const ServerAnswer& answer);
  void answer(SlabRef ref);
  void end(SlabRef ref, bool whole_body);
  void end_fast(SlabRef ref, AttemptKind kind);
  void remove(SlabRef ref);
  BasicDispatch<Single> pick_with_luck(const Request& request, const UpstreamSlot& slot,
                                       BasicAdmission<Single>& admission);
  std::string key_of(const Request& request) const;

  World& world_;
  std::vector<std::unique_ptr<Entry>> entries_;
  Slab<Request> requests_;
  std::vector<Turn> turns_;  // a heap: whose arrival is next
};

}  // namespace halfopen::sim
