// What would run for hours or fill the memory is refused with a sentence before it starts. Every limit is
// judged on expected numbers, so it takes no longer than reading the file did.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "core/param_table.hpp"
#include "sim/arrivals.hpp"
#include "sim/scenario_json.hpp"
#include "sim/scenario_json_parts.hpp"

namespace halfopen::sim {
namespace {

constexpr double MAX_EVENTS = 2e8;      // of each kind: arrivals, probes, phases of flaps, of bursts
constexpr double MAX_BINS = 1e7;        // of the series
constexpr double MAX_BIN_VALUES = 1e8;  // bins times endpoints: some 17 bytes each

void tell(Reading& reading, std::string pointer, std::string what) {
  Finding finding;
  finding.pointer = std::move(pointer);
  finding.what = std::move(what);
  reading.findings.push_back(std::move(finding));
}

double as_double(Nanos value) { return static_cast<double>(value); }

std::string about(double number) {
  return number < 1e15 ? fmt::format("{:.0f}", number) : fmt::format("{:.3g}", number);
}

// Every client could come as often as it may.
double most_arrivals(const Traffic& entry, Nanos duration) {
  const double tries = entry.client ? 1.0 + entry.client->retries : 1.0;
  return expected_arrivals(entry, duration) * tries;
}

void check_arrivals(Reading& reading) {
  const Scenario& scenario = reading.scenario;
  double total = 0;
  bool told = false;
  for (std::size_t n = 0; n < scenario.traffic.size(); ++n) {
    const Traffic& entry = scenario.traffic[n];
    const double expected = most_arrivals(entry, scenario.duration);
    total += expected;
    if (expected <= MAX_EVENTS) continue;
    told = true;
    const bool tries = entry.client && entry.client->retries > 0;
    const bool users = std::holds_alternative<Users>(entry.source);
    tell(reading, join("/traffic", n),
         fmt::format("some {} arrivals are expected{}: at most {} are run; {} the duration", about(expected),
                     tries ? ", if each client comes as often as it may" : "", MAX_EXPECTED_ARRIVALS,
                     users ? "raise think_ms or lower" : "lower the rate or"));
  }
  if (total > MAX_EVENTS && !told) {
    tell(reading, "/traffic",
         fmt::format("all entries together expect some {} arrivals: at most {} are run; lower the "
                     "rates or the duration",
                     about(total), MAX_EXPECTED_ARRIVALS));
  }
}

double probes_of(const std::vector<UpstreamConfig>& upstreams, Nanos span) {
  double probes = 0;
  for (const UpstreamConfig& upstream : upstreams) {
    if (!upstream.active_health || upstream.active_health->interval_ms == 0) continue;
    const double interval = static_cast<double>(upstream.active_health->interval_ms) * 1e6;
    probes += static_cast<double>(upstream.endpoints.size()) * as_double(span) / interval;
  }
  return probes;
}

void check_probes(Reading& reading) {
  const Scenario& scenario = reading.scenario;
  const std::vector<UpstreamConfig>* current = &scenario.upstreams;
  Nanos since = 0;
  double probes = 0;
  for (const Reload& reload : scenario.reloads) {
    const Nanos at = std::min(reload.at, scenario.duration);
    probes += probes_of(*current, at - since);
    since = at;
    current = &reload.upstreams;
  }
  probes += probes_of(*current, scenario.duration - since);
  if (probes > MAX_EVENTS) {
    tell(reading, "/upstreams",
         fmt::format("some {} active probes are expected: at most {} are run; raise interval_ms or "
                     "lower duration_ms",
                     about(probes), about(MAX_EVENTS)));
  }
}

// Of all faults of this kind, which go through a cycle of two phases in `cycle_ns(kind)` on average.
template <class Kind, class Cycle>
double phases_of(const Scenario& scenario, Cycle cycle_ns) {
  double phases = 0;
  for (const ServerModel& server : scenario.servers) {
    for (const Fault& fault : server.faults) {
      const auto* kind = std::get_if<Kind>(&fault.kind);
      const Nanos end = std::min(fault.to, scenario.duration);
      if (kind == nullptr || fault.from >= end) continue;
      phases += 2 * as_double(end - fault.from) / cycle_ns(*kind);
    }
  }
  return phases;
}

void check_flaps(Reading& reading) {
  const double phases = phases_of<FlapFault>(
      reading.scenario, [](const FlapFault& flap) { return as_double(flap.up) + as_double(flap.down); });
  if (phases > MAX_EVENTS) {
    tell(reading, "/endpoints",
         fmt::format("the flap faults would change some {} times: at most {} changes are run; make "
                     "up_ms and down_ms longer",
                     about(phases), about(MAX_EVENTS)));
  }
}

// The reader has means of at least one ns, of which a stay rounded down has 0.58 on average: near enough.
void check_bursts(Reading& reading) {
  const double phases = phases_of<BurstsFault>(reading.scenario, [](const BurstsFault& bursts) {
    return (bursts.mean_good_ms + bursts.mean_bad_ms) * 1e6;
  });
  if (phases > MAX_EVENTS) {
    tell(reading, "/endpoints",
         fmt::format("the bursts faults are expected to change some {} times: at most {} changes are run; "
                     "make mean_good_ms and mean_bad_ms longer",
                     about(phases), about(MAX_EVENTS)));
  }
}

void check_bins(Reading& reading) {
  const double duration = as_double(reading.scenario.duration);
  const double bins = duration / as_double(reading.scenario.sample);
  const double lanes = std::max(1.0, static_cast<double>(reading.scenario.servers.size()));
  const double fit = std::min(MAX_BINS, MAX_BIN_VALUES / lanes);
  if (bins <= fit) return;
  tell(reading, "/sample_ms",
       fmt::format("sample_ms is {}: the series would have some {} bins for each of {} endpoints; at most {} "
                   "fit, so make it "
                   "at least {}",
                   shortest(as_double(reading.scenario.sample) / 1e6), about(bins), about(lanes), about(fit),
                   shortest(duration / fit / 1e6)));
}

}  // namespace

void check_limits(Reading& reading) {
  if (reading.scenario.duration == 0) return;  // missing or wrong, and told
  check_arrivals(reading);
  check_probes(reading);
  check_flaps(reading);
  check_bursts(reading);
  check_bins(reading);
}

}  // namespace halfopen::sim
