// How long the simulated servers take, as a distribution of the file; those whose numbers stand in a file of
// their own are read from it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "sim/latency.hpp"
#include "sim/number_list.hpp"
#include "sim/scenario_json_parts.hpp"

namespace halfopen::sim {
namespace {

constexpr NumberRange LATENCY_MS{0, 1e10, false};
constexpr NumberRange LATENCY_ABOVE_0{0, 1e10, true};
constexpr NumberRange ALPHA{0, 1e6, true};

double positive(Fields& fields, std::string_view name) {
  return fields.number(name, LATENCY_ABOVE_0, Need::required).value_or(1);
}

Latency read_fixed(Fields& fields, Reading&) {
  return FixedLatency{fields.number("ms", LATENCY_MS, Need::required).value_or(1)};
}

Latency read_uniform(Fields& fields, Reading&) {
  const auto min = fields.number("min_ms", LATENCY_MS, Need::required);
  const auto max = fields.number("max_ms", LATENCY_MS, Need::required);
  if (min && max && *max < *min)
    fields.wrong("max_ms", "at least min_ms, which is " + shown(*fields.get("min_ms")));
  return UniformLatency{min.value_or(0), max.value_or(0)};
}

Latency read_exponential(Fields& fields, Reading&) { return ExponentialLatency{positive(fields, "mean_ms")}; }

Latency read_lognormal(Fields& fields, Reading&) {
  const bool moments = fields.has("mean_ms") || fields.has("sd_ms");
  const bool percentiles = fields.has("p50_ms") || fields.has("p99_ms");
  if (fields.is_object() && moments == percentiles) {
    fields.tell_here("lognormal needs either \"p50_ms\" and \"p99_ms\" or \"mean_ms\" and \"sd_ms\"");
    return FixedLatency{};
  }
  const std::size_t told = fields.findings().size();
  if (moments) {
    const double mean = positive(fields, "mean_ms");
    const double sd = fields.number("sd_ms", LATENCY_MS, Need::required).value_or(0);
    return fields.findings().size() == told ? lognormal_of_moments(mean, sd) : LognormalLatency{};
  }
  const double p50 = positive(fields, "p50_ms");
  const double p99 = positive(fields, "p99_ms");
  if (!fields.is_object() || fields.findings().size() != told) return FixedLatency{};
  if (p99 > p50) return lognormal_of_percentiles(p50, p99);
  fields.wrong("p99_ms", "above p50_ms, which is " + shown(*fields.get("p50_ms")));
  return FixedLatency{};
}

Latency read_pareto(Fields& fields, Reading&) {
  ParetoLatency pareto;
  pareto.min_ms = positive(fields, "min_ms");
  pareto.alpha = fields.number("alpha", ALPHA, Need::required).value_or(1);
  const auto max = fields.number("max_ms", LATENCY_MS, Need::required);
  pareto.max_ms = max.value_or(pareto.min_ms);
  if (max && *max < pareto.min_ms)
    fields.wrong("max_ms", "at least min_ms, which is " + shown(*fields.get("min_ms")));
  return pareto;
}

void read_empirical_file(Fields& fields, Reading& reading, std::vector<double>& values) {
  const std::optional<std::string> name = fields.text("file");
  if (!name) return;
  std::string wrong;
  const auto text = named_file(reading.files, reading.folder / *name, wrong);
  if (text && numbers_of(*text, LATENCY_MS, values, wrong)) {
    Json object = Json::object();
    object["ms"] = values;
    reading.inlined.emplace_back(fields.pointer(), std::move(object));
    return;
  }
  fields.tell("file", fmt::format("file is {}: {}", shown(Json(*name)), wrong));
}

Latency read_empirical(Fields& fields, Reading& reading) {
  auto values = std::make_shared<std::vector<double>>();
  const Json* const list = fields.list("ms");
  if (fields.is_object() && fields.has("ms") == fields.has("file")) {
    fields.tell_here(
        "empirical needs exactly one of \"ms\" (a list of numbers) and \"file\" (one number a line)");
  } else if (fields.has("file")) {
    read_empirical_file(fields, reading, *values);
  } else if (list != nullptr) {
    if (list->empty()) fields.wrong("ms", "at least one number");
    for (std::size_t n = 0; n < list->size(); ++n) {
      double value = 0;
      if (number_in((*list)[n], LATENCY_MS, value)) {
        values->push_back(value);
        continue;
      }
      Finding finding;
      finding.pointer = join(fields.at("ms"), n);
      finding.what = fmt::format("ms holds {}: each must be {}", shown((*list)[n]), LATENCY_MS.text());
      fields.findings().push_back(std::move(finding));
    }
  }
  if (values->empty()) return FixedLatency{};
  return EmpiricalLatency{std::move(values)};
}

struct LatencyReader {
  std::string_view name;
  Latency (*read)(Fields& fields, Reading& reading);
};
constexpr std::array LATENCIES{
    LatencyReader{"fixed", read_fixed},
    LatencyReader{"uniform", read_uniform},
    LatencyReader{"exponential", read_exponential},
    LatencyReader{"lognormal", read_lognormal},
    LatencyReader{"pareto", read_pareto},
    LatencyReader{"empirical", read_empirical},
};

}  // namespace

void read_latency(Fields& model, Reading& reading, Latency& out) {
  const Json* const value = model.get("latency");
  if (value == nullptr) return;
  Fields fields(*value, model.at("latency"), reading.findings, "latency");
  std::vector<std::string_view> found;
  for (const LatencyReader& kind : LATENCIES) {
    const Json* const inner = fields.get(kind.name);
    if (inner == nullptr) continue;
    Fields parameters(*inner, fields.at(kind.name), reading.findings, kind.name);
    out = kind.read(parameters, reading);
    parameters.finish();
    found.push_back(kind.name);
  }
  if (fields.is_object() && found.empty()) {
    fields.tell_here("latency needs one of fixed, uniform, exponential, lognormal, pareto, empirical");
  }
  if (found.size() > 1)
    fields.tell_here(fmt::format("latency is of one kind, not {}", fmt::join(found, " and ")));
  fields.finish();
}

}  // namespace halfopen::sim
