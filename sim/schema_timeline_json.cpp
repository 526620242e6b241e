// The schema of halfopen.timeline/1: what timeline_json writes, for whoever reads it.
#include <nlohmann/json.hpp>
#include <string_view>

#include "sim/metrics.hpp"
#include "sim/schema_json.hpp"

namespace halfopen::sim {
namespace {

using Schema = nlohmann::ordered_json;

// All but `summary`, whose metrics have a table of their own. `null`: no sample.
constexpr std::string_view FRAME = R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "title": "halfopen timeline",
  "type": "object",
  "additionalProperties": false,
  "required": ["format", "meta", "events", "intervals", "series", "summary", "expectations"],
  "properties": {
    "format": {"const": "halfopen.timeline/1"},
    "meta": {
      "type": "object", "additionalProperties": false,
      "required": ["name", "question", "seed", "version", "digest", "fingerprint", "duration_ms", "sample_ms"],
      "properties": {
        "name": {"type": "string"}, "question": {"type": "string"},
        "seed": {"type": "integer", "minimum": 0, "maximum": 18446744073709551615},
        "version": {"type": "string", "description": "Of halfopen; left out when timelines are compared."},
        "digest": {"$ref": "#/definitions/hash", "description": "Of the effective scenario."},
        "fingerprint": {"$ref": "#/definitions/hash", "description": "Of the event lines."},
        "duration_ms": {"$ref": "#/definitions/ms"}, "sample_ms": {"$ref": "#/definitions/ms"}
      }
    },
    "events": {"type": "array", "items": {"$ref": "#/definitions/event"}},
    "intervals": {
      "type": "object", "additionalProperties": false, "required": ["endpoints", "breakers", "faults"],
      "properties": {
        "endpoints": {"type": "array", "items": {
          "type": "object", "additionalProperties": false, "required": ["upstream", "endpoint", "lane"],
          "properties": {"upstream": {"type": "string"}, "endpoint": {"type": "string"}, "lane": {"$ref": "#/definitions/lane"}}}},
        "breakers": {"type": "array", "items": {
          "type": "object", "additionalProperties": false, "required": ["upstream", "lane"],
          "properties": {"upstream": {"type": "string"}, "lane": {"$ref": "#/definitions/lane"}}}},
        "faults": {"type": "array", "items": {
          "type": "object", "additionalProperties": false, "required": ["endpoint", "fault", "kind", "scope", "lane"],
          "properties": {
            "endpoint": {"type": "string"}, "fault": {"type": "integer", "minimum": 0},
            "kind": {"enum": ["error", "down", "latency", "brownout", "flap", "outcomes", "hang", "truncate", "bursts", "cold_start"]},
            "scope": {"enum": ["both", "traffic", "probes"]},
            "lane": {"type": "array", "items": {"type": "array", "items": {"$ref": "#/definitions/ms"}, "minItems": 2, "maxItems": 2}}}}}
      }
    },
    "series": {
      "type": "object", "additionalProperties": false,
      "description": "One value for each bin of meta.sample_ms, the last bin may be shorter.",
      "required": ["requests", "ok", "failed", "fast_failed", "retried", "fail_open_picks", "latency_p50_ms",
                   "latency_p95_ms", "latency_p99_ms", "in_flight", "endpoints"],
      "properties": {
        "requests": {"$ref": "#/definitions/counts"}, "ok": {"$ref": "#/definitions/counts"},
        "failed": {"$ref": "#/definitions/counts"}, "fast_failed": {"$ref": "#/definitions/counts"},
        "retried": {"$ref": "#/definitions/counts"}, "fail_open_picks": {"$ref": "#/definitions/counts"},
        "latency_p50_ms": {"$ref": "#/definitions/latencies"}, "latency_p95_ms": {"$ref": "#/definitions/latencies"},
        "latency_p99_ms": {"$ref": "#/definitions/latencies"}, "in_flight": {"$ref": "#/definitions/counts"},
        "endpoints": {"type": "array", "items": {
          "type": "object", "additionalProperties": false,
          "required": ["upstream", "endpoint", "attempts", "failures", "state"],
          "properties": {
            "upstream": {"type": "string"}, "endpoint": {"type": "string"},
            "attempts": {"$ref": "#/definitions/counts"}, "failures": {"$ref": "#/definitions/counts"},
            "state": {"type": "array", "items": {"enum": ["healthy", "ejected", "half_open", null]},
                      "description": "At the end of the bin; null: not configured."}}}}
      }
    },
    "summary": {},
    "expectations": {"type": "array", "items": {
      "type": "object", "additionalProperties": false, "required": ["held", "expect", "expected", "got"],
      "properties": {"held": {"type": "boolean"}, "expect": {}, "expected": {"type": "string"}, "got": {"type": "string"}}}}
  },
  "definitions": {
    "hash": {"type": "string", "pattern": "^[0-9a-f]{16}$"},
    "ms": {"type": "number", "minimum": 0},
    "counts": {"type": "array", "items": {"type": "integer", "minimum": 0}},
    "latencies": {"type": "array", "items": {"type": ["number", "null"], "minimum": 0}},
    "lane": {"type": "array", "items": {
      "type": "object", "additionalProperties": false, "required": ["from_ms", "to_ms", "state"],
      "properties": {
        "from_ms": {"$ref": "#/definitions/ms"}, "to_ms": {"$ref": "#/definitions/ms"},
        "state": {"enum": ["healthy", "ejected", "half_open", "closed", "open"]},
        "eligible_ms": {"$ref": "#/definitions/ms", "description": "Ejected: from when a pick may make it half-open."}}}},
    "event": {
      "type": "object", "additionalProperties": false, "required": ["t_ms", "type", "upstream"],
      "properties": {
        "t_ms": {"$ref": "#/definitions/ms"},
        "type": {"enum": ["endpoint_ejected", "endpoint_half_open", "endpoint_recovered", "breaker_opened", "breaker_half_open", "breaker_closed"]},
        "upstream": {"type": "string"}, "endpoint": {"type": "string"},
        "rule": {"enum": ["consecutive_failures", "failure_ratio", "error_ratio", "half_open_probe_failed"]},
        "via": {"enum": ["half_open_probe", "active_probe", "fail_open", "late_report"]},
        "because": {"type": "object", "additionalProperties": {"type": ["number", "null"]},
                    "description": "The counts as judged at the transition."}}}
  }
})json";

}  // namespace

std::string timeline_schema() {
  Schema root = Schema::parse(FRAME);
  Schema properties = Schema::object(), required = Schema::array();
  for (const Metric& metric : metrics()) {
    properties[std::string(metric.name)] = {{"type", {"number", "null"}}, {"description", metric.about}};
    required.push_back(metric.name);
  }
  root["properties"]["summary"] = {{"type", "object"},
                                   {"additionalProperties", false},
                                   {"required", std::move(required)},
                                   {"properties", std::move(properties)}};
  return root.dump(2) + '\n';
}

}  // namespace halfopen::sim
