#include "sim/server_farm.hpp"

namespace halfopen::sim {

ServerFarm::ServerFarm(const std::vector<ServerModel>& models, std::uint64_t seed, EventQueue& queue)
    : queue_(queue) {
  servers_.reserve(models.size());
  for (const ServerModel& model : models) {
    servers_.push_back(
        {EndpointModel(model, seed), model.capacity.has_value(), 0, UINT32_MAX, UINT32_MAX, {}});
    servers_.back().tracked |= servers_.back().endpoint.can_go_down();
  }
}

void ServerFarm::complete_at(std::uint32_t job, Nanos at) {
  jobs_[job].completion = queue_.schedule_cancellable(at, EventKind::completion, job);
}

SlabRef ServerFarm::begin(std::uint32_t index, const ServerAnswer& answer, bool probe, JobOwner owner,
                          Nanos t) {
  Server& server = servers_[index];
  const SlabRef ref = jobs_.add();
  Job& job = jobs_[ref.index] = Job{};
  job.owner = owner;
  job.server = index;
  job.probe = probe;
  job.outcome = answer.outcome;
  job.latency = answer.latency;
  job.truncated = answer.truncated;
  job.hangs = answer.manner == ServerAnswer::Manner::hang;
  job.truth.fault = answer.met_failing;
  switch (answer.manner) {
    case ServerAnswer::Manner::at_once: complete_at(ref.index, t); return ref;
    case ServerAnswer::Manner::reset: complete_at(ref.index, t + answer.latency); return ref;
    case ServerAnswer::Manner::never_accept: HALFOPEN_CHECK(false); break;
    case ServerAnswer::Manner::serve:
    case ServerAnswer::Manner::hang: break;
  }
  if (!server.endpoint.model().capacity) {
    serve(server, ref.index, t);
    return ref;
  }
  const Capacity& capacity = *server.endpoint.model().capacity;
  if (server.waiting.empty() && server.in_service < server.endpoint.concurrency(t, probe)) {
    serve(server, ref.index, t);
  } else if (server.waiting.size() < capacity.queue) {
    job.truth.overload = true;
    server.waiting.push_back(ref.index);
  } else {
    job.truth.overload = true;
    job.truncated = false;
    job.outcome = capacity.overflow_status ? Outcome::http(*capacity.overflow_status)
                                           : Outcome::error(TransportError::reset);
    complete_at(ref.index, t);
  }
  return ref;
}

void ServerFarm::serve(Server& server, std::uint32_t index, Nanos t) {
  Job& job = jobs_[index];
  if (server.tracked) {
    job.in_service = true;
    job.older = server.newest;
    (server.newest == UINT32_MAX ? server.oldest : jobs_[server.newest].newer) = index;
    server.newest = index;
    ++server.in_service;
  }
  if (!job.hangs) complete_at(index, t + job.latency);
}

Job ServerFarm::finish(std::uint32_t index, Nanos t) {
  const Job job = jobs_[index];
  jobs_.remove(index);
  if (job.in_service) release(servers_[job.server], job, t);
  return job;
}

void ServerFarm::release(Server& server, const Job& job, Nanos t) {
  (job.older == UINT32_MAX ? server.oldest : jobs_[job.older].newer) = job.newer;
  (job.newer == UINT32_MAX ? server.newest : jobs_[job.newer].older) = job.older;
  --server.in_service;
  let_in(server, t);
}

void ServerFarm::let_in(Server& server, Nanos t) {
  while (!server.waiting.empty()) {
    const std::uint32_t head = server.waiting.front();
    if (server.in_service >= server.endpoint.concurrency(t, jobs_[head].probe)) return;
    server.waiting.pop_front();
    serve(server, head, t);
  }
}

AttemptTruth ServerFarm::disown(SlabRef ref) {
  Job* job = jobs_.find(ref);
  if (job == nullptr) return {};
  const AttemptTruth truth = job->truth;
  if (servers_[job->server].tracked) {
    job->owner.ref = {};
    return truth;
  }
  queue_.cancel(job->completion);
  jobs_.remove(ref.index);
  return truth;
}

void ServerFarm::reset_in_service(std::uint32_t index, Scope scope, Nanos t) {
  for (std::uint32_t at = servers_[index].oldest; at != UINT32_MAX; at = jobs_[at].newer) {
    Job& job = jobs_[at];
    if (scope != Scope::both && (scope == Scope::probes) != job.probe) continue;
    queue_.cancel(job.completion);
    job.outcome = Outcome::error(TransportError::reset);
    job.truncated = false;
    job.truth.fault = true;
    complete_at(at, t);
  }
}

}  // namespace halfopen::sim
