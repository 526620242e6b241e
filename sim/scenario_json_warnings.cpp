// What is allowed and will surprise all the same: things that can't happen within the run, and attempts that
// never end. Judged on the structs of a scenario without mistakes; the scenario runs as it is.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/param_table.hpp"
#include "sim/scenario_json_parts.hpp"

namespace halfopen::sim {
namespace {

std::string in_ms(Nanos time) { return shortest(static_cast<double>(time) / 1e6); }

// Counts that only requests and their attempts can raise.
constexpr std::array<std::string_view, 18> METRICS_OF_REQUESTS{
    "requests",
    "ok",
    "failed",
    "fast_failed",
    "unfinished",
    "abandoned",
    "attempts",
    "failures",
    "success_ratio",
    "attempts_per_request",
    "latency_p50_ms",
    "latency_p95_ms",
    "latency_p99_ms",
    "retries",
    "retries_denied",
    "fail_open_picks",
    "late_reports_ignored",
    "overload",
};

// Of every endpoint, the upstream of any generation that waits longest for it. No bound is the longest.
struct Waits {
  const UpstreamConfig* connect = nullptr;
  const UpstreamConfig* read = nullptr;
};
constexpr std::uint64_t UNBOUNDED = ~std::uint64_t{0};
std::uint64_t read_bound(const UpstreamConfig& upstream) {
  return upstream.timeouts.read_ms.value_or(UNBOUNDED);
}

class Surprises {
 public:
  Surprises(const Json& root, Reading& reading)
      : root_(root), reading_(reading), scenario_(reading.scenario), end_(reading.scenario.duration) {}

  void tell_all() {
    look_at_clock_and_reloads();
    look_at_traffic();
    look_at_faults();
    for (std::size_t n = 0; n < scenario_.expect.size(); ++n)
      look_at(scenario_.expect[n], join("/expect", n));
  }

 private:
  void warn(std::string pointer, std::string what) {
    if (!told_.insert(pointer).second) return;  // a fault of "*" is met on every server
    Finding finding;
    finding.pointer = std::move(pointer);
    finding.what = std::move(what);
    finding.warning = true;
    reading_.findings.push_back(std::move(finding));
  }

  void warn_if_late(Nanos at, const std::string& pointer, std::string_view what) {
    if (at < end_) return;
    warn(pointer, fmt::format("{} at {} ms, and the run ends at {} ms: it never happens", what, in_ms(at),
                              in_ms(end_)));
  }

  void look_at_clock_and_reloads() {
    for (std::size_t n = 0; n < scenario_.clock.steps.size(); ++n)
      warn_if_late(scenario_.clock.steps[n].at, join("/clock/steps", n) + "/at_ms", "the clock steps");
    // The structs are in the order of time.
    const auto reloads = root_.find("reloads");
    for (std::size_t n = 0; reloads != root_.end() && n < reloads->size(); ++n) {
      Nanos at = 0;
      if (time_of((*reloads)[n].at("at_ms"), ANY_TIME, at))
        warn_if_late(at, join("/reloads", n) + "/at_ms", "this reload comes");
    }
  }

  // ---- traffic --------------------------------------------------------------------------------------

  void look_at_traffic() {
    for (std::size_t n = 0; n < scenario_.traffic.size(); ++n) {
      const Traffic& entry = scenario_.traffic[n];
      const std::string pointer = join("/traffic", n);
      spans_.push_back(span_of(entry));
      warn_if_late(entry.from, pointer + "/from_ms", "this traffic begins");
      const auto* times = std::get_if<ArrivalTimes>(&entry.source);
      if (times != nullptr && entry.from < end_ && spans_.back().first >= spans_.back().second) {
        warn(pointer + "/at_ms",
             "none of these times lies within the entry's from_ms and to_ms and before the "
             "end of the run: no request comes");
      }
      const bool caller_leaves =
          (entry.client && entry.client->timeout != NEVER) || (entry.abandon && entry.abandon->ratio == 1);
      if (!caller_leaves) patient_.insert(entry.upstream);
    }
  }

