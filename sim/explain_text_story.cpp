// What happened from the ejection on, and what the simulation knows about it.
#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "sim/event_text.hpp"
#include "sim/explain_text_parts.hpp"
#include "sim/outcome_text.hpp"
#include "sim/truth.hpp"
#include "sim/utf8.hpp"
#include "sim/virtual_clock.hpp"

namespace halfopen::sim {

namespace {

std::string sentence(std::string text) { return hanging("  ", text); }

// ---- meanwhile --------------------------------------------------------------------------------------------

std::string pieces_of(const Meanwhile& m) {
  std::string out;
  const auto add = [&out](std::uint64_t count, const char* noun) {
    if (count > 0) (out += out.empty() ? "" : ", ") += plural(count, noun);
  };
  add(m.refused, "request");
  if (m.refused > 0) out += " refused";
  add(m.fail_open, "fail-open pick");
  add(m.trials, "trial");
  if (const std::uint64_t late = m.late_ok + m.late_failed; late > 0) {
    add(late, "late report");
    out += fmt::format(" ({} ok, {} failed{})", grouped(m.late_ok), grouped(m.late_failed),
                       m.late_ignored > 0 ? ", ignored: " + grouped(m.late_ignored) : "");
  }
  if (const std::uint64_t probes = m.probes_ok + m.probes_failed; probes > 0) {
    add(probes, "probe");
    out += fmt::format(" ({} ok, {} failed)", grouped(m.probes_ok), grouped(m.probes_failed));
  }
  return out;
}

// ---- the way back -----------------------------------------------------------------------------------------

// The last ejected interval of the outage; its end is the pick that made it half-open.
const Interval* last_wait(const Told& told) {
  const Interval* out = nullptr;
  for (const Interval& state : states_of(told.timeline, told.what.subject)) {
    const bool waits = state.state == LaneState::ejected || state.state == LaneState::open;
    if (waits && state.from >= told.outage().from && state.from <= told.outage().to) out = &state;
  }
  return out;
}

const TimelineEvent* last_of(const Told& told, EventType type) {
  const TimelineEvent* out = nullptr;
  for (const std::size_t place : told.outage().events) {
    if (told.timeline.events[place].type == type) out = &told.timeline.events[place];
  }
  return out;
}

// From when a trial was possible; the lane of a breaker does not tell, so its last opening has to.
std::optional<Nanos> eligible_from(const Told& told, const Interval& wait) {
  const TimelineEvent* opened = last_of(told, EventType::breaker_opened);
  if (opened == nullptr) return wait.eligible;
  VirtualClock clock(told.scenario.clock);
  for (const ClockStep& step : clock.steps()) {
    if (step.at <= opened->t) clock.take_step();
  }
  const Instant until = clock.at(opened->t) + Duration{opened->because.for_ms};
  const Nanos when = clock.first_time_at(until, opened->t);
  if (when == NEVER) return std::nullopt;
  return when;
}

// The pick that makes it half-open may well choose another endpoint, so what counts is when a trial was sent.
std::string wait_text(const Told& told) {
  const Interval* wait = last_wait(told);
  const std::optional<Nanos> eligible = wait == nullptr ? std::nullopt : eligible_from(told, *wait);
  if (!eligible) return "";
  const bool breaker = told.what.subject.breaker;
  const std::string when = instant_text(*eligible);
  const auto& back = told.heard.back();
  if (told.outage().end == Outage::End::back && back && (back->trial || breaker) && back->sent >= *eligible) {
    if (back->sent == *eligible) {
      return fmt::format("A trial was possible from {} on; the one that succeeded was sent that instant.",
                         when);
    }
    return fmt::format("A trial was possible from {} on; the one that succeeded was sent {} later.", when,
                       length_text(back->sent - *eligible));
  }
  if (*eligible > told.outage().to || told.outage().end == Outage::End::back) {
    return fmt::format("A trial would have had to wait until {}.", when);
  }
  const bool asked = wait->to < told.outage().to;
  return fmt::format("A trial was possible from {} on, but {}.", when,
                     asked ? "none came to an end" : "nobody asked for one");
}

std::string back_text(const Told& told) {
  const auto& back = told.heard.back();
  if (told.outage().end != Outage::End::back || !back) return "";
  if (back->probe)
    return fmt::format("What brought it back: the probe that succeeded at {}.", instant_text(back->t));
  return fmt::format("What brought it back: {}, sent at {}{}, answered {} at {}.", request_text(told, *back),
                     instant_text(back->sent), back->late ? ", before it went out" : "",
                     outcome_text(back->outcome, back->body_broke), instant_text(back->t));
}

std::string event_list(const Told& told) {
  const auto& events = told.outage().events;
  const bool all = told.style.max_events == std::numeric_limits<std::size_t>::max();
  constexpr std::size_t FIRST = 6, LAST = 4;
  const std::size_t time_width = instant_text(told.outage().to).size();
  std::string out;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!all && events.size() > FIRST + LAST + 1 && i == FIRST) {
      out += fmt::format("  ... {} more events, shown with --all ...\n", events.size() - FIRST - LAST);
      i = events.size() - LAST;
    }
    const TimelineEvent& event = told.timeline.events[events[i]];
    out += hanging("  " + pad_left(instant_text(event.t), time_width) + "  ", reason_text(event));
  }
  return out;
}

