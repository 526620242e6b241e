#include "sim/pipeline.hpp"

#include <algorithm>

namespace halfopen::sim {
// The key is who asks: the same at every try.
std::string Pipeline::key_of(const Request& request) const {
  const Entry& entry = *entries_[request.entry];
  const double u = entry.keys.unit(request.index, 0, 0, request.entry);
  const auto place = std::upper_bound(entry.key_shares.begin(), entry.key_shares.end(), u);
  const auto client = std::min<std::ptrdiff_t>(place - entry.key_shares.begin(),
                                               static_cast<std::ptrdiff_t>(entry.key_shares.size()) - 1);
  return "client-" + std::to_string(client);
}

// check -> pick -> dispatch, all of it core's.
void Pipeline::attempt(SlabRef ref, AttemptKind kind) {
  Request& request = requests_[ref.index];
  const Entry& entry = *entries_[request.entry];
  UpstreamSlot& slot = world_.upstreams[entry.upstream];
  if (!slot.upstream) return end_fast(ref, kind);
  auto admission = slot.upstream->admit(world_.now, kind);
  if (!admission.allowed()) return end_fast(ref, kind, admission.decision().retry_after_s());
  if (kind == AttemptKind::first) world_.record.admitted();

  request.dispatch = admission.wants_words() || admission.wants_key()
                         ? pick_with_luck(request, slot, admission)
                         : admission.pick(world_.now);
  if (!request.dispatch) return end_fast(ref, kind);
  request.lane = slot.lane_of[request.dispatch.index()];
  request.sent = world_.record.attempt(request.lane, request.dispatch.fail_open());
  if (world_.observer != nullptr) {
    world_.observer->attempted(world_.t, name_of(request), request.retries, request.lane,
                               request.dispatch.fail_open(), request.dispatch.is_trial());
  }

  const Lane& lane = world_.lanes[request.lane];
  const AttemptKey draw{request.index, request.retries, request.entry, false, false, request.tryn};
  send(ref, world_.farm.endpoint(lane.server).judge(world_.t, draw, lane.service));
}

BasicDispatch<Single> Pipeline::pick_with_luck(const Request& request, const UpstreamSlot& slot,
                                               BasicAdmission<Single>& admission) {
  PickInput input;
  std::string key;
  if (admission.wants_words()) {
    const auto words = slot.balance.words(request.index, request.tryn, request.retries, request.entry);
    input.x0 = words[0];
    input.x1 = words[1];
  } else if (entries_[request.entry]->traffic.keys) {
    key = key_of(request);
    input.key = key;
  }
  return admission.pick(world_.now, input);
}

// Hands the attempt to its server and sets the bound on its answer. A server that nothing can hold up answers
// at a time that is known now: then only the first of answer and timeout is scheduled.
void Pipeline::send(SlabRef ref, const ServerAnswer& answer) {
  Request& request = requests_[ref.index];
  request.truth = {answer.met_failing, false};
  if (world_.farm.tracked(world_.lanes[request.lane].server)) return send_to_tracked(ref, answer);
  const auto& bound_ms = request.settings->timeouts.read_ms;
  const Nanos bound = bound_ms ? *bound_ms * NANOS_PER_MS : NEVER;
  request.outcome = answer.outcome;
  request.truncated = answer.truncated;
  request.bound = TransportError::attempt_timeout;
  if (answer.manner == ServerAnswer::Manner::serve && answer.latency <= bound) {
    const std::uint32_t payload = DIRECT_ANSWER | ref.index;
    const Nanos at = world_.t + answer.latency;
    if (request.departure.slot == EventId{}.slot)
      world_.queue.schedule(at, EventKind::completion, payload);
    else
      request.answer = world_.queue.schedule_cancellable(at, EventKind::completion, payload);
  } else if (bound != NEVER) {
    request.timeout =
        world_.queue.schedule_cancellable(world_.t + bound, EventKind::attempt_timeout, ref.index);
  }
}

void Pipeline::send_to_tracked(SlabRef ref, const ServerAnswer& answer) {
  Request& request = requests_[ref.index];
  const TimeoutParams& timeouts = request.settings->timeouts;
  std::optional<std::uint64_t> bound_ms = timeouts.read_ms;
  request.bound = TransportError::attempt_timeout;
  if (answer.manner == ServerAnswer::Manner::never_accept) {
    bound_ms = timeouts.connect_ms;
    request.bound = TransportError::connect_timeout;
  } else {
    request.job = world_.farm.begin(world_.lanes[request.lane].server, answer, false, {false, ref}, world_.t);
  }
  if (!bound_ms) return;
  request.timeout = world_.queue.schedule_cancellable(world_.t + *bound_ms * NANOS_PER_MS,
                                                      EventKind::attempt_timeout, ref.index);
}

void Pipeline::completed(const Job& job) {
  Request* request = requests_.find(job.owner.ref);
  if (request == nullptr) return;  // gave up waiting: no observation, it reaches nobody
  world_.queue.cancel(request->timeout);
  request->outcome = job.outcome;
  request->truncated = job.truncated;
  request->truth = job.truth;
  answer(job.owner.ref);
}

void Pipeline::timed_out(std::uint32_t index) {
  Request& request = requests_[index];
  if (request.bound == TransportError::attempt_timeout &&
      world_.farm.tracked(world_.lanes[request.lane].server))
    request.truth = world_.farm.disown(request.job);
  request.outcome = Outcome::error(request.bound);
  request.truncated = false;
  answer(requests_.ref(index));
}

void Pipeline::observe(const Request& request, bool body_broke) const {
  Observation seen;
  seen.upstream = entries_[request.entry]->upstream;
  seen.lane = request.lane;
  seen.request = name_of(request);
  seen.attempt = request.retries;
  seen.outcome = request.outcome;
  seen.body_broke = body_broke;
  world_.tell(seen);
}

// The attempt's outcome is in: report it, and ask whether to try again.
void Pipeline::answer(SlabRef ref) {
  Request& request = requests_[ref.index];
  if (request.outcome.is_failure()) world_.record.failure(request.lane, request.sent);
  world_.record.judging(request.truth);
  auto body = request.dispatch.report(world_.now, request.outcome);
  if (world_.observer != nullptr) observe(request, false);
  request.job = {};
  if (request.truncated) {
    if (!request.outcome.is_failure()) world_.record.failure(request.lane, request.sent);
    body.broken(world_.now);
    if (world_.observer != nullptr) observe(request, true);
    return end(ref, false);
  }
  const RetryParams& retries = request.settings->retries;
  Entry& entry = *entries_[request.entry];
  const auto draw = [&] {
    return entry.jitter.unit(request.index, request.tryn, request.retries + 1, request.entry);
  };
  const RetryDecision decision =
      decide_retry(retries, *world_.upstreams[entry.upstream].budget, request.retries, request.outcome,
                   world_.t - request.arrival, world_.now, draw);
  if (decision.answer == RetryAnswer::budget_denied) world_.record.retry_denied();
  if (decision.answer != RetryAnswer::granted) return end(ref, true);
  world_.record.retried();
  request.retry = world_.queue.schedule_cancellable(world_.t + decision.delay_ms * NANOS_PER_MS,
                                                    EventKind::retry, ref.index);
}

void Pipeline::retry_due(std::uint32_t index) {
  ++requests_[index].retries;
  attempt(requests_.ref(index), AttemptKind::retry);
}

// The caller leaves: the dispatch, if there is one, is destroyed unreported.
void Pipeline::departs(std::uint32_t index) {
  Request& request = requests_[index];
  world_.queue.cancel(request.answer);
  world_.queue.cancel(request.timeout);
  world_.queue.cancel(request.retry);
  request.dispatch.abandon();
  world_.farm.disown(request.job);
  world_.record.abandoned();
  gone(requests_.ref(index), RequestEnd::abandoned);
}

void Pipeline::end(SlabRef ref, bool whole_body) {
  Request& request = requests_[ref.index];
  const bool ok = whole_body && !request.outcome.is_failure();
  if (ok)
    world_.record.ended_ok(world_.t - request.arrival);
  else
    world_.record.ended_failed(false);
  gone(ref, ok ? RequestEnd::ok : RequestEnd::failed);
}

// Refused, or nobody to send it to: a first attempt fails fast, a retry ends with the last attempt's answer.
void Pipeline::end_fast(SlabRef ref, AttemptKind kind, std::uint64_t retry_after_s) {
  if (kind == AttemptKind::retry) return end(ref, true);
  world_.record.ended_failed(true);
  gone(ref, RequestEnd::fast_failed, retry_after_s);
}

// It leaves nothing behind. Whoever asked may ask again; who left for good counts as served.
void Pipeline::gone(SlabRef ref, RequestEnd how, std::uint64_t retry_after_s) {
  Request& request = requests_[ref.index];
  const RequestName name = name_of(request);
  if (world_.observer != nullptr) world_.observer->ended(world_.t, name, how);
  world_.queue.cancel(request.departure);
  requests_.remove(ref.index);
  if (!request.returns) return;
  const bool left_for_good = how == RequestEnd::abandoned && !request.gives_up;
  over(name, how == RequestEnd::ok || left_for_good, retry_after_s);
}

}  // namespace halfopen::sim
