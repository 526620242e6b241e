#include "sim/expectations.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "sim/expectations_detail.hpp"
#include "sim/number_format.hpp"
#include "sim/utf8.hpp"
#include "sim/writer_parts.hpp"

namespace halfopen::sim {

namespace expectations_detail {

namespace {

// Saturating: at_ms may be any number.
Nanos nanos_of(std::uint64_t ms) { return ms > NEVER / NANOS_PER_MS ? NEVER : ms * NANOS_PER_MS; }

}  // namespace

Window span_of(const TimeFilter& when) {
  Window span;
  if (when.at_ms) span = {nanos_of(*when.at_ms), nanos_of(*when.at_ms + (*when.at_ms < NEVER ? 1 : 0))};
  if (when.between_ms) {
    const Window between = window_of(*when.between_ms);
    span.from = std::max(span.from, between.from);
    span.to = std::min(span.to, between.to);
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

std::string ms_text(Nanos value) {
  std::string out;
  append_ms(out, value);
  return out + " ms";
}

std::string ordinal(std::uint64_t n) {
  const bool teen = n % 100 / 10 == 1;
  const char* end = teen || n % 10 == 0 || n % 10 > 3 ? "th" : n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : "rd";
  return std::to_string(n) + end;
}

Judgement not_evaluated(std::string expected, const std::string& why) {
  return {false, std::move(expected), "it can't be evaluated: " + why, nullptr};
}

Judgement judge_fingerprint(const ExpectFingerprint& expect, const Timeline& timeline) {
  const std::string digits = hex16(fingerprint(timeline));
  Judgement out{digits == expect.digits, "events of fingerprint " + expect.digits, digits, nullptr};
  if (!out.held) out.got += "; what differs from an earlier timeline is told by halfopen diff";
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
  Judgement operator()(const ExpectSequence& expect) const {
    return detail::judge_sequence(expect, timeline);
  }
  Judgement operator()(const ExpectMetric& expect) const { return detail::judge_metric(expect, timeline); }
  Judgement operator()(const ExpectFingerprint& expect) const {
    return detail::judge_fingerprint(expect, timeline);
  }
};

}  // namespace

std::vector<Judgement> judge(const Scenario& scenario, const Timeline& timeline) {
  std::vector<Judgement> out;
  out.reserve(scenario.expect.size());
  for (const Expectation& expectation : scenario.expect) {
    if (expectation.problem.empty()) {
      out.push_back(std::visit(Judge{timeline}, expectation.what));
    } else {
      out.push_back(detail::not_evaluated(expectation.text, expectation.problem));
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
