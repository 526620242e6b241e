#include "sim/expectations.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "sim/expectations_detail.hpp"
#include "sim/number_format.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace expectations_detail {

namespace {

// Times in a file are rounded to the nearest nanosecond; what lies beyond every run is NEVER.
Nanos nanos_of(double ms) {
  constexpr double BEYOND = 9e12;  // ms; 285 years, and what llround can hold
  if (!(ms > 0)) return 0;
  return ms >= BEYOND ? NEVER : static_cast<Nanos>(std::llround(ms * static_cast<double>(NANOS_PER_MS)));
}

// Saturating: at_ms may be any number.
Nanos nanos_of(std::uint64_t ms) { return ms > NEVER / NANOS_PER_MS ? NEVER : ms * NANOS_PER_MS; }

}  // namespace

Span span_of(const TimeFilter& when) {
  Span span;
  if (when.at_ms) span = {nanos_of(*when.at_ms), nanos_of(*when.at_ms + (*when.at_ms < NEVER ? 1 : 0))};
  if (when.between_ms) {
    span.from = std::max(span.from, nanos_of(when.between_ms->first));
    span.to = std::min(span.to, nanos_of(when.between_ms->second));
  }
  return span;
}

std::string when_text(const TimeFilter& when) {
  std::string out;
  if (when.at_ms) out += fmt::format(", at {} ms", *when.at_ms);
  if (when.between_ms) {
    out += ", in [";
    append_double_ms(out, when.between_ms->first);
    out += ", ";
    append_double_ms(out, when.between_ms->second);
    out += ") ms";
  }
  return out;
}

}  // namespace expectations_detail

namespace {

namespace detail = expectations_detail;

struct Judge {
  const Timeline& timeline;
  Judgement operator()(const ExpectEvent& expect) const { return detail::judge_event(expect, timeline); }
  Judgement operator()(const ExpectState& expect) const { return detail::judge_state(expect, timeline); }
  Judgement operator()(const ExpectNever& expect) const {
    return detail::judge_event({expect.pattern, expect.when, CountIs::exactly, 0}, timeline);
  }
  Judgement operator()(const ExpectSequence&) const { return {}; }
  Judgement operator()(const ExpectMetric&) const { return {}; }
  Judgement operator()(const ExpectFingerprint&) const { return {}; }
};

}  // namespace

std::vector<Judgement> judge(const Scenario& scenario, const Timeline& timeline) {
  std::vector<Judgement> out;
  out.reserve(scenario.expect.size());
  for (const Expectation& expectation : scenario.expect) {
    if (expectation.problem.empty()) {
      out.push_back(std::visit(Judge{timeline}, expectation.what));
    } else {
      out.push_back({false, expectation.text, "it can't be evaluated: " + expectation.problem, nullptr});
    }
    out.back().expectation = &expectation;
  }
  return out;
}

std::string failure_text(const Judgement& judgement, std::string_view file) {
  const SourcePlace& place = judgement.expectation->place;
  return fmt::format("{}:{}:{}: expected {}\ngot {}", printable(file), place.line, place.column,
                     printable(judgement.expected), printable(judgement.got));
}

}  // namespace halfopen::sim
