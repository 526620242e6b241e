#include "sim/writer_parts.hpp"

#include <variant>

#include "core/hash.hpp"
#include "sim/metrics.hpp"
#include "sim/number_format.hpp"

#ifndef HALFOPEN_VERSION
#define HALFOPEN_VERSION "0.0.0"  // built outside CMake
#endif

namespace halfopen::sim {

namespace {

double ratio_of(const Because& because) {
  if (because.volume == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(because.failures) / static_cast<double>(because.volume);
}

void append_judged_counts(ObjectWriter& object, const Because& because) {
  object.uint("streak", because.streak);
  object.uint("threshold", because.threshold);
  object.uint("volume", because.volume);
  object.uint("failures", because.failures);
  object.number("ratio", ratio_of(because));
  object.number("limit", because.limit);
  object.uint("min_volume", because.min_volume);
  object.uint("for_ms", because.for_ms);
}

void append_recovery_counts(ObjectWriter& object, const Because& because, Via via) {
  object.uint("streak", because.streak);
  object.uint("volume", because.volume);
  object.uint("failures", because.failures);
  if (via != Via::active_probe) return;
  object.uint("successes", because.successes);
  object.uint("threshold", because.threshold);
}

void append_because(std::string& out, const TimelineEvent& event) {
  ObjectWriter object(out);
  switch (event.type) {
    case EventType::endpoint_ejected:
    case EventType::breaker_opened: append_judged_counts(object, event.because); break;
    case EventType::endpoint_half_open:
    case EventType::breaker_half_open: object.uint("slots", event.because.slots); break;
    case EventType::endpoint_recovered: append_recovery_counts(object, event.because, event.via); break;
    case EventType::breaker_closed:
      object.uint("volume", event.because.volume);
      object.uint("failures", event.because.failures);
      break;
  }
  object.close();
}

}  // namespace

std::string_view version() noexcept { return HALFOPEN_VERSION; }

std::string& ObjectWriter::key(std::string_view name) {
  if (!first_) {
    out_ += separator_;
  } else if (separator_.size() > 1) {
    out_ += separator_.substr(1);
  }
  first_ = false;
  out_ += '"';
  out_ += name;
  out_ += "\":";
  return out_;
}

void ObjectWriter::text(std::string_view name, std::string_view value) {
  append_json_string(key(name), value);
}
void ObjectWriter::uint(std::string_view name, std::uint64_t value) { append_uint(key(name), value); }
void ObjectWriter::ms(std::string_view name, Nanos value) { append_ms(key(name), value); }
void ObjectWriter::number(std::string_view name, double value) { append_double(key(name), value); }
void ObjectWriter::flag(std::string_view name, bool value) { key(name) += value ? "true" : "false"; }
void ObjectWriter::null(std::string_view name) { key(name) += "null"; }

void ObjectWriter::close() {
  if (!first_ && separator_.size() > 1) out_ += separator_.substr(1);
  out_ += '}';
}

void append_event_members(ObjectWriter& object, std::string_view upstream, std::string_view endpoint,
                          const TimelineEvent& event) {
  object.text("type", to_string(event.type));
  object.text("upstream", upstream);
  if (!endpoint.empty()) object.text("endpoint", endpoint);
  if (event.rule != Rule::none) object.text("rule", to_string(event.rule));
  if (event.via != Via::none) object.text("via", to_string(event.via));
  append_because(object.key("because"), event);
}

void append_event(std::string& out, const Timeline& timeline, const TimelineEvent& event) {
  ObjectWriter object(out);
  object.ms("t_ms", event.t);
  std::string_view endpoint;
  if (event.endpoint >= 0) endpoint = timeline.lanes[static_cast<std::size_t>(event.endpoint)].endpoint;
  append_event_members(object, timeline.upstream_names[event.upstream], endpoint, event);
  object.close();
}

std::uint64_t fingerprint(const Timeline& timeline) {
  StableHash hash;
  std::string line;
  for (const TimelineEvent& event : timeline.events) {
    line.clear();
    append_event(line, timeline, event);
    line += '\n';
    hash.add(line);
  }
  return hash.finish();
}

void append_meta(ObjectWriter& object, const Timeline& timeline) {
  object.text("name", timeline.name);
  object.text("question", timeline.question);
  object.uint("seed", timeline.seed);
  object.text("version", version());
  object.text("digest", hex16(timeline.digest));
  object.text("fingerprint", hex16(fingerprint(timeline)));
  object.ms("duration_ms", timeline.duration);
  object.ms("sample_ms", timeline.sample);
}

void append_summary(ObjectWriter& object, const Timeline& timeline) {
  for (const Metric& metric : metrics()) {
    const MetricValue value = measure(metric, timeline);
    if (const auto* count = std::get_if<std::uint64_t>(&value)) {
      object.uint(metric.name, *count);
    } else if (metric.unit == "ms") {
      append_double_ms(object.key(metric.name), std::get<double>(value));
    } else {
      object.number(metric.name, std::get<double>(value));
    }
  }
}

void append_judgement(ObjectWriter& object, const Judgement& judgement) {
  object.flag("held", judgement.held);
  const std::string& written = judgement.expectation->text;
  object.key("expect") += written.empty() ? "null" : written;
  object.text("expected", judgement.expected);
  object.text("got", judgement.got);
}

}  // namespace halfopen::sim
