#include "sim/writer_trace_parts.hpp"

#include <fmt/core.h>

#include "sim/number_format.hpp"

namespace halfopen::sim {

void append_us(std::string& out, Nanos t) {
  append_uint(out, t / 1000);
  if (t % 1000 == 0) return;
  out += fmt::format(".{:03}", t % 1000);
  while (out.back() == '0') out.pop_back();
}

// ---- events -----------------------------------------------------------------------------------------------

std::string& TraceEvents::next() {
  out_ += first_ ? "\n" : ",\n";
  first_ = false;
  return out_;
}

ObjectWriter TraceEvents::timed(char phase, const TracePlace& place, Nanos t, std::string_view name) {
  ObjectWriter object(next());
  object.text("ph", std::string_view(&phase, 1));
  object.uint("pid", place.pid);
  if (place.tid != 0) object.uint("tid", place.tid);
  append_us(object.key("ts"), t);
  object.text("name", name);
  return object;
}

ObjectWriter TraceEvents::slice(const TracePlace& place, Nanos from, Nanos to, std::string_view name,
                                std::string_view category) {
  ObjectWriter object = timed('X', place, from, name);
  append_us(object.key("dur"), to - from);
  object.text("cat", category);
  return object;
}

void TraceEvents::name(const TracePlace& place, std::string_view name, std::uint32_t number) {
  const std::string kind = place.tid == 0 ? "process" : "thread";
  for (const char* what : {"_name", "_sort_index"}) {
    ObjectWriter object(next());
    object.text("ph", "M");
    object.uint("pid", place.pid);
    if (place.tid != 0) object.uint("tid", place.tid);
    object.text("name", kind + what);
    ObjectWriter args(object.key("args"));
    if (std::string_view(what) == "_name")
      args.text("name", fmt::format("{:02} {}", number, name));
    else
      args.uint("sort_index", number);
    args.close();
    object.close();
  }
}

// ---- places -----------------------------------------------------------------------------------------------

TracePlaces::TracePlaces(const Timeline& timeline) {
  std::uint32_t pid = 0;
  run.pid = ++pid;
  for (std::size_t i = 0; i < timeline.upstream_names.size(); ++i) upstreams.push_back({++pid, 0});
  injected.pid = ++pid;
  std::uint32_t tid = pid;
  changes = {run.pid, ++tid};
  for (const EndpointLane& lane : timeline.lanes) {
    lanes.push_back({upstreams[lane.upstream].pid, ++tid});
    failures.push_back({upstreams[lane.upstream].pid, ++tid});
  }
  for (const BreakerLane& lane : timeline.breakers) {
    breakers[lane.upstream] = {upstreams[lane.upstream].pid, ++tid};
  }
  // A breaker whose states all lasted no time has events, but no lane.
  for (const TimelineEvent& event : timeline.events) {
    if (event.endpoint >= 0 || breakers.contains(event.upstream)) continue;
    breakers[event.upstream] = {upstreams[event.upstream].pid, ++tid};
  }
  for (std::size_t i = 0; i < timeline.faults.size(); ++i) faults.push_back({injected.pid, ++tid});
}

const TracePlace& TracePlaces::of(const TimelineEvent& event) const {
  return event.endpoint < 0 ? breakers.at(event.upstream) : lanes[static_cast<std::size_t>(event.endpoint)];
}

}  // namespace halfopen::sim