  // [first, second) holds every arrival; empty if there is none.
  std::pair<Nanos, Nanos> span_of(const Traffic& entry) const {
    const Nanos from = entry.from;
    Nanos to = std::min(entry.to, end_);
    if (const auto* process = std::get_if<ArrivalProcess>(&entry.source);
        process && !process->stages.empty()) {
      Nanos length = 0;
      for (const RateStage& stage : process->stages) length += std::min(stage.length, NEVER - length);
      to = std::min(to, from + std::min(length, NEVER - from));
    }
    const auto* times = std::get_if<ArrivalTimes>(&entry.source);
    if (times == nullptr) return {from, to};
    std::pair<Nanos, Nanos> span{NEVER, 0};
    for (const Nanos at : times->at) {
      if (at < from || at >= to) continue;
      span = {std::min(span.first, at), std::max(span.second, at + 1)};
    }
    return span;
  }

  // ---- faults ---------------------------------------------------------------------------------------

  void look_at_faults() {
    std::size_t base_faults = 0;
    const auto endpoints = root_.find("endpoints");
    if (endpoints != root_.end() && endpoints->contains("*")) {
      const Json& base = (*endpoints)["*"];
      if (base.contains("faults")) base_faults = base["faults"].size();
    }
    for (const ServerModel& server : scenario_.servers) {
      for (const Fault& fault : server.faults) {
        const bool of_base = fault.number < base_faults;
        const std::string owner = of_base ? "/endpoints/*" : join("/endpoints", server.name);
        look_at(fault, server.name, join(owner + "/faults", fault.number - (of_base ? 0 : base_faults)));
      }
    }
  }

  void look_at(const Fault& fault, const std::string& endpoint, const std::string& pointer) {
    if (fault.from >= end_) return warn_if_late(fault.from, pointer + "/from_ms", "this fault begins");
    if (const auto* error = std::get_if<ErrorFault>(&fault.kind))
      warn_if_nothing(error->ratio, pointer + "/error/ratio");
    if (const auto* cut = std::get_if<TruncateFault>(&fault.kind))
      warn_if_nothing(cut->ratio, pointer + "/truncate/ratio");
    if (const auto* bursts = std::get_if<BurstsFault>(&fault.kind))
      warn_if_nothing(bursts->error_ratio, pointer + "/bursts/error_ratio");
    if (const auto* hang = std::get_if<HangFault>(&fault.kind)) {
      warn_if_nothing(hang->ratio, pointer + "/hang/ratio");
      if (hang->ratio > 0 && fault.scope != Scope::probes)
        look_at_wait(false, endpoint, fault.from, pointer + "/hang");
    }
    const auto* down = std::get_if<DownFault>(&fault.kind);
    if (down != nullptr && down->kind == DownKind::timeout && fault.scope != Scope::probes)
      look_at_wait(true, endpoint, fault.from, pointer + "/down");
  }

  void warn_if_nothing(double ratio, const std::string& pointer) {
    if (ratio == 0) warn(pointer, "the ratio is 0: this fault does nothing");
  }

  // An attempt that meets the fault at its start, and that nobody gives up before the run is over.
  void look_at_wait(bool connect, const std::string& endpoint, Nanos from, const std::string& pointer) {
    if (waits_.empty()) collect_waits();
    const auto found = waits_.find(endpoint);
    if (found == waits_.end()) return;
    const UpstreamConfig& upstream = connect ? *found->second.connect : *found->second.read;
    const std::uint64_t bound = connect ? upstream.timeouts.connect_ms : read_bound(upstream);
    if (bound < UNBOUNDED && bound < (end_ - from + NANOS_PER_MS - 1) / NANOS_PER_MS) return;
    const std::string_view name = connect ? "connect_ms" : "read_ms";
    warn(pointer,
         bound == UNBOUNDED
             ? fmt::format(
                   "attempts that meet this are never given up: the upstream \"{}\" has no timeouts.{}, "
                   "so they hang until the end of the run and count as no failure",
                   upstream.name, name)
             : fmt::format(
                   "attempts that meet this are not given up within the run: timeouts.{} of the upstream "
                   "\"{}\" is {} ms, and the run ends {} ms after the fault begins",
                   name, upstream.name, bound, in_ms(end_ - from)));
  }

