#include "sim/endpoint_model.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <variant>

namespace halfopen::sim {
namespace {

// How much of a latency fault counts yet: all of it without a ramp, or after it.
double ramped(const Fault& fault, const LatencyFault& slow, Nanos t) {
  const Nanos since = t - fault.from;
  return since < slow.ramp ? static_cast<double>(since) / static_cast<double>(slow.ramp) : 1.0;
}

}  // namespace

EndpointModel::EndpointModel(const ServerModel& model, std::uint64_t seed)
    : model_(&model), phases_(model.faults.size()), scripted_(model.faults.size(), 0) {
  for (std::size_t n = 0; n < model.faults.size(); ++n) {
    streams_.emplace_back(seed, "fault:" + model.name + "/" + std::to_string(model.faults[n].number));
    fails_.push_back(makes_fail(model.faults[n].kind) &&
                     !std::holds_alternative<OutcomesFault>(model.faults[n].kind));
    can_go_down_ |= takes_down(model.faults[n]);
    can_be_cold_ |= std::holds_alternative<ColdStartFault>(model.faults[n].kind);
  }
  can_be_cold_ &= can_go_down_;
}

ServerAnswer EndpointModel::judge_with_faults(Nanos t, const AttemptKey& key, const Stream& service) {
  ServerAnswer answer;
  answer.met_failing = meets_failing(t, key.probe);
  DownKind down{};
  if (down_decides(t, key.probe, down)) {
    switch (down) {
      case DownKind::refused:
        answer.manner = ServerAnswer::Manner::at_once;
        answer.outcome = Outcome::error(TransportError::refused);
        break;
      case DownKind::reset:
        answer.manner = ServerAnswer::Manner::reset;
        answer.outcome = Outcome::error(TransportError::reset);
        answer.latency = to_nanos(latency_ms(t, key, service));
        break;
      case DownKind::timeout: answer.manner = ServerAnswer::Manner::never_accept; break;
    }
    return answer;
  }
  if (key.tcp_probe) {
    answer.manner = ServerAnswer::Manner::at_once;
    return answer;
  }
  const bool scripted = script_decides(t, key, answer);
  answer.latency = to_nanos(latency_ms(t, key, service));
  if (scripted)
    answer.met_failing |= answer.outcome.is_failure();
  else
    draw_faults(t, key, answer);
  return answer;
}

std::uint32_t EndpointModel::concurrency(Nanos t, bool probe) const {
  double effective = model_->capacity->concurrency;
  for (const Fault& fault : model_->faults) {
    const auto* brownout = std::get_if<BrownoutFault>(&fault.kind);
    if (brownout != nullptr && active(fault, t) && in_scope(fault, probe))
      effective *= brownout->capacity_factor;
  }
  return static_cast<std::uint32_t>(std::clamp(std::floor(effective), 1.0, 4294967295.0));
}

Nanos EndpointModel::phase_length(std::uint32_t fault, std::uint64_t phase) const {
  if (const auto* bursts = std::get_if<BurstsFault>(&model_->faults[fault].kind)) {
    const double mean_ms = phase % 2 == 0 ? bursts->mean_good_ms : bursts->mean_bad_ms;
    return to_nanos(-mean_ms * real::ln(1.0 - streams_[fault].unit(phase)));
  }
  const auto& flap = std::get<FlapFault>(model_->faults[fault].kind);
  const Nanos length = phase % 2 == 0 ? flap.up : flap.down;
  if (flap.jitter_ms == 0) return length;
  return length + floor_nanos(streams_[fault].unit(phase) * flap.jitter_ms * 1e6);
}

// (1) The first active `down`, or the down phase of a flap, in file order.
bool EndpointModel::down_decides(Nanos t, bool probe, DownKind& kind) const {
  if (!can_go_down_) return false;
  for (std::size_t n = 0; n < model_->faults.size(); ++n) {
    const Fault& fault = model_->faults[n];
    if (!active(fault, t) || !in_scope(fault, probe)) continue;
    if (const auto* down = std::get_if<DownFault>(&fault.kind)) {
      kind = down->kind;
      return true;
    }
    if (const auto* flap = std::get_if<FlapFault>(&fault.kind); flap != nullptr && phases_[n].bad) {
      kind = flap->kind;
      return true;
    }
  }
  return false;
}

// (2) The n-th traffic attempt since `from` that no `down` decided gets the n-th entry of each active list;
// the first list that still has one decides.
bool EndpointModel::script_decides(Nanos t, const AttemptKey& key, ServerAnswer& answer) {
  if (key.probe) return false;
  bool decided = false;
  for (std::size_t n = 0; n < model_->faults.size(); ++n) {
    const Fault& fault = model_->faults[n];
    const auto* script = std::get_if<OutcomesFault>(&fault.kind);
    if (script == nullptr || !active(fault, t)) continue;
    const std::uint64_t place = scripted_[n]++;
    if (decided || place >= script->list.size()) continue;
    decided = true;
    const std::uint16_t status = script->list[place].status;
    answer.outcome = status == 0 ? Outcome::error(TransportError::reset) : Outcome::http(status);
  }
  return decided;
}

// (3) The draw, times all factors in file order, then plus the adds in file order.
double EndpointModel::latency_ms(Nanos t, const AttemptKey& key, const Stream& service) const {
  double ms = base_latency_ms(key, service);
  for (const Fault& fault : model_->faults) {
    if (!active(fault, t) || !in_scope(fault, key.probe)) continue;
    if (const auto* brownout = std::get_if<BrownoutFault>(&fault.kind)) ms *= brownout->latency_factor;
    if (const auto* slow = std::get_if<LatencyFault>(&fault.kind))
      ms *= 1 + (slow->factor - 1) * ramped(fault, *slow, t);
    if (const auto* cold = std::get_if<ColdStartFault>(&fault.kind);
        cold != nullptr && t < cold_until(*cold, key.probe)) {
      ms *= cold->latency_factor;
    }
  }
  for (const Fault& fault : model_->faults) {
    const auto* slow = std::get_if<LatencyFault>(&fault.kind);
    if (slow != nullptr && active(fault, t) && in_scope(fault, key.probe))
      ms += slow->add_ms * ramped(fault, *slow, t);
  }
  return ms;
}

void EndpointModel::downs_changed(Nanos t) {
  for (const bool probe : {false, true}) {
    Presence& presence = presences_[probe];
    DownKind kind{};
    const bool was_down = std::exchange(presence.down, down_decides(t, probe, kind));
    if (was_down && !presence.down) presence.back = t;
  }
}

Nanos EndpointModel::cold_until(const ColdStartFault& fault, bool probe) const {
  const Presence& presence = presences_[probe];
  return presence.down || presence.back == NEVER ? 0 : presence.back + fault.length;
}

Nanos EndpointModel::cold_until(std::uint32_t number) const {
  const Fault& fault = model_->faults[number];
  Nanos until = 0;
  for (const bool probe : {false, true}) {
    if (in_scope(fault, probe))
      until = std::max(until, cold_until(std::get<ColdStartFault>(fault.kind), probe));
  }
  return until;
}

// A flap is at work while it is down, bursts while they are bad.
bool EndpointModel::meets_failing(Nanos t, bool probe) const {
  for (std::size_t n = 0; n < fails_.size(); ++n) {
    const Fault& fault = model_->faults[n];
    if (!fails_[n] || !active(fault, t) || !in_scope(fault, probe)) continue;
    if (!has_phases(fault) || phases_[n].bad) return true;
  }
  return false;
}

bool EndpointModel::hits(std::uint32_t fault, double ratio, const AttemptKey& key) const {
  return streams_[fault].unit(key.index, key.tryn, key.attempt, key.entry, key.kind()) < ratio;
}

// (5) errors in file order, a draw each, the first hit wins; (6) hang; (7) truncate. An attempt that was
// answered with an error neither hangs nor is truncated, one that hangs is not truncated.
void EndpointModel::draw_faults(Nanos t, const AttemptKey& key, ServerAnswer& answer) const {
  std::uint32_t hang = UINT32_MAX, truncate = UINT32_MAX;
  for (std::uint32_t n = 0; n < model_->faults.size(); ++n) {
    const Fault& fault = model_->faults[n];
    if (!active(fault, t) || !in_scope(fault, key.probe)) continue;
    double ratio = 0;
    std::uint16_t status = 0;
    if (const auto* error = std::get_if<ErrorFault>(&fault.kind)) {
      ratio = error->ratio;
      status = error->status;
    } else if (const auto* brownout = std::get_if<BrownoutFault>(&fault.kind)) {
      ratio = brownout->error_ratio;
      status = brownout->status;
    } else if (const auto* bursts = std::get_if<BurstsFault>(&fault.kind)) {
      if (!phases_[n].bad) continue;
      ratio = bursts->error_ratio;
      status = bursts->status;
    } else if (const auto* hanging = std::get_if<HangFault>(&fault.kind)) {
      if (hang == UINT32_MAX && hits(n, hanging->ratio, key)) hang = n;
    } else if (const auto* cut = std::get_if<TruncateFault>(&fault.kind)) {
      if (truncate == UINT32_MAX && hits(n, cut->ratio, key)) truncate = n;
    }
    if (status != 0 && hits(n, ratio, key)) {
      answer.outcome = Outcome::http(status);
      return;
    }
  }
  if (hang != UINT32_MAX)
    answer.manner = ServerAnswer::Manner::hang;
  else
    answer.truncated = truncate != UINT32_MAX && !key.probe;
}

}  // namespace halfopen::sim
