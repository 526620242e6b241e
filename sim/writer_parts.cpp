#include "sim/writer_parts.hpp"

#include <variant>

#include "core/hash.hpp"
#include "sim/because.hpp"
#include "sim/metrics.hpp"
#include "sim/number_format.hpp"

#ifndef HALFOPEN_VERSION
#define HALFOPEN_VERSION "0.0.0"  // built outside CMake
#endif

namespace halfopen::sim {

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
  ObjectWriter because(object.key("because"));
  tell_because(because, event);
  because.close();
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