  void collect_waits() {
    collect_waits(scenario_.upstreams);
    for (const Reload& reload : scenario_.reloads) collect_waits(reload.upstreams);
  }
  void collect_waits(const std::vector<UpstreamConfig>& upstreams) {
    for (const UpstreamConfig& upstream : upstreams) {
      if (patient_.count(upstream.name) == 0) continue;  // without requests, or with callers that leave
      for (const EndpointConfig& endpoint : upstream.endpoints) {
        Waits& waits = waits_[endpoint.name()];
        if (waits.read == nullptr || read_bound(upstream) > read_bound(*waits.read)) waits.read = &upstream;
        const bool longer =
            waits.connect == nullptr || upstream.timeouts.connect_ms > waits.connect->timeouts.connect_ms;
        if (longer) waits.connect = &upstream;
      }
    }
  }

  // ---- expectations ---------------------------------------------------------------------------------

  void look_at(const Expectation& expectation, const std::string& pointer) {
    if (!expectation.problem.empty()) return;  // it fails, and says why
    if (const auto* event = std::get_if<ExpectEvent>(&expectation.what)) look_at(event->when, pointer);
    if (const auto* never = std::get_if<ExpectNever>(&expectation.what)) look_at(never->when, pointer);
    if (const auto* state = std::get_if<ExpectState>(&expectation.what)) look_at(state->when, pointer);
    if (const auto* metric = std::get_if<ExpectMetric>(&expectation.what)) look_at(*metric, pointer);
    if (const auto* sequence = std::get_if<ExpectSequence>(&expectation.what)) {
      for (std::size_t n = 0; n < sequence->steps.size(); ++n)
        look_at(sequence->steps[n].when, join(pointer + "/sequence", n));
    }
  }

  void look_at(const TimeFilter& when, const std::string& pointer) {
    if (when.at_ms && *when.at_ms * NANOS_PER_MS >= end_) {
      warn(pointer + "/at_ms", fmt::format("at_ms is {}, and the run ends at {} ms: nothing happens then",
                                           *when.at_ms, in_ms(end_)));
    }
    if (when.between_ms) warn_if_window_is_late(when.between_ms->first, pointer);
  }

  bool warn_if_window_is_late(double begin_ms, const std::string& pointer) {
    if (begin_ms * 1e6 < static_cast<double>(end_)) return false;
    warn(pointer + "/between_ms",
         fmt::format("this window begins at {} ms, and the run ends at {} ms: nothing "
                     "happens in it",
                     shortest(begin_ms), in_ms(end_)));
    return true;
  }

  void look_at(const ExpectMetric& metric, const std::string& pointer) {
    if (!metric.between_ms || warn_if_window_is_late(metric.between_ms->first, pointer)) return;
    const auto& names = METRICS_OF_REQUESTS;
    if (std::find(names.begin(), names.end(), metric.metric) == names.end()) return;
    const bool expects_nothing =
        metric.value == 0 && (metric.relation == Compare::equal || metric.relation == Compare::at_most);
    const double begin = metric.between_ms->first * 1e6, end = metric.between_ms->second * 1e6;
    const auto meets = [&](const std::pair<Nanos, Nanos>& span) {
      return static_cast<double>(span.first) < end && begin < static_cast<double>(span.second) &&
             span.first < span.second;
    };
    if (expects_nothing || std::any_of(spans_.begin(), spans_.end(), meets)) return;
    warn(pointer + "/between_ms",
         "no entry of traffic sends a request in this window: only what is still in flight could count");
  }

  const Json& root_;
  Reading& reading_;
  const Scenario& scenario_;
  const Nanos end_;
  std::set<std::string> told_, patient_;
  std::vector<std::pair<Nanos, Nanos>> spans_;
  std::map<std::string, Waits> waits_;
};

}  // namespace

void warn_of_surprises(const Json& root, Reading& reading) {
  const auto is_mistake = [](const Finding& finding) { return !finding.warning; };
  if (std::any_of(reading.findings.begin(), reading.findings.end(), is_mistake)) return;
  Surprises(root, reading).tell_all();
}

}  // namespace halfopen::sim
