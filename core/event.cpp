#include "core/event.hpp"

namespace halfopen {

const char* to_string(EventType type) noexcept {
  switch (type) {
    case EventType::endpoint_ejected: return "endpoint_ejected";
    case EventType::endpoint_half_open: return "endpoint_half_open";
    case EventType::endpoint_recovered: return "endpoint_recovered";
    case EventType::breaker_opened: return "breaker_opened";
    case EventType::breaker_half_open: return "breaker_half_open";
    case EventType::breaker_closed: return "breaker_closed";
  }
  return "";
}

const char* to_string(Rule rule) noexcept {
  switch (rule) {
    case Rule::none: return "";
    case Rule::consecutive_failures: return "consecutive_failures";
    case Rule::failure_ratio: return "failure_ratio";
    case Rule::error_ratio: return "error_ratio";
    case Rule::half_open_probe_failed: return "half_open_probe_failed";
  }
  return "";
}

const char* to_string(Via via) noexcept {
  switch (via) {
    case Via::none: return "";
    case Via::half_open_probe: return "half_open_probe";
    case Via::active_probe: return "active_probe";
    case Via::fail_open: return "fail_open";
    case Via::late_report: return "late_report";
  }
  return "";
}

}  // namespace halfopen
