// The JSON lines of `watch`.
#include "sim/cli_probe_json.hpp"
#include "sim/cli_watch_writer.hpp"
#include "sim/number_format.hpp"
#include "sim/writer_parts.hpp"

namespace halfopen::sim {

namespace {

constexpr std::string_view WATCH_FORMAT = "halfopen.watch/1";

template <class List, class Append>
void append_list(std::string& out, const List& list, Append&& append) {
  out += '[';
  bool first = true;
  for (const auto& element : list) {
    if (!first) out += ',';
    first = false;
    append(element);
  }
  out += ']';
}

// One line: its time, its type unless an event brings one, and what `members` adds.
template <class Members>
std::string line(const WatchTime& time, std::string_view type, Members&& members) {
  std::string out;
  ObjectWriter object(out);
  object.uint("time", time.at.ms);
  object.ms("t_ms", time.since / 1000 * 1000);
  if (!type.empty()) object.text("type", type);
  members(object);
  object.close();
  return out + '\n';
}

void append_names(ObjectWriter& object, const EventSubject& subject) {
  object.text("upstream", subject.upstream);
  object.text("endpoint", subject.endpoint);
}

void append_upstream(std::string& out, const UpstreamConfig& upstream) {
  ObjectWriter object(out);
  object.text("name", upstream.name);
  append_list(object.key("endpoints"), upstream.endpoints,
              [&out](const EndpointConfig& endpoint) { append_json_string(out, endpoint.name()); });
  const ActiveParams& active = *upstream.active_health;
  object.text("kind", to_string(active.kind));
  if (active.kind == ProbeKind::http) object.text("path", active.path);
  object.uint("interval_ms", active.interval_ms);
  object.uint("jitter_ms", active.jitter_ms);
  object.uint("timeout_ms", active.timeout_ms);
  object.uint("failure_threshold", active.failure_threshold);
  object.uint("success_threshold", active.success_threshold);
  object.uint("eject_ms", upstream.health->eject_ms);
  object.close();
}

void append_plan(ObjectWriter& object, const WatchPlan& plan) {
  std::vector<const UpstreamConfig*> watched, others;
  for (const UpstreamConfig& upstream : plan.upstreams) {
    (upstream.active_health ? watched : others).push_back(&upstream);
  }
  object.text("file", plan.file);
  std::string& out = object.key("upstreams");
  append_list(out, watched, [&out](const UpstreamConfig* upstream) { append_upstream(out, *upstream); });
  append_list(object.key("not_watched"), others,
              [&out](const UpstreamConfig* upstream) { append_json_string(out, upstream->name); });
}

void append_endpoint(std::string& out, const WatchEnd::Endpoint& endpoint, Nanos now) {
  const WatchTally& tally = endpoint.tally;
  ObjectWriter object(out);
  object.text("upstream", tally.upstream);
  object.text("endpoint", tally.endpoint);
  object.uint("probes", tally.probes);
  object.uint("failed", tally.failed);
  object.uint("no_verdict", tally.no_verdict);
  object.flag("watched", tally.watched);
  object.flag("gave_up", tally.gave_up);
  object.uint("ejections", tally.ejections);
  object.uint("recoveries", tally.recoveries);
  object.ms("out_ms", tally.out_until(now) / 1000 * 1000);
  if (endpoint.state) {
    object.text("state", to_string(*endpoint.state));
  } else {
    object.null("state");
  }
  object.close();
}

class JsonLines final : public WatchWriter {
 public:
  explicit JsonLines(bool verdicts) : verdicts_(verdicts) {}

  std::string begun(const WatchPlan& plan, const WatchTime& time) override {
    return line(time, "watch", [&](ObjectWriter& object) {
      object.text("format", WATCH_FORMAT);
      object.text("version", version());
      append_plan(object, plan);
    });
  }

  std::string note(const WatchNote& note) override {
    if (!note.report) {
      return line(note.time, "no_verdict", [&](ObjectWriter& object) {
        append_names(object, note.subject);
        object.text("what", note.what);
        object.uint("in_a_row", note.in_a_row);
        object.flag("gave_up", note.gave_up());
      });
    }
    std::string out;
    if (verdicts_) {
      out = line(note.time, "probe", [&](ObjectWriter& object) {
        append_names(object, note.subject);
        append_probe(object, *note.report);
      });
    }
    for (const Event& event : note.events) {
      out += line(note.time, "", [&](ObjectWriter& object) {
        append_event_members(object, event.subject->upstream, event.subject->endpoint,
                             timeline_event(event, note.time.since));
        ObjectWriter probe(object.key("last_probe"));
        append_probe(probe, *note.report);
        probe.close();
      });
    }
    return out;
  }

  std::string reloaded(const WatchPlan& plan, const WatchChange& change, const WatchTime& time) override {
    return line(time, "reloaded", [&](ObjectWriter& object) {
      object.uint("added", change.added);
      object.uint("removed", change.removed);
      append_plan(object, plan);
    });
  }

  std::string refused(const std::vector<std::string>& why, const WatchTime& time) override {
    return line(time, "reload_refused", [&](ObjectWriter& object) {
      std::string& out = object.key("mistakes");
      append_list(out, why, [&out](const std::string& mistake) { append_json_string(out, mistake); });
    });
  }

  std::string ended(const WatchEnd& end) override {
    return line(end.time, "summary", [&](ObjectWriter& object) {
      object.uint("dropped_events", end.dropped_events);
      object.uint("dropped_lines", end.dropped_lines);
      std::string& out = object.key("endpoints");
      append_list(out, end.endpoints, [&](const WatchEnd::Endpoint& endpoint) {
        append_endpoint(out, endpoint, end.time.since);
      });
    });
  }

 private:
  bool verdicts_;
};

}  // namespace

std::unique_ptr<WatchWriter> watch_json(bool verdicts) { return std::make_unique<JsonLines>(verdicts); }

}  // namespace halfopen::sim