// ---- truth ------------------------------------------------------------------------------------------------

std::string fault_text(const Fault& fault, const char* kind) {
  const bool script = std::holds_alternative<OutcomesFault>(fault.kind);
  std::string out = script ? "scripted outcomes" : kind;
  if (const auto* error = std::get_if<ErrorFault>(&fault.kind)) {
    out += fmt::format(" {} with {}", percent(error->ratio), error->status);
  }
  if (fault.to == NEVER) return out + " from " + instant_text(fault.from) + " on";
  return out + fmt::format(" from {} to {}", instant_text(fault.from), instant_text(fault.to));
}

// The failing faults of a server that were at work at some time of [from, to]. The timeline's fault lanes
// follow the servers' faults one by one, and know what each is called.
std::string faults_at(const Told& told, const std::string& endpoint, Nanos from, Nanos to) {
  std::string out;
  std::size_t lane = 0;
  for (const ServerModel& server : told.scenario.servers) {
    for (const Fault& fault : server.faults) {
      const char* kind = told.timeline.faults[lane++].kind.c_str();
      if (server.name != endpoint || !makes_fail(fault.kind) || fault.from > to || fault.to <= from) continue;
      (out += out.empty() ? "" : ", ") += fault_text(fault, kind);
    }
  }
  return out;
}

std::string endpoint_truth(const Told& told, const Heard& trigger) {
  const std::string name = printable(told.timeline.lanes[told.what.subject.lane].endpoint, told.style.ascii);
  switch (told.cause().truth) {
    case EjectionTruth::fault: {
      const std::string& endpoint = told.timeline.lanes[told.what.subject.lane].endpoint;
      const Nanos since = trigger.probe ? trigger.t : trigger.sent;
      const std::string faults = faults_at(told, endpoint, since, trigger.t);
      return fmt::format("It was right: {} was really failing{}.", name, faults.empty() ? "" : ": " + faults);
    }
    case EjectionTruth::overload:
      return fmt::format(
          "It was overload: no failing fault of {} had hit what decided, but it had queued or "
          "found the queue full.",
          name);
    case EjectionTruth::nothing:
      return fmt::format(
          "It was wrong: nothing was the matter with {}, neither a failing fault nor "
          "overload.",
          name);
  }
  return "";
}

}  // namespace

std::string until_back_section(const Told& told) {
  std::string out = heading(told, "What happened then") + event_list(told);
  if (const std::string pieces = pieces_of(told.heard.meanwhile()); !pieces.empty())
    out += sentence("Meanwhile: " + pieces + ".");
  if (const std::string wait = wait_text(told); !wait.empty()) out += sentence(wait);
  if (const std::string back = back_text(told); !back.empty()) out += sentence(back);
  return out + '\n';
}

std::string truth_section(const Told& told) {
  if (told.heard.led().empty()) return "";
  const Heard& trigger = told.heard.led().back();
  std::string out = heading(told, "What the simulation knows");
  if (!told.what.subject.breaker) return out + sentence(endpoint_truth(told, trigger)) + '\n';
  const Nanos from = told.heard.led().front().t;
  std::size_t told_of = 0;
  for (const EndpointLane& lane : told.timeline.lanes) {
    if (lane.upstream != told.what.subject.upstream) continue;
    const std::string faults = faults_at(told, lane.endpoint, from, trigger.t);
    if (faults.empty()) continue;
    if (++told_of > 8) continue;
    out += sentence(printable(lane.endpoint, told.style.ascii) + " was failing: " + faults + ".");
  }
  if (told_of > 8) out += sentence(fmt::format("{} more were failing.", plural(told_of - 8, "endpoint")));
  if (told_of == 0) out += sentence("No failing fault was at work on any endpoint.");
  return out + '\n';
}

}  // namespace halfopen::sim
