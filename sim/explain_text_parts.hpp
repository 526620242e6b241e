// The sections of an explanation. Each ends with an empty line, or is empty.
#pragma once

#include <string>
#include <string_view>

#include "sim/explain_text.hpp"

namespace halfopen::sim {

struct Told {
  const Scenario& scenario;
  const Timeline& timeline;
  const Explanation& what;
  const Listener& heard;
  const TextStyle& style;

  const Outage& outage() const { return what.outages[*what.which]; }  // only where one is told
  const TimelineEvent& cause() const { return timeline.events[outage().events.front()]; }
  const char* out_word() const { return what.subject.breaker ? "open" : "ejected"; }
  const char* went_out() const { return what.subject.breaker ? "opened" : "ejected"; }
};

std::string heading(const Told& told, std::string_view text);
std::string request_text(const Told& told, const Heard& heard);  // "#44 retry 1"; "a probe"

std::string led_section(const Told& told);         // the outcomes that were reported
std::string limits_section(const Told& told);      // the counts against the limits, of an outage
std::string nearest_section(const Told& told);     // how near it came, of a stretch
std::string until_back_section(const Told& told);  // what happened from the ejection on
std::string truth_section(const Told& told);       // what only the simulation knows

}  // namespace halfopen::sim
