#include "sim/timeline_back_json.hpp"

#include <algorithm>
#include <exception>
#include <cstdint>
#include <limits>
#include <map>
#include <new>
#include <variant>

#include "sim/event_text.hpp"
#include "sim/json_fields.hpp"
#include "sim/timeline_json.hpp"

namespace halfopen::sim {

namespace {

constexpr std::uint64_t ANY = std::numeric_limits<std::uint64_t>::max();
constexpr double NOTHING = std::numeric_limits<double>::quiet_NaN();

class Restorer {
 public:
  explicit Restorer(const TimelineFile& file) : file_(file) {}

  TimelineBack restore() {
    meta();
    if (file_.intervals.is_object()) intervals();
    if (file_.series.is_object()) series();
    out_.whole = file_.intervals.is_object() && file_.series.is_object();
    events();
    summary();
    expectations();
    return std::move(out_);
  }

  std::vector<Finding>& findings() { return findings_; }

 private:
  void meta() {
    Fields fields(file_.meta, "/meta", findings_, "meta");
    Timeline& timeline = out_.timeline;
    timeline.name = fields.text("name").value_or("");
    timeline.question = fields.text("question").value_or("");
    timeline.seed = fields.whole("seed", 0, ANY, Need::required).value_or(1);
    out_.version = fields.text("version", Need::required).value_or("");
    out_.digest = fields.text("digest", Need::required).value_or("");
    out_.fingerprint = fields.text("fingerprint", Need::required).value_or("");
    timeline.duration = fields.time("duration_ms", POSITIVE_TIME, Need::required).value_or(1);
    timeline.sample = fields.time("sample_ms", POSITIVE_TIME, Need::required).value_or(1);
  }

  // By first appearance; a handful of upstreams, and lanes come in their order.
  std::uint32_t upstream(const std::string& name) {
    std::vector<std::string>& names = out_.timeline.upstream_names;
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) names.push_back(name);
    return static_cast<std::uint32_t>(std::find(names.begin(), names.end(), name) - names.begin());
  }

  std::uint32_t lane(std::uint32_t upstream, const std::string& endpoint) {
    std::vector<EndpointLane>& lanes = out_.timeline.lanes;
    const auto [known, fresh] =
        lane_numbers_.try_emplace({upstream, endpoint}, static_cast<std::uint32_t>(lanes.size()));
    if (fresh) {
      lanes.emplace_back().upstream = upstream;
      lanes.back().endpoint = endpoint;
    }
    return known->second;
  }

  // Calls take(fields, place in the list) for each object of a list.
  template <class Take>
  void each(const Json* list, const std::string& pointer, std::string_view noun, Take take) {
    if (list == nullptr) return;
    for (std::size_t n = 0; n < list->size(); ++n) {
      Fields fields((*list)[n], join(pointer, n), findings_, noun);
      if (fields.is_object()) take(fields, n);
    }
  }

  std::vector<Interval> lane_of(Fields& fields, const std::vector<LaneState>& states) {
    std::vector<Interval> out;
    std::vector<std::string_view> words;
    for (const LaneState state : states) words.emplace_back(lane_state_name(state));
    each(fields.list("lane", Need::required), fields.at("lane"), "an interval", [&](Fields& one, std::size_t) {
      Interval& interval = out.emplace_back();
      interval.from = one.time("from_ms", ANY_TIME, Need::required).value_or(0);
      interval.to = one.time("to_ms", ANY_TIME, Need::required).value_or(0);
      interval.state = states[one.word("state", words, Need::required).value_or(0)];
      interval.eligible = one.time("eligible_ms", ANY_TIME);
    });
    return out;
  }

