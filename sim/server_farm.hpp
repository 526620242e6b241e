// The simulated servers at work: who is in service, who queues, who is reset. One server is one address:port,
// shared by the upstreams that name it. Servers know nothing of gateways: after a timeout or an abandon they
// work on, and the attempt keeps its place.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "sim/endpoint_model.hpp"
#include "sim/event_queue.hpp"
#include "sim/slab.hpp"

namespace halfopen::sim {

// A completion's payload is a job's place, or this bit and whatever the sender of an untracked attempt wants.
inline constexpr std::uint32_t DIRECT_ANSWER = std::uint32_t{1} << 31;

// Whom a finished job answers; stale when the owner has given up waiting.
struct JobOwner {
  bool probe = false;
  SlabRef ref;
};

struct Job {
  JobOwner owner;
  std::uint32_t server = 0;
  bool probe = false;       // its scope; the owner may be gone
  bool in_service = false;  // holds a place that must be released
  bool truncated = false;
  bool hangs = false;
  AttemptTruth truth;
  Outcome outcome;
  Nanos latency = 0;
  EventId completion;
  std::uint32_t older = UINT32_MAX, newer = UINT32_MAX;  // neighbours in service, by order of entry
};

class ServerFarm {
 public:
  ServerFarm(const std::vector<ServerModel>& models, std::uint64_t seed, EventQueue& queue);

  EndpointModel& endpoint(std::uint32_t server) { return servers_[server].endpoint; }

  // An attempt reaches its server. Never for ServerAnswer::Manner::never_accept. The completion, if there is
  // to be one, comes as an event whose payload is the job.
  SlabRef begin(std::uint32_t server, const ServerAnswer& answer, bool probe, JobOwner owner, Nanos t);

  // Whether it keeps a list of whom it serves, because its capacity or a `down` can hold up or cut short an
  // attempt. Anybody else's answer is certain, and its sender may schedule it alone.
  bool tracked(std::uint32_t server) const { return servers_[server].tracked; }

  // Its completion came: what it was. Releases its place; the queue's head may enter.
  Job finish(std::uint32_t job, Nanos t);

  // Its owner no longer waits. The server works on, unless nobody could tell the difference. Says what the
  // attempt met so far.
  AttemptTruth disown(SlabRef job);

  // A boundary of any fault: the queue's head may enter now.
  void boundary(std::uint32_t server, Nanos t) { let_in(servers_[server], t); }

  // A `down` begins: the attempts of its scope in service are reset, in order of entry; the queue is
  // untouched.
  void reset_in_service(std::uint32_t server, Scope scope, Nanos t);

 private:
  struct Server {
    EndpointModel endpoint;
    bool tracked = false;  // has a capacity or can go down
    std::uint32_t in_service = 0;
    std::uint32_t oldest = UINT32_MAX, newest = UINT32_MAX;
    std::deque<std::uint32_t> waiting;
  };

  void serve(Server& server, std::uint32_t job, Nanos t);
  void release(Server& server, const Job& job, Nanos t);
  void let_in(Server& server, Nanos t);
  void complete_at(std::uint32_t job, Nanos at);

  EventQueue& queue_;
  std::vector<Server> servers_;
  Slab<Job> jobs_;
};

}  // namespace halfopen::sim
