#include "sim/explain_what_if.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "core/active_probe.hpp"
#include "sim/event_text.hpp"
#include "sim/number_format.hpp"
#include "sim/text_layout.hpp"

namespace halfopen::sim {

namespace {

constexpr std::size_t MOST = 4;                             // each is a run
constexpr std::uint32_t NEVER_REACHED = NO_RATIO_RULE - 1;  // out of reach, and no sign of a probe

// The settings of the two machines under the names that files use.
struct Settings {
  std::string at;  // pointer of the block that holds them
  const char *streak, *ratio, *volume, *length;
};

class Ideas {
 public:
  explicit Ideas(Settings settings) : settings_(std::move(settings)) {}

  void add(const std::string& pointer, const std::string& value, std::string label) {
    if (ideas.size() < MOST) ideas.push_back({pointer, value, std::move(label)});
  }
  void change(const char* name, const std::string& value) {
    add(settings_.at + '/' + name, value, fmt::format("{} {}", name, value));
  }
  void count(const char* name, std::uint64_t value) {
    if (value < NEVER_REACHED) change(name, std::to_string(value));
  }
  void without(const char* rule, const char* name) {
    add(settings_.at + '/' + name, std::to_string(NEVER_REACHED), fmt::format("no {} rule", rule));
  }

  void against_streak(const Because& because) {
    count(settings_.streak, std::uint64_t{because.streak} + 1);
    without(settings_.streak, settings_.streak);
  }

  // Just above the share: the next whole percent, which people can read.
  void against_ratio(const Because& because) {
    const double share = static_cast<double>(because.failures) / static_cast<double>(because.volume);
    auto percent = static_cast<std::uint64_t>(share * 100) + 1;
    if (static_cast<double>(percent) / 100 <= share) ++percent;  // 0.29 * 100 is less than 29
    std::string value;
    append_double(value, static_cast<double>(percent) / 100);
    if (percent <= 100) change(settings_.ratio, value);
    count(settings_.volume, because.volume + 1);
    without(settings_.ratio, settings_.volume);
  }

  std::vector<WhatIf> ideas;

 private:
  Settings settings_;
};

std::size_t place_of(const Scenario& scenario, const std::string& upstream) {
  const auto found = std::find_if(scenario.upstreams.begin(), scenario.upstreams.end(),
                                  [&](const UpstreamConfig& config) { return config.name == upstream; });
  return static_cast<std::size_t>(found - scenario.upstreams.begin());
}

bool late_counted(const TimelineEvent* last, const std::deque<Heard>& led) {
  if (last != nullptr && last->via == Via::late_report) return true;
  return std::any_of(led.begin(), led.end(),
                     [](const Heard& heard) { return heard.late && heard.failure && !heard.ignored; });
}

std::string cost_text(const Timeline& timeline, const Timeline& other) {
  const std::uint64_t before = timeline.summary.failed, after = other.summary.failed;
  if (before == after) return fmt::format("as many requests fail ({})", grouped(after));
  return fmt::format("{} fail instead of {}", plural(after, "request"), grouped(before));
}

std::string rule_text(const Timeline& timeline, const Outage& outage) {
  const TimelineEvent& event = timeline.events[outage.events.front()];
  const Because& b = event.because;
  if (event.rule == Rule::consecutive_failures) {
    return fmt::format("by {}: {} in a row{}", to_string(event.rule), plural(b.streak, "failure"),
                       judged_by_probes(b) ? " (active health)" : "");
  }
  return fmt::format("by {}: {} of {} failed", to_string(event.rule), grouped(b.failures), grouped(b.volume));
}

std::string end_text(const Outage& outage) {
  return outage.end == Outage::End::run ? "still out at the end" : "back at " + instant_text(outage.to);
}

std::string end_instead(const Outage& instead, const Outage& outage) {
  if (instead.to == outage.to && instead.end == outage.end) return "and out as long";
  const bool both = instead.end != Outage::End::run && outage.end != Outage::End::run;
  return fmt::format("but {} instead of {}", end_text(instead),
                     both ? instant_text(outage.to) : end_text(outage));
}

}  // namespace

std::vector<WhatIf> what_ifs(const Scenario& scenario, const Timeline& timeline, const Subject& subject,
                             const Outage& outage, const std::deque<Heard>& led) {
  const std::string& upstream = timeline.upstream_names[subject.upstream];
  const std::size_t place = place_of(scenario, upstream);
  const bool reloaded = !scenario.reloads.empty() && scenario.reloads.front().at <= outage.from;
  if (reloaded || place == scenario.upstreams.size()) return {};
  const std::string at = fmt::format("/upstreams/{}", place);
  Ideas ideas(subject.breaker ? Settings{at + "/breaker", "consecutive_failures", "error_ratio",
                                         "error_volume", "open_ms"}
                              : Settings{at + "/health", "consecutive_failures", "failure_ratio",
                                         "failure_min_volume", "eject_ms"});
  const TimelineEvent& event = timeline.events[outage.events.front()];
  const TimelineEvent* last =
      outage.end == Outage::End::back ? &timeline.events[outage.events.back()] : nullptr;
  if (judged_by_probes(event.because)) {
    const std::uint64_t threshold = std::uint64_t{event.because.streak} + 1;
    ideas.add(at + "/active_health/failure_threshold", std::to_string(threshold),
              fmt::format("active failure_threshold {}", threshold));
  } else if (event.rule == Rule::consecutive_failures) {
    ideas.against_streak(event.because);
  } else {
    ideas.against_ratio(event.because);
  }
  if (!subject.breaker && late_counted(last, led)) {
    ideas.add(at + "/late_reports", "ignore", "late_reports ignore");
  }
  const bool waited = last == nullptr || last->via == Via::half_open_probe || subject.breaker;
  const Nanos half = event.because.for_ms / 2 * NANOS_PER_MS;
  if (waited && half > 0 && half < outage.to - outage.from) {
    ideas.count(subject.breaker ? "open_ms" : "eject_ms", event.because.for_ms / 2);
  }
  return std::move(ideas.ideas);
}

std::string what_happened_instead(const Timeline& timeline, const Outage& outage, const Timeline& other,
                                  const Subject& subject) {
  const std::vector<Outage> others = outages_of(other, subject);
  const auto met = std::find_if(others.begin(), others.end(),
                                [&](const Outage& instead) { return instead.to > outage.from; });
  const char* out = subject.breaker ? "opened" : "ejected";
  const std::string cost = "; " + cost_text(timeline, other);
  if (met == others.end()) return fmt::format("not {} then or later{}", out, cost);
  const std::string how = rule_text(other, *met);
  if (met->from == outage.from) {
    return fmt::format("{} at the same instant {}, {}{}", out, how, end_instead(*met, outage), cost);
  }
  if (met->from < outage.from) {
    return fmt::format("out already since {}, {}; {}{}", instant_text(met->from), how, end_text(*met), cost);
  }
  if (met->from >= outage.to) {
    return fmt::format("not {} then, but at {}, {}; {}{}", out, instant_text(met->from), how, end_text(*met),
                       cost);
  }
  return fmt::format("{} {} later, {}; {}{}", out, length_text(met->from - outage.from), how, end_text(*met),
                     cost);
}

}  // namespace halfopen::sim