  void fault(Fields& fields) {
    FaultLane& out = out_.timeline.faults.emplace_back();
    out.endpoint = fields.text("endpoint", Need::required).value_or("");
    out.fault = static_cast<std::uint32_t>(
        fields.whole("fault", 0, std::numeric_limits<std::uint32_t>::max(), Need::required).value_or(0));
    out.kind = fields.text("kind", Need::required).value_or("");
    out.scope = static_cast<Scope>(fields.word("scope", {"both", "traffic", "probes"}).value_or(0));
    const Json* const lane = fields.list("lane", Need::required);
    if (lane == nullptr) return;
    for (std::size_t n = 0; n < lane->size(); ++n) {
      const Json& pair = (*lane)[n];
      Interval interval;
      interval.state = LaneState::active;
      const bool good = pair.is_array() && pair.size() == 2 && time_of(pair[0], ANY_TIME, interval.from) &&
                        time_of(pair[1], ANY_TIME, interval.to);
      if (good) {
        out.intervals.push_back(interval);
      } else {
        tell(join(fields.at("lane"), n), "an interval of a fault is a pair of times in ms");
      }
    }
  }

  void intervals() {
    Fields fields(file_.intervals, "/intervals", findings_, "intervals");
    each(fields.list("endpoints", Need::required), fields.at("endpoints"), "an endpoint's lane",
         [&](Fields& one, std::size_t) {
           const std::uint32_t where = upstream(one.text("upstream", Need::required).value_or(""));
           const std::uint32_t number = lane(where, one.text("endpoint", Need::required).value_or(""));
           out_.timeline.lanes[number].intervals =
               lane_of(one, {LaneState::healthy, LaneState::ejected, LaneState::half_open});
         });
    each(fields.list("breakers"), fields.at("breakers"), "a breaker's lane", [&](Fields& one, std::size_t) {
      const std::uint32_t where = upstream(one.text("upstream", Need::required).value_or(""));
      std::vector<Interval> lane = lane_of(one, {LaneState::closed, LaneState::open, LaneState::breaker_half_open});
      out_.timeline.breakers.push_back({where, std::move(lane)});
    });
    each(fields.list("faults"), fields.at("faults"), "a fault's lane",
         [&](Fields& one, std::size_t) { fault(one); });
  }

  // One value per bin; all columns are as long as the first.
  template <class Value, class Read>
  void column(Fields& fields, std::string_view name, std::vector<Value>& out, std::string_view rule, Read read) {
    const Json* const list = fields.list(name, Need::required);
    if (list == nullptr) return;
    if (!bins_) bins_ = list->size();
    if (list->size() != *bins_) {
      return fields.tell(name, "it has " + std::to_string(list->size()) + " values: each column has one a bin, " +
                                   std::to_string(*bins_));
    }
    out.reserve(list->size());
    for (std::size_t n = 0; n < list->size(); ++n) {
      Value value{};
      if (!read((*list)[n], value)) {
        return tell(join(fields.at(name), n), "it is " + shown((*list)[n]) + ": it must be " + std::string(rule));
      }
      out.push_back(value);
    }
  }

  void counts(Fields& fields, std::string_view name, std::vector<std::uint64_t>& out) {
    column(fields, name, out, "a whole number",
           [](const Json& value, std::uint64_t& to) { return whole_number(value, 0, ANY, to); });
  }

  void latencies(Fields& fields, std::string_view name, std::vector<double>& out) {
    column(fields, name, out, "a number of ms, or null", [](const Json& value, double& to) {
      to = value.is_number() ? value.get<double>() : NOTHING;
      return value.is_number() || value.is_null();
    });
  }

  void series() {
    Fields fields(file_.series, "/series", findings_, "series");
    Series& out = out_.timeline.series;
    counts(fields, "requests", out.requests);
    counts(fields, "ok", out.ok);
    counts(fields, "failed", out.failed);
    counts(fields, "fast_failed", out.fast_failed);
    counts(fields, "retried", out.retried);
    counts(fields, "fail_open_picks", out.fail_open_picks);
    latencies(fields, "latency_p50_ms", out.latency_p50_ms);
    latencies(fields, "latency_p95_ms", out.latency_p95_ms);
    latencies(fields, "latency_p99_ms", out.latency_p99_ms);
    counts(fields, "in_flight", out.in_flight);
    each(fields.list("endpoints", Need::required), fields.at("endpoints"), "an endpoint's series",
         [&](Fields& one, std::size_t) { endpoint_series(one); });
  }

