#include "sim/probes.hpp"

#include <string>

#include "core/status_line.hpp"

namespace halfopen::sim {
namespace {

const Stream& stream_of(std::map<std::uint32_t, std::unique_ptr<Stream>>& streams, const char* name,
                        const World& world, std::uint32_t upstream, std::uint32_t lane) {
  auto& stream = streams[lane];
  if (!stream) {
    stream = std::make_unique<Stream>(
        world.scenario.seed, name + world.upstreams[upstream].name + "/" + world.lanes[lane].endpoint);
  }
  return *stream;
}

}  // namespace

void Probes::respawn() {
  stop_all();
  for (std::uint32_t i = 0; i < world_.upstreams.size(); ++i) start(i);
}

void Probes::stop_all() {
  for (const SlabRef ref : running_) {
    Loop& loop = loops_[ref.index];
    world_.queue.cancel(loop.sleep);
    world_.queue.cancel(loop.timeout);
    world_.farm.disown(loop.job);
    loop = Loop{};
    loops_.remove(ref.index);
  }
  running_.clear();
}

void Probes::start(std::uint32_t index) {
  const UpstreamSlot& slot = world_.upstreams[index];
  if (!slot.upstream || !slot.config->active_health) return;
  std::size_t place = 0;
  for (const auto& endpoint : slot.upstream->endpoints()) {
    const SlabRef ref = loops_.add();
    Loop& loop = loops_[ref.index] = Loop{};
    loop.upstream = index;
    loop.lane = slot.lane_of[place++];
    loop.tracker = endpoint.tracker;
    loop.config = slot.config;
    loop.rule = std::make_unique<ActiveProbe>(*slot.config->active_health, *slot.config->health,
                                              endpoint.tracker->snapshot().ejections);
    running_.push_back(ref);
    sleep(ref);
  }
}

// The sleep before probe k draws at k; one that is cut short gives its number back by never having taken it.
void Probes::sleep(SlabRef ref) {
  Loop& loop = loops_[ref.index];
  const Stream& jitter = stream_of(jitter_, "probe-jitter:", world_, loop.upstream, loop.lane);
  const double u = jitter.unit(world_.lanes[loop.lane].probes, 0, 0, 0, PROBE_DRAW);
  loop.sleep = world_.queue.schedule_cancellable(world_.t + loop.rule->sleep_ms(u) * NANOS_PER_MS,
                                                 EventKind::probe, ref.index);
}

void Probes::due(std::uint32_t number) {
  const SlabRef ref = loops_.ref(number);
  Loop& loop = loops_[ref.index];
  Lane& lane = world_.lanes[loop.lane];
  const ActiveParams& params = *loop.config->active_health;
  const AttemptKey draw{lane.probes++, 0, 0, true, params.kind == ProbeKind::tcp};
  const Stream& latency = stream_of(latency_, "probe:", world_, loop.upstream, loop.lane);
  const ServerAnswer answer = world_.farm.endpoint(lane.server).judge(world_.t, draw, latency);
  loop.job = {};
  loop.truth = {answer.met_failing, false};
  if (answer.manner != ServerAnswer::Manner::never_accept) {
    loop.job = world_.farm.begin(lane.server, answer, true, {true, ref}, world_.t);
  }
  loop.timeout = world_.queue.schedule_cancellable(world_.t + params.timeout_ms * NANOS_PER_MS,
                                                   EventKind::attempt_timeout, PROBE_TIMEOUT | ref.index);
}

void Probes::completed(const Job& job) {
  Loop* loop = loops_.find(job.owner.ref);
  if (loop == nullptr) return;  // its loop ended, or the probe timed out
  world_.queue.cancel(loop->timeout);
  loop->truth = job.truth;
  const bool answered = job.outcome.transport == TransportError::none;
  verdict(job.owner.ref, answered && is_probe_success(job.outcome.status));
}

void Probes::timed_out(std::uint32_t number) {
  const SlabRef ref = loops_.ref(number);
  Loop& loop = loops_[ref.index];
  loop.truth.overload = world_.farm.disown(loop.job).overload;
  verdict(ref, false);
}

void Probes::verdict(SlabRef ref, bool ok) {
  Loop& loop = loops_[ref.index];
  loop.job = {};
  world_.record.probe(loop.lane, ok);
  world_.record.judging(loop.truth);
  loop.rule->verdict(*loop.tracker, world_.now, ok);
  if (world_.observer != nullptr) {
    Observation seen;
    seen.upstream = loop.upstream;
    seen.lane = loop.lane;
    seen.probe = true;
    seen.probe_ok = ok;
    world_.tell(seen);
  }
  sleep(ref);
}

}  // namespace halfopen::sim
