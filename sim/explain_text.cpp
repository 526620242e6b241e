#include "sim/explain_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "sim/event_text.hpp"
#include "sim/explain_text_parts.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace {

// "10.0.0.1:8080 of api", "the breaker of api".
std::string name_of(const Told& told, std::string_view article) {
  const Subject& subject = told.what.subject;
  const std::string upstream = printable(told.timeline.upstream_names[subject.upstream], told.style.ascii);
  if (subject.breaker) return fmt::format("{} breaker of {}", article, upstream);
  return printable(told.timeline.lanes[subject.lane].endpoint, told.style.ascii) + " of " + upstream;
}

std::string span_text(Nanos from, Nanos to) {
  return fmt::format("from {} to {} ({})", instant_text(from), instant_text(to), length_text(to - from));
}

std::string outage_headline(const Told& told) {
  const Outage& outage = told.outage();
  std::string name = name_of(told, "The");
  std::string out = fmt::format("{} was {} {}", name, told.out_word(), span_text(outage.from, outage.to));
  if (outage.end == Outage::End::run) out += ", the end of the run";
  if (outage.end == Outage::End::reload) out += ", when a reload gave it a fresh start or took it away";
  out += ", by ";
  out += to_string(told.cause().rule);
  return out + '.';
}

std::string at_headline(const Told& told) {
  const Nanos at = *told.what.at;
  const auto& states = states_of(told.timeline, told.what.subject);
  const auto state = std::find_if(states.begin(), states.end(), [&](const Interval& interval) {
    return interval.from <= at && at < interval.to;
  });
  const std::string name = name_of(told, "the");
  if (state == states.end()) return fmt::format("At {} {} was not configured.", instant_text(at), name);
  std::string out = fmt::format("At {} {} was {}, since {}", instant_text(at), name,
                                lane_state_name(state->state), instant_text(state->from));
  if (state->state == LaneState::ejected && state->eligible && *state->eligible <= at) {
    out += fmt::format(", and a trial was possible since {}", instant_text(*state->eligible));
  }
  return out + '.';
}

std::string stretch_headline(const Told& told) {
  const std::string name = name_of(told, "The");
  const char* fine = told.what.subject.breaker ? "closed" : "healthy";
  if (told.what.outages.empty()) return fmt::format("{} was never {} in this run.", name, told.went_out());
  const Interval& stretch = *told.what.stretch;
  return fmt::format("{} was {} {}.", name, fine, span_text(stretch.from, stretch.to));
}

std::string headline(const Told& told) {
  std::string out;
  if (told.what.at) out += hanging("", at_headline(told));
  if (told.what.which)
    out += hanging("", outage_headline(told));
  else if (told.what.stretch)
    out += hanging("", stretch_headline(told));
  return out + '\n';
}

std::string tried_section(const Told& told) {
  if (told.what.tried.empty() && told.what.not_tried.empty()) return "";
  std::string out = heading(told, "What other settings would have done (each tried in a run of its own)");
  std::size_t width = 0;
  for (const Tried& tried : told.what.tried) width = std::max(width, columns_of(tried.label));
  for (const Tried& tried : told.what.tried) {
    out += hanging("  " + pad_right(tried.label, width) + "  ", tried.instead);
  }
  if (!told.what.not_tried.empty()) out += hanging("  ", told.what.not_tried);
  return out + '\n';
}

std::string others_section(const Told& told) {
  const std::size_t all = told.what.outages.size();
  const std::size_t others = all - (told.what.which ? 1 : 0);
  if (others == 0) return "";
  std::string out = heading(told, told.what.which ? "Its other outages" : "Its outages");
  std::size_t shown = 0;
  for (std::size_t i = 0; i < all; ++i) {
    if (told.what.which && *told.what.which == i) continue;
    if (shown++ == 10 && told.style.max_events < std::numeric_limits<std::size_t>::max()) {
      out += hanging("  ", fmt::format("... {} more, shown with --all", grouped(others - 10)));
      break;
    }
    const Outage& outage = told.what.outages[i];
    const TimelineEvent& event = told.timeline.events[outage.events.front()];
    out += hanging("  ", fmt::format("{}, by {}", span_text(outage.from, outage.to), to_string(event.rule)));
  }
  return out + '\n';
}

}  // namespace

std::string heading(const Told& told, std::string_view text) {
  return coloured(told.style, "1", text) + '\n';
}

std::string explanation_text(const Scenario& scenario, const Timeline& timeline, const Explanation& what,
                             const Listener& heard, const TextStyle& style) {
  const Told told{scenario, timeline, what, heard, style};
  std::string out = headline(told);
  if (what.which) {
    out += led_section(told) + limits_section(told) + until_back_section(told) + truth_section(told) +
           tried_section(told);
  } else if (what.stretch) {
    out += nearest_section(told) + led_section(told);
  }
  out += others_section(told);
  out.pop_back();  // sections are apart, the end is not
  return out;
}

}  // namespace halfopen::sim