  void endpoint_series(Fields& fields) {
    const std::uint32_t where = upstream(fields.text("upstream", Need::required).value_or(""));
    EndpointLane& out = out_.timeline.lanes[lane(where, fields.text("endpoint", Need::required).value_or(""))];
    if (!out.attempts.empty()) return fields.tell_here("this endpoint of this upstream stands here twice");
    counts(fields, "attempts", out.attempts);
    counts(fields, "failures", out.failures);
    column(fields, "state", out.state, "healthy, ejected, half_open or null",
           [](const Json& value, std::int8_t& to) {
             to = -1;
             if (value.is_null()) return true;
             for (const LaneState state : {LaneState::healthy, LaneState::ejected, LaneState::half_open}) {
               if (value == lane_state_name(state)) to = static_cast<std::int8_t>(state);
             }
             return to >= 0;
           });
  }

  void events() {
    for (std::size_t n = 0; n < file_.events.size(); ++n) {
      std::optional<EventOfFile> read = read_event(file_.events[n], join("/events", n), findings_);
      if (!read) continue;
      read->event.upstream = upstream(read->upstream);
      if (read->endpoint) {
        read->event.endpoint = static_cast<std::int32_t>(lane(read->event.upstream, *read->endpoint));
      }
      out_.timeline.events.push_back(read->event);
    }
  }

  void summary() {
    Fields fields(file_.summary, "/summary", findings_, "summary");
    for (const Metric& metric : metrics()) {
      const Json* const value = fields.get(metric.name);
      std::uint64_t count = 0;
      if (value == nullptr) continue;  // of an older version
      const bool is_measure = std::holds_alternative<double Summary::*>(metric.source) || metric.unit == "ms" ||
                              metric.unit == "ratio";
      if (!is_measure && whole_number(*value, 0, ANY, count)) {
        out_.summary.emplace_back(metric.name, count);
      } else if (value->is_number()) {
        out_.summary.emplace_back(metric.name, value->get<double>());
      } else if (value->is_null()) {
        out_.summary.emplace_back(metric.name, NOTHING);
      } else {
        fields.wrong(metric.name, "a number or null");
      }
    }
  }

  void expectations() {
    const Json* const list = file_.expectations.is_array() ? &file_.expectations : nullptr;
    each(list, "/expectations", "an expectation", [&](Fields& fields, std::size_t n) {
      out_.expectations.emplace_back().text = n < file_.expect_texts.size() ? file_.expect_texts[n] : "";
      Judgement& judgement = out_.judgements.emplace_back();
      const Json* const held = fields.get("held", Need::required);
      if (held != nullptr && !held->is_boolean()) fields.wrong("held", "true or false");
      judgement.held = held != nullptr && held->is_boolean() && held->get<bool>();
      judgement.expected = fields.text("expected", Need::required).value_or("");
      judgement.got = fields.text("got", Need::required).value_or("");
    });
    for (std::size_t n = 0; n < out_.judgements.size(); ++n) {
      out_.judgements[n].expectation = &out_.expectations[n];
    }
  }

  void tell(const std::string& pointer, std::string what) {
    Finding finding;
    finding.pointer = pointer;
    finding.what = std::move(what);
    findings_.push_back(std::move(finding));
  }

  const TimelineFile& file_;
  TimelineBack out_;
  std::vector<Finding> findings_;
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> lane_numbers_;
  std::optional<std::size_t> bins_;
};

}  // namespace

TimelineBackRead timeline_back(std::string_view text, const std::string& file) {
  TimelineBackRead out;
  try {
    ReadTimeline read = read_timeline(text, file);
    out.mistakes = std::move(read.mistakes);
    if (!read.timeline) return out;
    Restorer restorer(*read.timeline);
    out.back = restorer.restore();
    for (Finding& finding : restorer.findings()) {
      out.mistakes.push_back({file, 0, 0, std::move(finding.pointer), std::move(finding.what), finding.warning});
    }
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    out.mistakes.push_back({file, 0, 0, "", std::string("it could not be read: ") + error.what(), false});
  }
  if (!out.mistakes.empty()) out.back.reset();
  return out;
}

}  // namespace halfopen::sim
