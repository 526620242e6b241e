// Keys of expectations.
#include "sim/scenario_keys_parts.hpp"

namespace halfopen::sim::keys {
namespace {

constexpr double ANY_COUNT = SEED_MAX;
constexpr std::string_view EVENTS =
    "endpoint_ejected|endpoint_half_open|endpoint_recovered|breaker_opened|breaker_half_open|breaker_closed";
constexpr std::string_view RULES = "consecutive_failures|failure_ratio|error_ratio|half_open_probe_failed";
constexpr std::string_view VIAS = "half_open_probe|active_probe|fail_open|late_report";
constexpr std::string_view ENDPOINT_ABOUT = "An endpoint of some generation, address:port. Default: any.";
constexpr std::string_view UPSTREAM_ABOUT = "An upstream of some generation. Default: any.";

constexpr Key endpoint_key(std::string_view needs, std::string_view example) {
  return {.name = "endpoint", .needs = needs, .about = ENDPOINT_ABOUT, .example = example};
}
constexpr Key upstream_key(std::string_view needs, std::string_view example) {
  return {.name = "upstream", .needs = needs, .about = UPSTREAM_ABOUT, .example = example};
}
constexpr Key rule_key(std::string_view needs, std::string_view example) {
  return {.name = "rule",
          .type = KeyType::word,
          .refers = RULES,
          .needs = needs,
          .about = "By which rule it went out. Default: any.",
          .example = example};
}
constexpr Key via_key(std::string_view needs, std::string_view example) {
  return {.name = "via",
          .type = KeyType::word,
          .refers = VIAS,
          .needs = needs,
          .about = "What let it back in. Default: any.",
          .example = example};
}
constexpr Key at_key(std::string_view needs, std::string_view example) {
  return {.name = "at_ms",
          .type = KeyType::whole,
          .max = LAST_MS,
          .needs = needs,
          .about = "In this millisecond: [at_ms, at_ms + 1).",
          .example = example};
}
constexpr Key between_key(std::string_view needs, std::string_view example) {
  return {.name = "between_ms",
          .type = KeyType::pair,
          .needs = needs,
          .about = "From the first (included) to the second (excluded).",
          .example = example};
}
constexpr Key compare_key(std::string_view name, std::string_view example) {
  return {.name = name,
          .type = KeyType::number,
          .min = -1e300,
          .max = 1e300,
          .needs = "metric",
          .about = "The metric compares so to this.",
          .example = example};
}

constexpr Key EXPECTATION_KEYS[] = {
    {.name = "event",
     .type = KeyType::word,
     .refers = EVENTS,
     .about =
         "Form: such events are there, as often as count, at_least or at_most say (default: at least once).",
     .example = R"(/expect/0={"event":"endpoint_ejected","at_least":1})"},
    {.name = "never",
     .type = KeyType::word,
     .refers = EVENTS,
     .about = "Form: there is no such event.",
     .example = R"(/expect/0={"never":"breaker_opened","between_ms":[0,400]})"},
    {.name = "sequence",
     .type = KeyType::list,
     .refers = "sequence_step",
     .min = 1,
     .about = "Form: these events occur in this order.",
     .example = R"(/expect/0={"sequence":[{"event":"endpoint_ejected"},{"event":"endpoint_half_open"}]})"},
    {.name = "state",
     .type = KeyType::word,
     .refers = "healthy|ejected|half_open|closed|open",
     .needs = "endpoint|upstream&at_ms|between_ms",
     .about = "Form: the lane of the endpoint, or of the upstream's breaker, shows this at at_ms, or "
              "throughout between_ms.",
     .example = R"(/expect/0={"state":"healthy","endpoint":"10.0.0.2:8080","at_ms":100})"},
    {.name = "metric",
     .type = KeyType::own_shape,
     .refers = "METRICS",
     .needs = "<|<=|==|!=|>=|>",
     .about = "Form: the metric compares to a value. One without a sample has not held.",
     .example = R"(/expect/0={"metric":"success_ratio",">=":0.5})"},
    {.name = "fingerprint",
     .type = KeyType::own_shape,
     .refers = R"({"type":"string","pattern":"^[0-9a-f]{16}$"})",
     .about = "Form: the whole stream of events is the one with this meta.fingerprint.",
     .example = R"(/expect/0={"fingerprint":"0123456789abcdef"})"},
    endpoint_key("event|never|state|metric",
                 R"(/expect/0={"event":"endpoint_ejected","endpoint":"10.0.0.1:8080","at_most":5})"),
    upstream_key("event|never|state", R"(/expect/0={"state":"closed","upstream":"api","at_ms":100})"),
    rule_key("event|never",
             R"(/expect/0={"event":"endpoint_ejected","rule":"consecutive_failures","at_most":9})"),
    via_key("event|never", R"(/expect/0={"event":"endpoint_recovered","via":"late_report","at_most":9})"),
    {.name = "count",
     .type = KeyType::whole,
     .max = ANY_COUNT,
     .needs = "event",
     .about = "Exactly so many.",
     .example = R"(/expect/0={"event":"endpoint_ejected","count":0,"between_ms":[0,400]})"},
    {.name = "at_least",
     .type = KeyType::whole,
     .max = ANY_COUNT,
     .fallback = "1",
     .needs = "event",
     .about = "So many or more.",
     .example = R"(/expect/0={"event":"endpoint_ejected","at_least":0})"},
    {.name = "at_most",
     .type = KeyType::whole,
     .max = ANY_COUNT,
     .needs = "event",
     .about = "So many or fewer.",
     .example = R"(/expect/0={"event":"breaker_opened","at_most":1})"},
    {.name = "nth",
     .type = KeyType::whole,
     .min = 1,
     .max = ANY_COUNT,
     .needs = "event",
     .about = "The other fields choose events, this takes one of them (from 1), and its time is judged.",
     .example = R"(/expect/0={"event":"endpoint_ejected","nth":1,"between_ms":[500,2000]})"},
    at_key("event|never|state", R"(/expect/0={"state":"healthy","endpoint":"10.0.0.2:8080","at_ms":0})"),
    between_key("event|never|state|metric", R"(/expect/0={"metric":"failed","==":0,"between_ms":[0,500]})"),
    {.name = "exact",
     .type = KeyType::flag,
     .fallback = "false",
     .needs = "sequence",
     .about =
         "Of a sequence: there is no other event of its endpoints (for a breaker's events: its upstreams).",
     .example = R"(/expect/0={"sequence":[{"event":"breaker_opened"}],"exact":true})"},
    compare_key("<", R"(/expect/0={"metric":"failed","<":1000})"),
    compare_key("<=", R"(/expect/0={"metric":"failed","<=":1000})"),
    compare_key("==", R"(/expect/0={"metric":"abandoned","==":0})"),
    compare_key("!=", R"(/expect/0={"metric":"ok","!=":0})"),
    compare_key(">=", R"(/expect/0={"metric":"success_ratio",">=":0.5})"),
    compare_key(">", R"(/expect/0={"metric":"ok",">":10})"),
};

constexpr Key STEP_KEYS[] = {
    {.name = "event",
     .type = KeyType::word,
     .refers = EVENTS,
     .required = true,
     .about = "What happens next.",
     .example = R"(/expect/0={"sequence":[{"event":"endpoint_ejected"}]})"},
    endpoint_key({}, R"(/expect/0={"sequence":[{"event":"endpoint_ejected","endpoint":"10.0.0.1:8080"}]})"),
    upstream_key({}, R"(/expect/0={"sequence":[{"event":"endpoint_ejected","upstream":"api"}]})"),
    rule_key({}, R"(/expect/0={"sequence":[{"event":"endpoint_ejected","rule":"failure_ratio"}]})"),
    via_key({}, R"(/expect/0={"sequence":[{"event":"endpoint_recovered","via":"half_open_probe"}]})"),
    at_key({}, R"(/expect/0={"sequence":[{"event":"endpoint_ejected","at_ms":520}]})"),
    between_key({}, R"(/expect/0={"sequence":[{"event":"endpoint_ejected","between_ms":[500,600]}]})"),
};

constexpr std::string_view FORMS[] = {"event", "never", "sequence", "state", "metric", "fingerprint"};
constexpr std::string_view HOW_OFTEN[] = {"count", "at_least", "at_most", "nth"};
constexpr std::string_view COMPARISONS[] = {"<", "<=", "==", "!=", ">=", ">"};
constexpr std::string_view WHEN[] = {"at_ms", "between_ms"};
constexpr KeyChoice EXPECTATION_CHOICES[] = {
    {FORMS, 1, 1}, {HOW_OFTEN, 0, 1}, {COMPARISONS, 0, 1}, {WHEN, 0, 1}};
constexpr KeyChoice STEP_CHOICES[] = {{WHEN, 0, 1}};

constexpr KeyObject OBJECTS[] = {
    {"expectation", "expect",
     "Exactly one form: event, never, sequence, state, metric or fingerprint. Without `nth`, times "
     "filter what is counted. An event, rule, endpoint, upstream or metric that does not exist has not held.",
     EXPECTATION_KEYS, EXPECTATION_CHOICES},
    {"sequence_step", "expect.sequence", "", STEP_KEYS, STEP_CHOICES},
};

}  // namespace

std::span<const KeyObject> of_expectations() { return OBJECTS; }

}  // namespace halfopen::sim::keys
