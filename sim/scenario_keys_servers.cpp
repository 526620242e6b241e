// Keys of the simulated servers: latency and capacity.
#include "sim/scenario_keys_parts.hpp"

namespace halfopen::sim::keys {
namespace {

constexpr Key BEHAVIOUR_KEYS[] = {
    {.name = "latency",
     .type = KeyType::object,
     .refers = "latency",
     .fallback = R"({"fixed":{"ms":1}})",
     .about = "How long an answer takes, drawn for every attempt.",
     .example = R"(/endpoints/*/latency={"exponential":{"mean_ms":8}})"},
    {.name = "capacity",
     .type = KeyType::object,
     .refers = "capacity",
     .about = "How many at once, first in, first out. None: unlimited.",
     .example = R"(/endpoints/*/capacity={"concurrency":2,"queue":8})"},
    {.name = "faults",
     .type = KeyType::list,
     .refers = "fault",
     .about = "What goes wrong, in file order.",
     .example = R"(/endpoints/*/faults=[{"from_ms":400,"down":{}}])"},
};

constexpr Key LATENCY_KEYS[] = {
    {.name = "fixed",
     .type = KeyType::object,
     .refers = "fixed",
     .about = "Always the same.",
     .example = R"(/endpoints/*/latency={"fixed":{"ms":3}})"},
    {.name = "uniform",
     .type = KeyType::object,
     .refers = "uniform",
     .about = "Anything between, equally likely.",
     .example = R"(/endpoints/*/latency={"uniform":{"min_ms":2,"max_ms":9}})"},
    {.name = "exponential",
     .type = KeyType::object,
     .refers = "exponential",
     .about = "Memoryless.",
     .example = R"(/endpoints/*/latency={"exponential":{"mean_ms":8}})"},
    {.name = "lognormal",
     .type = KeyType::object,
     .refers = "lognormal",
     .about =
         "What most services look like: by median and 99th percentile, or by mean and standard deviation.",
     .example = R"(/endpoints/*/latency={"lognormal":{"p50_ms":5,"p99_ms":40}})"},
    {.name = "pareto",
     .type = KeyType::object,
     .refers = "pareto",
     .about = "A heavy tail, cut at max_ms.",
     .example = R"(/endpoints/*/latency={"pareto":{"min_ms":2,"alpha":1.5,"max_ms":400}})"},
    {.name = "empirical",
     .type = KeyType::object,
     .refers = "empirical",
     .about = "One of these, equally likely.",
     .example = R"(/endpoints/*/latency={"empirical":{"ms":[2,3,3,40]}})"},
};

constexpr Key FIXED_KEYS[] = {
    {.name = "ms",
     .type = KeyType::number,
     .max = LAST_MS,
     .required = true,
     .about = "In ms.",
     .example = R"(/endpoints/*/latency={"fixed":{"ms":0.25}})"},
};
constexpr Key UNIFORM_KEYS[] = {
    {.name = "min_ms",
     .type = KeyType::number,
     .max = LAST_MS,
     .required = true,
     .about = "Included.",
     .example = R"(/endpoints/*/latency={"uniform":{"min_ms":0,"max_ms":9}})"},
    {.name = "max_ms",
     .type = KeyType::number,
     .max = LAST_MS,
     .required = true,
     .about = "Not less than min_ms.",
     .example = R"(/endpoints/*/latency={"uniform":{"min_ms":2,"max_ms":2}})"},
};
constexpr Key EXPONENTIAL_KEYS[] = {
    {.name = "mean_ms",
     .type = KeyType::number,
     .max = LAST_MS,
     .above_min = true,
     .required = true,
     .about = "The mean.",
     .example = R"(/endpoints/*/latency={"exponential":{"mean_ms":30}})"},
};
constexpr Key LOGNORMAL_KEYS[] = {
    {.name = "p50_ms",
     .type = KeyType::number,
     .max = LAST_MS,
     .above_min = true,
     .needs = "p99_ms",
     .about = "The median; needs p99_ms.",
     .example = R"(/endpoints/*/latency={"lognormal":{"p50_ms":5,"p99_ms":40}})"},
    {.name = "p99_ms",
     .type = KeyType::number,
     .max = LAST_MS,
     .above_min = true,
     .needs = "p50_ms",
     .about = "Above p50_ms.",
     .example = R"(/endpoints/*/latency={"lognormal":{"p50_ms":5,"p99_ms":400}})"},
    {.name = "mean_ms",
     .type = KeyType::number,
     .max = LAST_MS,
     .above_min = true,
     .needs = "sd_ms",
     .about = "The mean; needs sd_ms.",
     .example = R"(/endpoints/*/latency={"lognormal":{"mean_ms":8,"sd_ms":4}})"},
    {.name = "sd_ms",
     .type = KeyType::number,
     .max = LAST_MS,
     .needs = "mean_ms",
     .about = "The standard deviation.",
     .example = R"(/endpoints/*/latency={"lognormal":{"mean_ms":8,"sd_ms":0}})"},
};
constexpr Key PARETO_KEYS[] = {
    {.name = "min_ms",
     .type = KeyType::number,
     .max = LAST_MS,
     .above_min = true,
     .required = true,
     .about = "The least.",
     .example = R"(/endpoints/*/latency={"pareto":{"min_ms":4,"alpha":2,"max_ms":50}})"},
    {.name = "alpha",
     .type = KeyType::number,
     .max = 1e6,
     .above_min = true,
     .required = true,
     .about = "The smaller, the heavier the tail; the mean is finite above 1.",
     .example = R"(/endpoints/*/latency={"pareto":{"min_ms":4,"alpha":1.1,"max_ms":50}})"},
    {.name = "max_ms",
     .type = KeyType::number,
     .max = LAST_MS,
     .required = true,
     .about = "What is longer is this.",
     .example = R"(/endpoints/*/latency={"pareto":{"min_ms":4,"alpha":2,"max_ms":500}})"},
};
constexpr Key EMPIRICAL_KEYS[] = {
    {.name = "ms",
     .type = KeyType::own_shape,
     .refers = R"({"type":"array","minItems":1,"items":{"type":"number","minimum":0,"maximum":10000000000}})",
     .about = "The measurements.",
     .example = R"(/endpoints/*/latency={"empirical":{"ms":[5,6,7,300]}})"},
    {.name = "file",
     .about = "A file of them beside the scenario, one number a line.",
     .example = R"(/endpoints/*/latency={"empirical":{"file":"data/reference-latencies.txt"}})"},
};

constexpr Key CAPACITY_KEYS[] = {
    {.name = "concurrency",
     .type = KeyType::whole,
     .min = 1,
     .max = COUNT_MAX,
     .required = true,
     .about = "How many attempts it serves at once.",
     .example = R"(/endpoints/*/capacity={"concurrency":1})"},
    {.name = "queue",
     .type = KeyType::whole,
     .max = COUNT_MAX,
     .fallback = "0",
     .about = "How many more wait for a place.",
     .example = R"(/endpoints/*/capacity={"concurrency":1,"queue":3})"},
    {.name = "overflow",
     .type = KeyType::own_shape,
     .refers = R"({"oneOf":[{"const":"reset"},{"type":"object","additionalProperties":false,)"
               R"("properties":{"status":{"type":"integer","minimum":100,"maximum":599,"default":503}}}]})",
     .fallback = R"({"status":503})",
     .about = "What everybody else gets: a status, or \"reset\".",
     .example = R"(/endpoints/*/capacity={"concurrency":1,"overflow":"reset"})"},
};

constexpr std::string_view LATENCY_KINDS[] = {"fixed",     "uniform", "exponential",
                                              "lognormal", "pareto",  "empirical"};
constexpr KeyChoice LATENCY_CHOICES[] = {{LATENCY_KINDS, 1, 1}};
constexpr std::string_view MEDIAN_OR_MEAN[] = {"p50_ms", "mean_ms"};
constexpr std::string_view TAIL_OR_DEVIATION[] = {"p99_ms", "sd_ms"};
constexpr std::string_view MEDIAN_OR_DEVIATION[] = {"p50_ms", "sd_ms"};
constexpr KeyChoice LOGNORMAL_CHOICES[] = {
    {MEDIAN_OR_MEAN, 1, 1}, {TAIL_OR_DEVIATION, 1, 1}, {MEDIAN_OR_DEVIATION, 1, 1}};
constexpr std::string_view LIST_OR_FILE[] = {"ms", "file"};
constexpr KeyChoice EMPIRICAL_CHOICES[] = {{LIST_OR_FILE, 1, 1}};

constexpr KeyObject OBJECTS[] = {
    {"behaviour",
     "endpoints",
     "One server is one address:port, shared by the upstreams that name it. Servers know "
     "nothing of ejection; after a timeout or an abandon they work on.",
     BEHAVIOUR_KEYS,
     {}},
    {"latency", "endpoints.latency", "Exactly one kind.", LATENCY_KEYS, LATENCY_CHOICES},
    {"fixed", "latency.fixed", "", FIXED_KEYS, {}},
    {"uniform", "latency.uniform", "", UNIFORM_KEYS, {}},
    {"exponential", "latency.exponential", "", EXPONENTIAL_KEYS, {}},
    {"lognormal", "latency.lognormal", "p50_ms with p99_ms, or mean_ms with sd_ms.", LOGNORMAL_KEYS,
     LOGNORMAL_CHOICES},
    {"pareto", "latency.pareto", "", PARETO_KEYS, {}},
    {"empirical", "latency.empirical", "Either ms or file.", EMPIRICAL_KEYS, EMPIRICAL_CHOICES},
    {"capacity", "endpoints.capacity", "", CAPACITY_KEYS, {}},
};

}  // namespace

std::span<const KeyObject> of_servers() { return OBJECTS; }

}  // namespace halfopen::sim::keys
