#include "sim/simulation.hpp"

#include <algorithm>

#include "sim/pipeline.hpp"
#include "sim/probes.hpp"

namespace halfopen::sim {
namespace {

// A power of two, so that whoever has no pause pays for one bit test a step; some milliseconds' worth.
constexpr std::uint64_t STEPS_A_PAUSE = 8192;

class Simulation {
 public:
  Simulation(const Scenario& scenario, const RunHooks& hooks)
      : scenario_(scenario),
        hooks_(hooks),
        world_(scenario, hooks.observer),
        pipeline_(prepared(world_)),
        probes_(world_) {
    world_.record.late_reports_from([this] {
      std::uint64_t ignored = 0;
      for (const auto& upstream : world_.all_upstreams) ignored += upstream->late_reports_ignored();
      return ignored;
    });
  }

  Timeline run() {
    world_.configure(scenario_.upstreams);
    probes_.respawn();
    schedule_the_known();
    for (std::uint64_t step = 1;; ++step) {
      if (step % STEPS_A_PAUSE == 0 && hooks_.pause && !hooks_.pause()) throw RunStopped();
      const Nanos arrival = pipeline_.next_arrival();
      if (!world_.queue.empty() && comes_before(arrival)) {
        if (world_.queue.next_time() >= scenario_.duration) break;
        handle(world_.queue.pop());
      } else {
        if (arrival >= scenario_.duration) break;
        world_.move_to(arrival);
        pipeline_.arrive();
      }
    }
    return world_.record.finish();
  }

 private:
  // Names and lanes exist before the first event, in order of first appearance.
  static World& prepared(World& world) {
    world.move_to(0);
    world.introduce(world.scenario.upstreams);
    for (const Reload& reload : world.scenario.reloads) world.introduce(reload.upstreams);
    return world;
  }

  bool comes_before(Nanos arrival) const {
    const Nanos at = world_.queue.next_time();
    return at < arrival || (at == arrival && world_.queue.next_kind() < EventKind::arrival);
  }

  void schedule_the_known() {
    EventQueue& queue = world_.queue;
    const auto& steps = world_.clock.steps();
    for (std::uint32_t i = 0; i < steps.size(); ++i) queue.schedule(steps[i].at, EventKind::clock_step, i);
    for (std::uint32_t i = 0; i < scenario_.reloads.size(); ++i) {
      queue.schedule(scenario_.reloads[i].at, EventKind::reload, i);
    }
    for (std::uint32_t server = 0; server < scenario_.servers.size(); ++server) schedule_faults(server);
    queue.schedule(scenario_.sample, EventKind::sample, 0);
  }

  // Only boundaries at which something happens by itself: a reset, the phase of a flap or of bursts, a change
  // of capacity.
  void schedule_faults(std::uint32_t server) {
    const ServerModel& model = scenario_.servers[server];
    for (std::uint32_t n = 0; n < model.faults.size(); ++n) {
      const Fault& fault = model.faults[n];
      const bool moves = EndpointModel::takes_down(fault) || EndpointModel::has_phases(fault);
      if (!moves && !model.capacity) continue;
      boundaries_.push_back({server, n, false});
      boundaries_.push_back({server, n, true});
      schedule_boundary(boundaries_.size() - 2, fault.from);
      if (fault.to != NEVER) schedule_boundary(boundaries_.size() - 1, fault.to);
    }
  }

  // Boundaries at one instant go by (endpoint, fault, phase), as they stand in the list; of a fault's own
  // only its next phase and its end can meet, and the end is the later.
  void schedule_boundary(std::size_t number, Nanos at) {
    world_.queue.schedule(at, EventKind::fault_boundary, static_cast<std::uint32_t>(number), number);
  }

