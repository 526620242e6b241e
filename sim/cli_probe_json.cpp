#include "sim/cli_probe_json.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace halfopen::sim {

namespace {

void append_text(ObjectWriter& object, std::string_view name, const std::string& text) {
  if (text.empty()) {
    object.null(name);
  } else {
    object.text(name, text);
  }
}

void append_time(ObjectWriter& object, std::string_view name, std::optional<ProbeTime> time) {
  if (!time) {
    object.null(name);
    return;
  }
  const auto micros = std::chrono::round<std::chrono::microseconds>(std::max(*time, ProbeTime{0}));
  object.ms(name, static_cast<Nanos>(ProbeTime(micros).count()));
}

}  // namespace

void append_probe(ObjectWriter& object, const ProbeReport& report) {
  object.text("end", to_string(report.end));
  object.flag("ok", report.ok());
  // 000 has the shape of a status as well.
  if (report.status != 0 || report.end == ProbeEnd::status) {
    object.uint("status", report.status);
  } else {
    object.null("status");
  }
  append_text(object, "detail", report.detail);
  append_text(object, "peer", report.peer);
  append_time(object, "look_up_ms", report.look_up);
  append_time(object, "connect_ms", report.connect);
  append_time(object, "tls_ms", report.tls);
  append_time(object, "response_ms", report.response);
  append_time(object, "total_ms", report.total);
}

}  // namespace halfopen::sim
