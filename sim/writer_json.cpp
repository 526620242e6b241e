#include "sim/writer_json.hpp"

#include "sim/event_text.hpp"
#include "sim/number_format.hpp"

namespace halfopen::sim {

namespace {

constexpr std::string_view LINE_PER_MEMBER = ",\n";

// `[` and one item a line and `]`; `[]` when there is none.
template <class List, class Append>
void append_lines(std::string& out, const List& list, Append append) {
  out += '[';
  bool first = true;
  for (const auto& item : list) {
    out += first ? "\n" : ",\n";
    first = false;
    append(item);
  }
  out += first ? "]" : "\n]";
}

template <class List, class Append>
void append_row(std::string& out, const List& list, Append append) {
  out += '[';
  bool first = true;
  for (const auto& item : list) {
    if (!first) out += ',';
    first = false;
    append(item);
  }
  out += ']';
}

void append_lane(std::string& out, const std::vector<Interval>& intervals) {
  append_row(out, intervals, [&out](const Interval& interval) {
    ObjectWriter object(out);
    object.ms("from_ms", interval.from);
    object.ms("to_ms", interval.to);
    object.text("state", lane_state_name(interval.state));
    if (interval.eligible) object.ms("eligible_ms", *interval.eligible);
    object.close();
  });
}

void append_fault_lane(std::string& out, const FaultLane& fault) {
  ObjectWriter object(out);
  object.text("endpoint", fault.endpoint);
  object.uint("fault", fault.fault);
  object.text("kind", fault.kind);
  object.text("scope", scope_name(fault.scope));
  append_row(object.key("lane"), fault.intervals, [&out](const Interval& interval) {
    out += '[';
    append_ms(out, interval.from);
    out += ',';
    append_ms(out, interval.to);
    out += ']';
  });
  object.close();
}

void append_intervals(std::string& out, const Timeline& timeline) {
  ObjectWriter intervals(out, LINE_PER_MEMBER);
  append_lines(intervals.key("endpoints"), timeline.lanes, [&](const EndpointLane& lane) {
    ObjectWriter object(out);
    object.text("upstream", timeline.upstream_names[lane.upstream]);
    object.text("endpoint", lane.endpoint);
    append_lane(object.key("lane"), lane.intervals);
    object.close();
  });
  append_lines(intervals.key("breakers"), timeline.breakers, [&](const BreakerLane& lane) {
    ObjectWriter object(out);
    object.text("upstream", timeline.upstream_names[lane.upstream]);
    append_lane(object.key("lane"), lane.intervals);
    object.close();
  });
  append_lines(intervals.key("faults"), timeline.faults,
               [&](const FaultLane& f) { append_fault_lane(out, f); });
  intervals.close();
}

using Counts = std::vector<std::uint64_t>;

void append_column(ObjectWriter& object, std::string_view name, const Counts& column) {
  std::string& out = object.key(name);
  append_row(out, column, [&out](std::uint64_t value) { append_uint(out, value); });
}

void append_column(ObjectWriter& object, std::string_view name, const std::vector<double>& column) {
  std::string& out = object.key(name);
  append_row(out, column, [&out](double value) { append_double_ms(out, value); });
}

void append_column(ObjectWriter& object, std::string_view name, const std::vector<std::int8_t>& states) {
  std::string& out = object.key(name);
  append_row(out, states, [&out](std::int8_t state) {
    if (state < 0) {
      out += "null";
    } else {
      append_json_string(out, lane_state_name(static_cast<LaneState>(state)));
    }
  });
}

void append_endpoint_columns(std::string& out, const Timeline& timeline, const EndpointLane& lane) {
  ObjectWriter object(out, LINE_PER_MEMBER);
  object.text("upstream", timeline.upstream_names[lane.upstream]);
  object.text("endpoint", lane.endpoint);
  append_column(object, "attempts", lane.attempts);
  append_column(object, "failures", lane.failures);
  append_column(object, "state", lane.state);
  object.close();
}

void append_series(std::string& out, const Timeline& timeline) {
  const Series& series = timeline.series;
  ObjectWriter object(out, LINE_PER_MEMBER);
  append_column(object, "requests", series.requests);
  append_column(object, "ok", series.ok);
  append_column(object, "failed", series.failed);
  append_column(object, "fast_failed", series.fast_failed);
  append_column(object, "retried", series.retried);
  append_column(object, "fail_open_picks", series.fail_open_picks);
  append_column(object, "latency_p50_ms", series.latency_p50_ms);
  append_column(object, "latency_p95_ms", series.latency_p95_ms);
  append_column(object, "latency_p99_ms", series.latency_p99_ms);
  append_column(object, "in_flight", series.in_flight);
  append_lines(object.key("endpoints"), timeline.lanes,
               [&](const EndpointLane& lane) { append_endpoint_columns(out, timeline, lane); });
  object.close();
}

template <class Append>
void append_section(ObjectWriter& document, std::string& out, std::string_view name, Append append) {
  document.key(name);
  ObjectWriter section(out, LINE_PER_MEMBER);
  append(section);
  section.close();
}

}  // namespace

std::string timeline_json(const Timeline& timeline, const std::vector<Judgement>& judgements) {
  std::string out;
  ObjectWriter document(out, LINE_PER_MEMBER);
  document.text("format", TIMELINE_FORMAT);
  append_section(document, out, "meta", [&](ObjectWriter& meta) { append_meta(meta, timeline); });
  append_lines(document.key("events"), timeline.events,
               [&](const TimelineEvent& event) { append_event(out, timeline, event); });
  append_intervals(document.key("intervals"), timeline);
  append_series(document.key("series"), timeline);
  append_section(document, out, "summary", [&](ObjectWriter& s) { append_summary(s, timeline); });
  append_lines(document.key("expectations"), judgements, [&out](const Judgement& judgement) {
    ObjectWriter object(out);
    append_judgement(object, judgement);
    object.close();
  });
  document.close();
  out += '\n';
  return out;
}

std::string without_version(std::string_view json) {
  // Strings hold no raw line end, so no name or question can look like the start of this line.
  constexpr std::string_view KEY = "\n\"version\":";
  const std::size_t found = json.find(KEY);
  if (found == std::string_view::npos) return std::string(json);
  const std::size_t value = found + KEY.size();
  std::string out(json.substr(0, value));
  const std::size_t end = json.find('\n', value);
  if (end != std::string_view::npos) out += json.substr(end);
  return out;
}

}  // namespace halfopen::sim