  void handle(const EventQueue::Next& event) {
    world_.move_to(event.at);
    switch (event.kind) {
      case EventKind::clock_step:
        if (world_.clock.take_step()) world_.record.clock_step(world_.clock.steps()[event.payload]);
        break;
      case EventKind::reload:
        world_.configure(scenario_.reloads[event.payload].upstreams);
        world_.record.reload();
        probes_.respawn();
        break;
      case EventKind::fault_boundary: boundary(event.payload); break;
      case EventKind::completion:
        if (event.payload & DIRECT_ANSWER)
          pipeline_.answered(event.payload & ~DIRECT_ANSWER);
        else
          completed(event.payload);
        break;
      case EventKind::attempt_timeout:
        if (event.payload & PROBE_TIMEOUT)
          probes_.timed_out(event.payload & ~PROBE_TIMEOUT);
        else
          pipeline_.timed_out(event.payload);
        break;
      case EventKind::departure: pipeline_.departs(event.payload); break;
      case EventKind::probe: probes_.due(event.payload); break;
      case EventKind::retry: pipeline_.retry_due(event.payload); break;
      case EventKind::arrival: break;  // arrivals wait in the pipeline
      case EventKind::sample:
        world_.record.sample();
        if (hooks_.reached != nullptr) hooks_.reached->store(event.at, std::memory_order_relaxed);
        world_.queue.schedule(event.at + scenario_.sample, EventKind::sample, 0);
        break;
    }
  }

  void completed(std::uint32_t number) {
    const Job job = world_.farm.finish(number, world_.t);
    if (job.owner.probe)
      probes_.completed(job);
    else
      pipeline_.completed(job);
  }

  struct Boundary {
    std::uint32_t server, fault;
    bool end;  // of the fault; otherwise its start, or the start of its next phase
  };

  void boundary(std::uint32_t number) {
    const Boundary& at = boundaries_[number];
    const ServerModel& model = scenario_.servers[at.server];
    const Fault& fault = model.faults[at.fault];
    if (EndpointModel::has_phases(fault))
      phase(number, fault);
    else if (std::holds_alternative<DownFault>(fault.kind) && !at.end) {
      world_.farm.reset_in_service(at.server, fault.scope, world_.t);
    }
    if (EndpointModel::takes_down(fault) && world_.farm.endpoint(at.server).can_be_cold()) warm_up(at.server);
    if (model.capacity) world_.farm.boundary(at.server, world_.t);
  }

  // Phase 0 is good; each phase schedules the next. A bad one that the fault's end cuts short ends there.
  void phase(std::uint32_t number, const Fault& fault) {
    const Boundary& at = boundaries_[number];
    EndpointModel& endpoint = world_.farm.endpoint(at.server);
    EndpointModel::Phases& phases = endpoint.phases(at.fault);
    const std::uint64_t phase = phases.next++;
    phases.bad = !at.end && phase % 2 == 1;
    if (at.end) return;
    const Nanos ends = world_.t + endpoint.phase_length(at.fault, phase);
    if (ends < fault.to) schedule_boundary(number, ends);
    if (!phases.bad) return;
    world_.record.fault_active(at.server, at.fault, world_.t, std::min(ends, fault.to));
    if (EndpointModel::takes_down(fault)) world_.farm.reset_in_service(at.server, fault.scope, world_.t);
  }

  // A server went down or came back: what that makes of its warm-ups.
  void warm_up(std::uint32_t server) {
    EndpointModel& endpoint = world_.farm.endpoint(server);
    const std::vector<Fault>& faults = endpoint.model().faults;
    endpoint.downs_changed(world_.t);
    for (std::uint32_t n = 0; n < faults.size(); ++n) {
      if (!std::holds_alternative<ColdStartFault>(faults[n].kind)) continue;
      world_.record.fault_active_anew(server, n, std::max(world_.t, faults[n].from),
                                      std::min(endpoint.cold_until(n), faults[n].to));
    }
  }

  const Scenario& scenario_;
  const RunHooks& hooks_;
  World world_;
  Pipeline pipeline_;
  Probes probes_;
  std::vector<Boundary> boundaries_;
};

}  // namespace

Timeline simulate(const Scenario& scenario, const RunHooks& hooks) {
  return Simulation(scenario, hooks).run();
}

}  // namespace halfopen::sim
