// Keys of the faults.
#include "sim/scenario_keys_parts.hpp"

namespace halfopen::sim::keys {
namespace {

constexpr std::string_view STATUS_ABOUT =
    "The HTTP status of the error; below 500 is no failure for the gateway.";

constexpr Key status_key(std::string_view example) {
  return {.name = "status",
          .type = KeyType::whole,
          .min = 100,
          .max = 599,
          .fallback = "503",
          .about = STATUS_ABOUT,
          .example = example};
}
constexpr Key ratio_key(std::string_view name, std::string_view about, std::string_view example) {
  return {
      .name = name, .type = KeyType::number, .max = 1, .required = true, .about = about, .example = example};
}
constexpr Key down_kind(std::string_view example) {
  return {.name = "kind",
          .type = KeyType::word,
          .refers = "refused|reset|timeout",
          .fallback = R"("refused")",
          .about = "refused: at once; reset: after the latency; timeout: never accepts.",
          .example = example};
}

constexpr Key FAULT_KEYS[] = {
    {.name = "from_ms",
     .type = KeyType::number,
     .max = LAST_MS,
     .fallback = "0",
     .about = "Begins; included.",
     .example = "/endpoints/*/faults/0/from_ms=250"},
    {.name = "to_ms",
     .type = KeyType::number,
     .max = LAST_MS,
     .about = "Ends; excluded. Default: the end of the run.",
     .example = "/endpoints/*/faults/0/to_ms=900"},
    {.name = "scope",
     .type = KeyType::word,
     .refers = "both|traffic|probes",
     .fallback = R"("both")",
     .about = "Whom it meets: a server that passes its check and fails its users is `traffic`.",
     .example = R"(/endpoints/*/faults/0/scope="traffic")"},
    {.name = "selection",
     .type = KeyType::own_shape,
     .refers = R"({"oneOf":[{"type":"array","minItems":1,"items":{"type":"string"}},)"
               R"({"type":"object","additionalProperties":false,"required":["percent"],)"
               R"("properties":{"percent":{"type":"number","exclusiveMinimum":0,"maximum":100}}},)"
               R"({"type":"object","additionalProperties":false,"required":["count"],)"
               R"("properties":{"count":{"type":"integer","minimum":1,"maximum":65536}}}]})",
     .about = "Of a fault of \"*\": which endpoints it hits, by name, or {percent} or {count} of them drawn "
              "from the "
              "seed. Default: all.",
     .example = R"(/endpoints/*/faults/0/selection={"count":1})"},
    {.name = "error",
     .type = KeyType::object,
     .refers = "error",
     .about = "A share of attempts is answered with a status.",
     .example = R"(/endpoints/*/faults/0={"error":{"ratio":0.6}})"},
    {.name = "down",
     .type = KeyType::object,
     .refers = "down",
     .about = "Nobody is served; who is in service is reset.",
     .example = R"(/endpoints/*/faults/0={"from_ms":500,"to_ms":800,"down":{"kind":"reset"}})"},
    {.name = "latency",
     .type = KeyType::object,
     .refers = "slow",
     .about = "Slower.",
     .example = R"(/endpoints/*/faults/0={"latency":{"add_ms":40}})"},
    {.name = "brownout",
     .type = KeyType::object,
     .refers = "brownout",
     .about = "Errors, latency and lost capacity together, as real ones come.",
     .example =
         R"(/endpoints/*/faults/0={"brownout":{"error_ratio":0.4,"latency_factor":3,"capacity_factor":0.5}})"},
    {.name = "flap",
     .type = KeyType::object,
     .refers = "flap",
     .about = "Up and down in turn, begins up.",
     .example = R"(/endpoints/*/faults/0={"flap":{"up_ms":300,"down_ms":100}})"},
    {.name = "bursts",
     .type = KeyType::object,
     .refers = "bursts",
     .about = "A good and a bad state in turn (Gilbert-Elliott), begins good, stays drawn exponentially.",
     .example =
         R"(/endpoints/*/faults/0={"bursts":{"mean_good_ms":300,"mean_bad_ms":60,"error_ratio":0.9}})"},
    {.name = "outcomes",
     .type = KeyType::own_shape,
     .refers = R"json({"type":"string","pattern":"^\\s*((F|S|reset|[1-5][0-9][0-9])(\\s+|$))+$"})json",
     .about = "A script: the n-th traffic attempt since from_ms that no `down` decided gets the n-th word, "
              "F (503), S (200), reset or a status; after the last one it no longer decides.",
     .example = R"(/endpoints/*/faults/0={"outcomes":"F F S 429 reset"})"},
    {.name = "hang",
     .type = KeyType::object,
     .refers = "share",
     .about = "Accepted, never answered.",
     .example = R"(/endpoints/*/faults/0={"hang":{"ratio":0.1}})"},
    {.name = "truncate",
     .type = KeyType::object,
     .refers = "share",
     .about = "Headers arrive, the body breaks off: a failure that is never retried.",
     .example = R"(/endpoints/*/faults/0={"truncate":{"ratio":0.1}})"},
    {.name = "cold_start",
     .type = KeyType::object,
     .refers = "cold_start",
     .about = "Slower for a while after every return from `down` or from a flap's down.",
     .example =
         R"(/endpoints/*/faults=[{"from_ms":500,"to_ms":800,"down":{}},{"cold_start":{"for_ms":200,"latency_factor":4}}])"},
};

constexpr Key ERROR_KEYS[] = {
    ratio_key("ratio", "The share.", R"(/endpoints/*/faults/0={"error":{"ratio":1}})"),
    status_key(R"(/endpoints/*/faults/0={"error":{"ratio":0.5,"status":429}})"),
};
constexpr Key DOWN_KEYS[] = {
    down_kind(R"(/endpoints/*/faults/0={"from_ms":500,"to_ms":800,"down":{"kind":"reset"}})")};
constexpr Key SLOW_KEYS[] = {
    {.name = "add_ms",
     .type = KeyType::number,
     .max = LAST_MS,
     .fallback = "0",
     .about = "Added after all factors.",
     .example = R"(/endpoints/*/faults/0={"latency":{"add_ms":30}})"},
    {.name = "factor",
     .type = KeyType::number,
     .max = 1e6,
     .fallback = "1",
     .about = "Multiplies the draw.",
     .example = R"(/endpoints/*/faults/0={"latency":{"factor":2.5}})"},
    {.name = "ramp_ms",
     .type = KeyType::number,
     .max = LAST_MS,
     .fallback = "0",
     .about = "How long both take to grow to their whole; there is no ramp back.",
     .example = R"(/endpoints/*/faults/0={"latency":{"factor":4,"ramp_ms":800}})"},
};
constexpr Key BROWNOUT_KEYS[] = {
    ratio_key(
        "error_ratio", "The share of attempts answered with an error.",
        R"(/endpoints/*/faults/0={"brownout":{"error_ratio":0.8,"latency_factor":1,"capacity_factor":1}})"),
    status_key(
        R"(/endpoints/*/faults/0={"brownout":{"error_ratio":0.8,"status":500,"latency_factor":1,"capacity_factor":1}})"),
    {.name = "latency_factor",
     .type = KeyType::number,
     .max = 1e6,
     .required = true,
     .about = "Multiplies the latency.",
     .example =
         R"(/endpoints/*/faults/0={"brownout":{"error_ratio":0.2,"latency_factor":5,"capacity_factor":1}})"},
    {.name = "capacity_factor",
     .type = KeyType::number,
     .max = 1e6,
     .required = true,
     .about = "Multiplies the concurrency, rounded down, never below 1.",
     .example =
         R"(/endpoints/*/faults/0={"brownout":{"error_ratio":0.2,"latency_factor":1,"capacity_factor":0.1}})"},
};
constexpr Key FLAP_KEYS[] = {
    {.name = "up_ms",
     .type = KeyType::number,
     .max = LAST_MS,
     .above_min = true,
     .required = true,
     .about = "Up for.",
     .example = R"(/endpoints/*/faults/0={"flap":{"up_ms":400,"down_ms":100}})"},
    {.name = "down_ms",
     .type = KeyType::number,
     .max = LAST_MS,
     .above_min = true,
     .required = true,
     .about = "Down for.",
     .example = R"(/endpoints/*/faults/0={"flap":{"up_ms":400,"down_ms":300}})"},
    {.name = "jitter_ms",
     .type = KeyType::number,
     .max = LAST_MS,
     .fallback = "0",
     .about = "Each phase lasts up to this much longer.",
     .example = R"(/endpoints/*/faults/0={"flap":{"up_ms":400,"down_ms":100,"jitter_ms":50}})"},
    down_kind(R"(/endpoints/*/faults/0={"flap":{"up_ms":400,"down_ms":100,"kind":"reset"}})"),
};
constexpr Key BURSTS_KEYS[] = {
    {.name = "mean_good_ms",
     .type = KeyType::number,
     .max = LAST_MS,
     .above_min = true,
     .required = true,
     .about = "Mean stay in the good state.",
     .example =
         R"(/endpoints/*/faults/0={"bursts":{"mean_good_ms":500,"mean_bad_ms":60,"error_ratio":0.9}})"},
    {.name = "mean_bad_ms",
     .type = KeyType::number,
     .max = LAST_MS,
     .above_min = true,
     .required = true,
     .about = "Mean stay in the bad one.",
     .example =
         R"(/endpoints/*/faults/0={"bursts":{"mean_good_ms":300,"mean_bad_ms":200,"error_ratio":0.9}})"},
    ratio_key("error_ratio", "The share of errors in the bad state; the good one has none.",
              R"(/endpoints/*/faults/0={"bursts":{"mean_good_ms":300,"mean_bad_ms":60,"error_ratio":1}})"),
    status_key(
        R"(/endpoints/*/faults/0={"bursts":{"mean_good_ms":300,"mean_bad_ms":60,"error_ratio":1,"status":502}})"),
};
constexpr Key SHARE_KEYS[] = {
    ratio_key("ratio", "The share.", R"(/endpoints/*/faults/0={"hang":{"ratio":1}})")};
constexpr Key COLD_START_KEYS[] = {
    {.name = "for_ms",
     .type = KeyType::number,
     .max = LAST_MS,
     .above_min = true,
     .required = true,
     .about = "How long.",
     .example =
         R"(/endpoints/*/faults=[{"from_ms":500,"to_ms":800,"down":{}},{"cold_start":{"for_ms":400,"latency_factor":4}}])"},
    {.name = "latency_factor",
     .type = KeyType::number,
     .max = 1e6,
     .required = true,
     .about = "Multiplies the latency.",
     .example =
         R"(/endpoints/*/faults=[{"from_ms":500,"to_ms":800,"down":{}},{"cold_start":{"for_ms":200,"latency_factor":10}}])"},
};

constexpr std::string_view FAULT_KINDS[] = {"error",  "down",     "latency", "brownout", "flap",
                                            "bursts", "outcomes", "hang",    "truncate", "cold_start"};
constexpr KeyChoice FAULT_CHOICES[] = {{FAULT_KINDS, 1, 1}};
constexpr std::string_view SLOWER_BY[] = {"add_ms", "factor"};
constexpr KeyChoice SLOW_CHOICES[] = {{SLOWER_BY, 1, 2}};

constexpr KeyObject OBJECTS[] = {
    {"fault", "endpoints.faults",
     "Exactly one kind. How several compose: first down, then outcomes, then the latency of "
     "all, then errors in file order, then hang, then truncate.",
     FAULT_KEYS, FAULT_CHOICES},
    {"error", "faults.error", "", ERROR_KEYS, {}},
    {"down", "faults.down", "", DOWN_KEYS, {}},
    {"slow", "faults.latency", "At least one of add_ms and factor.", SLOW_KEYS, SLOW_CHOICES},
    {"brownout", "faults.brownout", "", BROWNOUT_KEYS, {}},
    {"flap", "faults.flap", "", FLAP_KEYS, {}},
    {"bursts", "faults.bursts", "", BURSTS_KEYS, {}},
    {"share", "faults.hang, faults.truncate", "", SHARE_KEYS, {}},
    {"cold_start", "faults.cold_start", "", COLD_START_KEYS, {}},
};

}  // namespace

std::span<const KeyObject> of_faults() { return OBJECTS; }

}  // namespace halfopen::sim::keys
