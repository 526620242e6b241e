// How the simulated servers behave: latency, capacity and faults, with "*" merged into each of them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <utility>

#include "sim/latency.hpp"
#include "sim/scenario_json_parts.hpp"

namespace halfopen::sim {
namespace {

constexpr NumberRange LATENCY_MS{0, 1e10, false};
constexpr NumberRange LATENCY_ABOVE_0{0, 1e10, true};
constexpr NumberRange ALPHA{0, 1e6, true};
constexpr std::size_t MAX_MERGED =
    20'000'000;  // faults and scripted outcomes of "*" times servers: bounds memory

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

// One number a line; blank lines are nothing. False and a sentence at the first line that is none.
bool numbers_of(std::string_view text, std::vector<double>& out, std::string& wrong) {
  std::size_t line_number = 0;
  while (!text.empty()) {
    ++line_number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) continue;
    line = line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
    double value = 0;
    const auto read = std::from_chars(line.data(), line.data() + line.size(), value);
    const bool whole_line = read.ec == std::errc{} && read.ptr == line.data() + line.size();
    if (!whole_line || !(value >= LATENCY_MS.min && value <= LATENCY_MS.max)) {
      wrong = fmt::format("line {} must hold one {}, in ms", line_number, LATENCY_MS.text());
      return false;
    }
    out.push_back(value == 0 ? 0 : value);  // -0 would draw like 0 and dump differently
  }
  if (out.empty()) wrong = "it holds no number";
  return !out.empty();
}

void read_empirical_file(Fields& fields, Reading& reading, std::vector<double>& values) {
  const std::optional<std::string> name = fields.text("file");
  if (!name) return;
  std::string text, wrong;
  if (read_file(reading.folder / *name, text, wrong) && numbers_of(text, values, wrong)) {
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

std::optional<std::uint16_t> read_overflow(Fields& capacity) {
  const Json* const overflow = capacity.get("overflow");
  if (overflow == nullptr) return 503;
  if (*overflow == "reset") return std::nullopt;
  if (!overflow->is_object()) {
    capacity.wrong("overflow", "\"reset\" or {\"status\": 503}");
    return 503;
  }
  Fields fields(*overflow, capacity.at("overflow"), capacity.findings(), "overflow");
  const std::uint16_t status = read_status(fields, 503);
  fields.finish();
  return status;
}

struct Model {
  std::optional<Latency> latency;
  std::optional<Capacity> capacity;
  std::vector<Fault> faults;
};

Model read_model(const Json& value, const std::string& pointer, Reading& reading) {
  constexpr std::uint64_t MAX_COUNT = 4'294'967'295;
  Model model;
  Fields fields(value, pointer, reading.findings, "an endpoint's behaviour");
  if (fields.has("latency")) read_latency(fields, reading, model.latency.emplace());
  if (const Json* const inner = fields.get("capacity")) {
    Fields capacity(*inner, fields.at("capacity"), reading.findings, "capacity");
    Capacity& out = model.capacity.emplace();
    out.concurrency =
        static_cast<std::uint32_t>(capacity.whole("concurrency", 1, MAX_COUNT, Need::required).value_or(1));
    out.queue = static_cast<std::uint32_t>(capacity.whole("queue", 0, MAX_COUNT).value_or(0));
    out.overflow_status = read_overflow(capacity);
    capacity.finish();
  }
  model.faults = read_faults(fields, reading);
  fields.finish();
  return model;
}

std::size_t size_of(const std::vector<Fault>& faults) {
  std::size_t size = 0;
  for (const Fault& fault : faults) {
    const auto* script = std::get_if<OutcomesFault>(&fault.kind);
    size += 1 + (script == nullptr ? 0 : script->list.size());
  }
  return size;
}

// The endpoint's key replaces the base's; its faults come after the base's.
void merge(const Model& own, ServerModel& server) {
  if (own.latency) server.latency = *own.latency;
  if (own.capacity) server.capacity = own.capacity;
  for (const Fault& fault : own.faults) {
    server.faults.push_back(fault);
    server.faults.back().number = static_cast<std::uint32_t>(server.faults.size() - 1);
  }
}

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

std::uint16_t read_status(Fields& fields, std::uint16_t otherwise) {
  return static_cast<std::uint16_t>(fields.whole("status", 100, 599).value_or(otherwise));
}

void read_endpoints(Fields& root, Reading& reading) {
  std::vector<ServerModel>& servers = reading.scenario.servers;
  servers.resize(reading.endpoint_names.size());
  for (std::size_t n = 0; n < servers.size(); ++n) servers[n].name = reading.endpoint_names[n];
  const Json* const models = root.object("endpoints");
  if (models == nullptr) return;
  if (const auto base = models->find("*"); base != models->end()) {
    const Model model = read_model(*base, root.at("endpoints") + "/*", reading);
    if (size_of(model.faults) * servers.size() > MAX_MERGED) {
      root.tell(
          "endpoints",
          fmt::format("the faults of \"*\" and their outcomes, on each of {} servers, are more than {}: "
                      "give them to fewer endpoints",
                      servers.size(), MAX_MERGED));
      return;
    }
    for (ServerModel& server : servers) merge(model, server);
  }
  for (auto member = models->begin(); member != models->end(); ++member) {
    if (member.key() == "*") continue;
    const std::string pointer = join(root.at("endpoints"), member.key());
    const Model model = read_model(*member, pointer, reading);
    const auto server = reading.endpoint_index.find(member.key());
    if (server != reading.endpoint_index.end()) {
      merge(model, servers[server->second]);
      continue;
    }
    if (!reading.endpoints_known) continue;
    Finding finding;
    finding.pointer = pointer;
    finding.what = fmt::format(
        "\"{}\" is no endpoint of any generation of the configuration: write address:port as in "
        "10.0.0.1:8080 or [::1]:8080, or \"*\" for all{}",
        member.key(), suggest(reading, member.key(), reading.endpoint_names));
    finding.at_key = true;
    reading.findings.push_back(std::move(finding));
  }
}

}  // namespace halfopen::sim
