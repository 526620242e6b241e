#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/scenario_json_parts.hpp"

namespace halfopen::sim {
namespace {

constexpr NumberRange RATE_RPS{0, 1e12, false};
constexpr NumberRange ZIPF{0, 100, false};
constexpr std::uint64_t MAX_CLIENTS = 10'000'000;  // a popularity table holds a number for each

const std::vector<std::string_view> ARRIVALS{"uniform", "poisson"};

RateStage read_stage(const Json& value, const std::string& pointer, std::vector<Finding>& findings,
                     double from_rps) {
  Fields fields(value, pointer, findings, "a stage");
  RateStage stage;
  stage.from_rps = from_rps;
  stage.to_rps = fields.number("target_rps", RATE_RPS, Need::required).value_or(0);
  stage.length = fields.time("duration_ms", ANY_TIME, Need::required).value_or(0);
  fields.finish();
  return stage;
}

ArrivalProcess read_process(Fields& entry) {
  ArrivalProcess process;
  process.poisson = entry.word("arrivals", ARRIVALS).value_or(0) == 1;
  process.rate_rps = entry.number("rate_rps", RATE_RPS).value_or(0);
  const Json* const stages = entry.list("stages");
  if (stages == nullptr) return process;
  if (stages->empty()) entry.wrong("stages", "at least one stage");
  double rate = process.rate_rps;
  for (std::size_t n = 0; n < stages->size(); ++n) {
    process.stages.push_back(read_stage((*stages)[n], join(entry.at("stages"), n), entry.findings(), rate));
    rate = process.stages.back().to_rps;
  }
  return process;
}

ArrivalTimes read_times(Fields& entry) {
  ArrivalTimes times;
  const Json* const list = entry.list("at_ms");
  if (list == nullptr) return times;
  times.at.reserve(list->size());
  for (std::size_t n = 0; n < list->size(); ++n) {
    Nanos at = 0;
    if (!time_of((*list)[n], ANY_TIME, at)) {
      Finding finding;
      finding.pointer = join(entry.at("at_ms"), n);
      finding.what = fmt::format("at_ms holds {}: each must be {}", shown((*list)[n]), rule_of(ANY_TIME));
      entry.findings().push_back(std::move(finding));
    }
    times.at.push_back(at);
  }
  return times;
}

// What the source is called in the file, once it is clear that there is exactly one.
void read_source(Fields& entry, Traffic& out) {
  constexpr const char* SOURCES = "\"arrivals\" (with rate_rps or stages), \"at_ms\" or \"every_ms\"";
  std::string_view source, shape;
  for (const std::string_view later : {"trace", "users", "step", "burst", "wave", "client"})
    entry.unsupported(later);
  const std::size_t sources = entry.count_of({"arrivals", "at_ms", "every_ms", "trace", "users"}, source);
  const std::size_t shapes = entry.count_of({"rate_rps", "stages", "step", "burst", "wave"}, shape);
  if (!entry.is_object()) return;
  if (sources > 1)
    entry.tell_here(fmt::format("traffic has one source: write one of {}, and an entry each", SOURCES));
  if (sources == 0 && shapes > 0) {
    entry.tell(shape, fmt::format("{} needs \"arrivals\": \"poisson\" or \"uniform\"", shape));
  } else if (sources == 0) {
    entry.tell_here(fmt::format("traffic needs a source: one of {}", SOURCES));
  }
  if (source == "arrivals" && shapes == 0)
    entry.tell_here("arrivals needs a shape: \"rate_rps\" or \"stages\"");
  if (sources == 1 && source != "arrivals" && shapes > 0) {
    entry.tell(shape,
               fmt::format("{} goes with \"arrivals\" alone: {} says when requests come", shape, source));
  }
  const ArrivalProcess process = read_process(entry);
  ArrivalTimes times = read_times(entry);
  const auto every = entry.time("every_ms", POSITIVE_TIME);
  if (source == "at_ms") {
    out.source = std::move(times);
  } else if (source == "every_ms") {
    out.source = ArrivalEvery{every.value_or(POSITIVE_TIME.max)};
  } else {
    out.source = process;
  }
}

void read_keys(Fields& entry, Traffic& out) {
  const Json* const value = entry.get("keys");
  if (value == nullptr) return;
  Fields fields(*value, entry.at("keys"), entry.findings(), "keys");
  Keys& keys = out.keys.emplace();
  keys.clients = fields.whole("clients", 1, MAX_CLIENTS, Need::required).value_or(1);
  keys.zipf = fields.number("zipf", ZIPF).value_or(0);
  fields.finish();
}

void read_abandon(Fields& entry, Traffic& out) {
  const Json* const value = entry.get("abandon");
  if (value == nullptr) return;
  Fields fields(*value, entry.at("abandon"), entry.findings(), "abandon");
  Abandon& abandon = out.abandon.emplace();
  abandon.ratio = fields.number("ratio", RATIO, Need::required).value_or(0);
  abandon.after = fields.time("after_ms", ANY_TIME, Need::required).value_or(0);
  fields.finish();
}

Traffic read_entry(const Json& value, const std::string& pointer, Reading& reading) {
  Traffic traffic;
  Fields fields(value, pointer, reading.findings, "a traffic entry");
  if (const auto upstream = fields.text("upstream", Need::required)) {
    traffic.upstream = *upstream;
    const bool found = reading.upstream_index.count(*upstream) != 0;
    if (!found && reading.upstreams_known) {
      fields.wrong("upstream", "the name of an upstream of some generation" +
                                   suggest(reading, *upstream, reading.upstream_names));
    }
  }
  read_span(fields, traffic.from, traffic.to);
  read_source(fields, traffic);
  read_keys(fields, traffic);
  read_abandon(fields, traffic);
  fields.finish();
  return traffic;
}

}  // namespace

void read_span(Fields& fields, Nanos& from, Nanos& to) {
  from = fields.time("from_ms", ANY_TIME).value_or(0);
  const std::optional<Nanos> end = fields.time("to_ms", ANY_TIME);
  if (!end) return;
  to = *end;
  if (to > from) return;
  const Json* const begin = fields.get("from_ms");
  fields.wrong("to_ms", fmt::format("after from_ms, which is {}", begin == nullptr ? "0" : shown(*begin)));
}

void read_traffic(Fields& root, Reading& reading) {
  const Json* const list = root.list("traffic");
  if (list == nullptr) return;
  for (std::size_t n = 0; n < list->size(); ++n) {
    reading.scenario.traffic.push_back(read_entry((*list)[n], join(root.at("traffic"), n), reading));
  }
}

}  // namespace halfopen::sim
