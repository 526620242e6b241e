// Keys of the scenario itself, its clock and its reloads.
#include "sim/scenario_keys_parts.hpp"

namespace halfopen::sim::keys {
namespace {

constexpr Key SCENARIO_KEYS[] = {
    {.name = "$schema",
     .about = "Where an editor finds the JSON Schema that `halfopen schema` prints. Not read by halfopen.",
     .example = R"(/$schema="schema/scenario.schema.json")"},
    {.name = "name",
     .about = "What reports call it; by habit the file's name without its ending.",
     .example = R"(/name="my-first")"},
    {.name = "question",
     .about = "The one question that the scenario asks, as a sentence.",
     .example = R"(/question="Which rule is first?")"},
    {.name = "seed",
     .type = KeyType::whole,
     .max = SEED_MAX,
     .fallback = "1",
     .about = "Where all luck comes from. The same seed gives the same bytes; `--seed` wins over it.",
     .example = "/seed=7"},
    {.name = "duration_ms",
     .type = KeyType::number,
     .max = LAST_MS,
     .above_min = true,
     .required = true,
     .about = "The run covers [0, duration_ms) of virtual time; what is in flight then is `unfinished`.",
     .example = "/duration_ms=1800"},
    {.name = "sample_ms",
     .type = KeyType::number,
     .max = LAST_MS,
     .above_min = true,
     .fallback = "1000",
     .about = "Width of a bin of the series.",
     .example = "/sample_ms=250"},
    {.name = "clock",
     .type = KeyType::object,
     .refers = "clock",
     .about = "What the machines read as `now`.",
     .example = R"(/clock={"source":"monotonic"})"},
    {.name = "upstreams",
     .type = KeyType::list,
     .refers = "upstream",
     .required = true,
     .about = "The gateway's own configuration; `--gateway` takes it from the gateway's file instead.",
     .example = R"(/upstreams/0/name="api")"},
    {.name = "endpoints",
     .type = KeyType::own_shape,
     .refers = R"({"type":"object","additionalProperties":{"$ref":"#/definitions/behaviour"}})",
     .about =
         "How the simulated servers behave, by address:port; \"*\" is the base of all. An endpoint's key "
         "replaces the base's, but its faults come after the base's.",
     .example = R"(/endpoints/10.0.0.2:8080={"latency":{"fixed":{"ms":9}}})"},
    {.name = "traffic",
     .type = KeyType::list,
     .refers = "traffic",
     .about = "Who asks, when, and with what patience. Entries add up.",
     .example = R"(/traffic/-={"upstream":"api","every_ms":50})"},
    {.name = "reloads",
     .type = KeyType::list,
     .refers = "reload",
     .about = "Changes of the configuration while the gateway runs, carried out by the gateway's own code.",
     .example =
         R"(/reloads/-={"at_ms":1600,"patch":[{"op":"add","path":"/upstreams/0/slow_start_ms","value":100}]})"},
    {.name = "expect",
     .type = KeyType::list,
     .refers = "expectation",
     .about = "What must come out; `halfopen check` judges it.",
     .example = R"(/expect/-={"metric":"ok",">":0})"},
};

constexpr Key CLOCK_KEYS[] = {
    {.name = "start_unix_ms",
     .type = KeyType::whole,
     .max = 1e15,
     .fallback = "1700000000000",
     .about = "What the clock shows at the start, in ms since 1970.",
     .example = "/clock/start_unix_ms=0"},
    {.name = "source",
     .type = KeyType::word,
     .refers = "wall|monotonic",
     .fallback = R"("wall")",
     .about = "`wall` obeys the steps below, `monotonic` does not.",
     .example = R"(/clock/source="monotonic")"},
    {.name = "steps",
     .type = KeyType::list,
     .refers = "clock_step",
     .about = "When somebody sets the clock. Sleeps, backoffs and timeouts do not obey them.",
     .example = R"(/clock/steps=[{"at_ms":600,"by_ms":-200}])"},
};

constexpr Key CLOCK_STEP_KEYS[] = {
    {.name = "at_ms",
     .type = KeyType::number,
     .max = LAST_MS,
     .required = true,
     .about = "When.",
     .example = R"(/clock/steps/-={"at_ms":600,"by_ms":-200})"},
    {.name = "by_ms",
     .type = KeyType::whole,
     .min = -1e12,
     .max = 1e12,
     .required = true,
     .about = "How far: below 0 is back.",
     .example = R"(/clock/steps/-={"at_ms":600,"by_ms":5000})"},
};

constexpr Key RELOAD_KEYS[] = {
    {.name = "at_ms",
     .type = KeyType::number,
     .max = LAST_MS,
     .required = true,
     .about = "When.",
     .example = "/reloads/0/at_ms=700"},
    {.name = "patch",
     .type = KeyType::list,
     .refers = "patch",
     .about = "A JSON Patch (RFC 6902) within /upstreams, of the configuration in force then.",
     .example = R"(/reloads/0/patch=[{"op":"remove","path":"/upstreams/0/endpoints/2"}])"},
    {.name = "upstreams",
     .type = KeyType::list,
     .refers = "upstream",
     .about = "The whole new configuration instead of a patch.",
     .example =
         R"(/reloads/0={"at_ms":700,"upstreams":[{"name":"api","endpoints":[{"address":"10.0.0.1","port":8080},{"address":"10.0.0.2","port":8080}]}]})"},
};

constexpr std::string_view WITHIN_UPSTREAMS =
    R"({"type":"string","pattern":"^/upstreams(/([^~]|~[01])*)?$"})";

constexpr Key PATCH_KEYS[] = {
    {.name = "op",
     .type = KeyType::word,
     .refers = "add|remove|replace|move|copy|test",
     .required = true,
     .about = "What to do, as RFC 6902 has it.",
     .example = R"(/reloads/0/patch/0={"op":"copy","from":"/upstreams/0","path":"/upstreams/-"})"
                "\n"
                R"(/reloads/0/patch/-={"op":"replace","path":"/upstreams/1/name","value":"copy"})"},
    {.name = "path",
     .type = KeyType::own_shape,
     .refers = WITHIN_UPSTREAMS,
     .required = true,
     .about = "JSON Pointer of what is meant; `-` is the end of a list.",
     .example = R"(/reloads/0/patch/0/path="/upstreams/0/breaker/open_ms")"
                "\n/reloads/0/patch/0/value=700"},
    {.name = "value",
     .type = KeyType::own_shape,
     .refers = "{}",
     .about = "Of add, replace and test.",
     .example = "/reloads/0/patch/0/value=4"},
    {.name = "from",
     .type = KeyType::own_shape,
     .refers = WITHIN_UPSTREAMS,
     .about = "JSON Pointer of the source, of move and copy.",
     .example =
         R"(/reloads/0/patch/0={"op":"move","from":"/upstreams/0/breaker/open_ms","path":"/upstreams/0/health/eject_ms"})"},
};

constexpr std::string_view PATCH_EXTRA =
    R"({"allOf":[{"if":{"properties":{"op":{"enum":["add","replace","test"]}}},"then":{"required":["value"]}},)"
    R"({"if":{"properties":{"op":{"enum":["move","copy"]}}},"then":{"required":["from"]}}]})";

constexpr std::string_view RELOAD_FORMS[] = {"patch", "upstreams"};
constexpr KeyChoice RELOAD_CHOICES[] = {{RELOAD_FORMS, 1, 1}};

constexpr KeyObject OBJECTS[] = {
    {"scenario",
     "The scenario",
     "One file, one question. JSON with // and /* */ comments, or YAML.",
     SCENARIO_KEYS,
     {}},
    {"clock", "clock", "", CLOCK_KEYS, {}},
    {"clock_step", "clock.steps", "", CLOCK_STEP_KEYS, {}},
    {"reload", "reloads", "Applied whole, in order of time. Exactly one of patch and upstreams.", RELOAD_KEYS,
     RELOAD_CHOICES},
    {"patch", "reloads.patch", "", PATCH_KEYS, {}, PATCH_EXTRA},
};

}  // namespace

std::span<const KeyObject> of_the_run() { return OBJECTS; }

}  // namespace halfopen::sim::keys
