#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "sim/number_list.hpp"
#include "sim/scenario_json.hpp"
#include "sim/scenario_json_parts.hpp"

namespace halfopen::sim {
namespace {

constexpr NumberRange TRACE_MS{0, static_cast<double>(MAX_TIME_MS), false};
constexpr NumberRange ZIPF{0, 100, false};
constexpr std::uint64_t MAX_CLIENTS = 10'000'000;  // a popularity table holds a number for each
constexpr std::uint64_t MAX_USERS = 1'000'000;     // each has a place among those who think
constexpr std::uint64_t MAX_TRIES_AGAIN = 1000;

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

// One time a line; the file's content stands for its name in the digest.
ArrivalTimes read_trace(Fields& entry, Reading& reading) {
  ArrivalTimes times;
  const std::optional<std::string> name = entry.text("trace");
  if (!name) return times;
  std::string wrong;
  std::vector<double> values;
  const auto text = named_file(reading.files, reading.folder / *name, wrong);
  if (!text || !numbers_of(*text, TRACE_MS, values, wrong)) {
    entry.tell("trace", fmt::format("trace is {}: {}", shown(Json(*name)), wrong));
    return times;
  }
  times.at.reserve(values.size());
  for (const double value : values) times.at.push_back(static_cast<Nanos>(std::round(value * 1e6)));
  reading.inlined.emplace_back(entry.at("trace"), Json(std::move(values)));
  return times;
}

Users read_users(Fields& entry) {
  Users users;
  users.think = ANY_TIME.max;
  const Json* const value = entry.get("users");
  if (value == nullptr) return users;
  Fields fields(*value, entry.at("users"), entry.findings(), "users");
  users.count = fields.whole("count", 1, MAX_USERS, Need::required).value_or(1);
  // Who thinks for no time and is refused in no time would ask for ever in one instant.
  users.think = fields.time("think_ms", POSITIVE_TIME, Need::required).value_or(users.think);
  fields.finish();
  return users;
}

// Exactly one source, and a shape with "arrivals" alone.
std::string_view the_source(Fields& entry) {
  constexpr const char* SOURCES =
      "\"arrivals\" (with a shape), \"at_ms\", \"every_ms\", \"trace\" or \"users\"";
  std::string_view source, shape;
  const std::size_t sources = entry.count_of({"arrivals", "at_ms", "every_ms", "trace", "users"}, source);
  const std::size_t shapes = entry.count_of({"rate_rps", "stages", "step", "burst", "wave"}, shape);
  if (!entry.is_object()) return source;
  if (sources > 1)
    entry.tell_here(fmt::format("traffic has one source: write one of {}, and an entry each", SOURCES));
  if (sources == 0 && shapes > 0) {
    entry.tell(shape, fmt::format("{} needs \"arrivals\": \"poisson\" or \"uniform\"", shape));
  } else if (sources == 0) {
    entry.tell_here(fmt::format("traffic needs a source: one of {}", SOURCES));
  }
  if (source == "arrivals" && shapes == 0) {
    entry.tell_here(
        "arrivals needs a shape: one of \"rate_rps\", \"stages\", \"step\", \"burst\" or \"wave\"");
  }
  if (sources == 1 && source != "arrivals" && shapes > 0) {
    entry.tell(shape,
               fmt::format("{} goes with \"arrivals\" alone: {} says when requests come", shape, source));
  }
  return source;
}

void read_source(Fields& entry, Traffic& out, Reading& reading) {
  const std::string_view source = the_source(entry);
  ArrivalProcess process = read_process(entry);
  ArrivalTimes times = read_times(entry);
  ArrivalTimes trace = read_trace(entry, reading);
  const Users users = read_users(entry);
  const auto every = entry.time("every_ms", POSITIVE_TIME);
  if (source == "at_ms") {
    out.source = std::move(times);
  } else if (source == "every_ms") {
    out.source = ArrivalEvery{every.value_or(POSITIVE_TIME.max)};
  } else if (source == "trace") {
    out.source = std::move(trace);
  } else if (source == "users") {
    out.source = users;
  } else {
    out.source = std::move(process);
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

// A default that a wrong combination leaves is named too: the value that is there needs it.
void read_client(Fields& entry, Traffic& out) {
  const Json* const value = entry.get("client");
  if (value == nullptr) return;
  Fields fields(*value, entry.at("client"), entry.findings(), "client");
  Client& client = out.client.emplace();
  client.timeout = fields.time("timeout_ms", POSITIVE_TIME).value_or(client.timeout);
  client.retries = static_cast<std::uint32_t>(fields.whole("retries", 0, MAX_TRIES_AGAIN).value_or(0));
  const auto base = fields.whole("backoff_base_ms", 0, MAX_TIME_MS);
  const auto cap = fields.whole("backoff_cap_ms", 0, MAX_TIME_MS);
  client.backoff_base_ms = base.value_or(client.backoff_base_ms);
  client.backoff_cap_ms = cap.value_or(client.backoff_cap_ms);
  if (client.backoff_cap_ms < client.backoff_base_ms && (base || cap)) {
    if (cap)
      fields.wrong("backoff_cap_ms",
                   fmt::format("at least backoff_base_ms, which is {}", client.backoff_base_ms));
    else
      fields.wrong("backoff_base_ms", fmt::format("at most backoff_cap_ms, which is {} unless it is set",
                                                  client.backoff_cap_ms));
  }
  client.honours_retry_after = fields.flag("honours_retry_after").value_or(false);
  if (fields.is_object() && value->empty()) {
    fields.tell_here(
        "client needs at least one of timeout_ms, retries, backoff_base_ms, backoff_cap_ms, "
        "honours_retry_after");
  }
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
  read_source(fields, traffic, reading);
  read_keys(fields, traffic);
  read_abandon(fields, traffic);
  read_client(fields, traffic);
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
