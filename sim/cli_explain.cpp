// `halfopen explain`: why an endpoint was out or a breaker open, what let it back, and what would have kept
// it in.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/cli.hpp"
#include "sim/cli_load.hpp"
#include "sim/cli_output.hpp"
#include "sim/cli_words.hpp"
#include "sim/explain.hpp"
#include "sim/explain_text.hpp"
#include "sim/explain_what_if.hpp"
#include "sim/simulation.hpp"
#include "sim/spelling.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace {

struct ExplainOptions {
  std::string file, name;
  std::optional<Nanos> at;
  LoadOptions load;
  bool all = false, ascii = false, no_what_if = false;
};

// ---- whom
// ---------------------------------------------------------------------------------------------------

std::vector<Subject> subjects_named(const Timeline& timeline, const std::string& name) {
  std::vector<Subject> out;
  for (std::uint32_t i = 0; i < timeline.lanes.size(); ++i) {
    const EndpointLane& lane = timeline.lanes[i];
    const std::string whole = timeline.upstream_names[lane.upstream] + '/' + lane.endpoint;
    if (name == lane.endpoint || name == whole) out.push_back({false, lane.upstream, i});
  }
  for (const BreakerLane& breaker : timeline.breakers) {
    if (timeline.upstream_names[breaker.upstream] == name) out.push_back({true, breaker.upstream, 0});
  }
  return out;
}

std::string nobody_text(const Timeline& timeline, const std::string& name) {
  const auto& upstreams = timeline.upstream_names;
  if (const auto found = std::find(upstreams.begin(), upstreams.end(), name); found != upstreams.end()) {
    const auto upstream = static_cast<std::uint32_t>(found - upstreams.begin());
    const auto lane = std::find_if(timeline.lanes.begin(), timeline.lanes.end(),
                                   [&](const EndpointLane& l) { return l.upstream == upstream; });
    const std::string example = lane == timeline.lanes.end() ? "" : ", such as " + lane->endpoint;
    return fmt::format("upstream '{}' has no breaker; name one of its endpoints{}", printable(name), example);
  }
  std::set<std::string> names(upstreams.begin(), upstreams.end());
  for (const EndpointLane& lane : timeline.lanes) {
    names.insert(lane.endpoint);
    names.insert(upstreams[lane.upstream] + '/' + lane.endpoint);
  }
  const std::string_view near = nearest(name, {names.begin(), names.end()});
  return fmt::format("there is no endpoint (address:port) and no upstream '{}'{}", printable(name),
                     near.empty() ? "" : fmt::format("; did you mean '{}'?", printable(near)));
}

// ---- what
// -----------------------------------------------------------------------------------------------------

// The outage that `at` falls in, else the stretch between outages; without `at` the first outage.
void choose(Explanation& what, const Timeline& timeline) {
  const auto& outages = what.outages;
  if (!what.at && !outages.empty()) {
    what.which = 0;
    return;
  }
  const Nanos at = what.at.value_or(timeline.duration - 1);
  Interval stretch{0, timeline.duration, LaneState::healthy, {}};
  for (std::size_t i = 0; i < outages.size(); ++i) {
    if (outages[i].from <= at && at < outages[i].to) {
      what.which = i;
      return;
    }
    if (outages[i].to <= at) stretch.from = outages[i].to;
    if (outages[i].from > at) stretch.to = std::min(stretch.to, outages[i].from);
  }
  const auto& states = states_of(timeline, what.subject);
  const bool there = std::any_of(states.begin(), states.end(), [&](const Interval& state) {
    return !what.at || (state.from <= at && at < state.to);
  });
  if (there) what.stretch = stretch;
}

Listener::Aim aim_of(const Scenario& scenario, const Timeline& timeline, const Explanation& what, bool all) {
  Listener::Aim aim;
  aim.subject = what.subject;
  if (what.which) {
    const Outage& outage = what.outages[*what.which];
    aim.out_at = aim.from = outage.from;
    aim.to = outage.to;
    for (std::size_t i = 0; i < *what.which; ++i) {
      for (const std::size_t place : what.outages[i].events) {
        const TimelineEvent& event = timeline.events[place];
        const bool out = event.type == EventType::endpoint_ejected || event.type == EventType::breaker_opened;
        aim.skip += out && event.t == outage.from;
      }
    }
    const Because& because = timeline.events[outage.events.front()].because;
    if (all) aim.keep = std::max<std::size_t>({aim.keep, because.volume, because.streak});
  } else if (what.stretch) {
    aim.from = what.stretch->from;
    if (all) aim.keep = 1000;  // nothing says how many of them counted for something
    aim.to = what.at.value_or(what.stretch->to);
    const std::string& upstream = timeline.upstream_names[what.subject.upstream];
    const UpstreamConfig* config = config_at(scenario, upstream, aim.to);
    if (config != nullptr && what.subject.breaker && config->breaker)
      aim.min_volume = config->breaker->error_volume;
    if (config != nullptr && !what.subject.breaker && config->health) {
      aim.min_volume = config->health->failure_min_volume;
    }
  }
  return aim;
}

// Runs the scenario again, once for each idea.
void try_ideas(Explanation& what, const Scenario& scenario, const Timeline& timeline, const Listener& heard,
               const ExplainOptions& options) {
  if (!what.which || options.no_what_if) return;
  if (timeline.summary.requests > MAX_WHAT_IF_REQUESTS) {
    what.not_tried = fmt::format("Not tried: the run has {}, and only runs of {} at most are repeated.",
                                 plural(timeline.summary.requests, "request"), grouped(MAX_WHAT_IF_REQUESTS));
    return;
  }
  const Outage& outage = what.outages[*what.which];
  const std::vector<WhatIf> ideas = what_ifs(scenario, timeline, what.subject, outage, heard.led());
  if (ideas.empty()) {
    what.not_tried =
        "Not tried: the settings in force came with a reload, which a change of the first ones does not "
        "reach.";
  }
  for (const WhatIf& idea : ideas) {
    LoadOptions load = options.load;
    load.sets.emplace_back(idea.pointer, idea.value);
    const Loaded changed = load_scenario_file(options.file, load);
    if (!changed.scenario) {
      what.tried.push_back({idea.label, "could not be tried: " + changed.mistakes.front().what});
      continue;
    }
    const Timeline other = simulate(*changed.scenario);
    what.tried.push_back({idea.label, what_happened_instead(timeline, outage, other, what.subject)});
  }
}

std::string explain(const Scenario& scenario, const Timeline& timeline, const Subject& subject,
                    const ExplainOptions& options) {
  Explanation what;
  what.subject = subject;
  what.outages = outages_of(timeline, subject);
  what.at = options.at;
  choose(what, timeline);
  Listener listener(scenario, timeline, aim_of(scenario, timeline, what, options.all));
  RunHooks hooks;
  hooks.observer = &listener;
  simulate(scenario, hooks);
  try_ideas(what, scenario, timeline, listener, options);
  TextStyle style;
  style.ascii = options.ascii;
  style.colour = stdout_wants_colour();
  if (options.all) style.max_events = std::numeric_limits<std::size_t>::max();
  return explanation_text(scenario, timeline, what, listener, style);
}

int command_explain(const ExplainOptions& options) {
  const std::optional<Scenario> scenario = load_and_tell(options.file, options.load);
  if (!scenario) return EXIT_BAD_INPUT;
  if (options.at && *options.at >= scenario->duration) {
    say(fmt::format("halfopen: --at {} ms is not within the run, which ends at {} ms",
                    decimal(static_cast<double>(*options.at) / 1e6, 6),
                    decimal(static_cast<double>(scenario->duration) / 1e6, 6)));
    return EXIT_BAD_INPUT;
  }
  const Timeline timeline = simulate(*scenario);
  const std::vector<Subject> subjects = subjects_named(timeline, options.name);
  if (subjects.empty()) {
    say("halfopen: " + nobody_text(timeline, options.name));
    return EXIT_BAD_INPUT;
  }
  std::string out;
  for (const Subject& subject : subjects) {
    if (!out.empty()) out += '\n' + std::string(PAGE_WIDTH, '-') + "\n\n";
    out += explain(*scenario, timeline, subject, options);
  }
  return write_stdout(out);
}

// ---- words
// ----------------------------------------------------------------------------------------------------

struct ExplainWords {
  ExplainOptions options;
  std::string at;
  LoadWords load;
};

Nanos instant_of(const std::string& text) {
  double ms = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ms);
  if (error != std::errc() || end != text.data() + text.size() || !(ms >= 0) ||
      ms > static_cast<double>(MAX_TIME_MS)) {
    throw CLI::ValidationError("--at", fmt::format("'{}' is no time in ms from 0 on", text));
  }
  return static_cast<Nanos>(ms * 1e6 + 0.5);
}

}  // namespace

void add_explain(CLI::App& app, Chosen& chosen) {
  auto words = std::make_shared<ExplainWords>();
  CLI::App* command =
      add_command(app, "explain",
                  "Tell why an endpoint was ejected or a breaker open: the outcomes that led there, the "
                  "counts against the limits, what let it back, whether it was right, and what would have "
                  "kept it in, which is found out by running the scenario again with one setting changed.",
                  "  halfopen explain scenarios/late-report.json 10.0.0.1:8080\n"
                  "  halfopen explain scenarios/breaker-before-ejection.json api --at 700");
  command->add_option("FILE", words->options.file, broken("The scenario"))->required();
  command
      ->add_option("NAME", words->options.name,
                   broken("An endpoint (address:port, or upstream/address:port), or an upstream, for its "
                          "breaker"))
      ->required();
  command
      ->add_option("--at", words->at,
                   broken("Explain this instant and the outage that it falls in. Default: the first outage"))
      ->type_name("MS");
  add_load_options(*command, words->load);
  command->add_flag("--no-what-if", words->options.no_what_if,
                    broken("Do not run the scenario again with other settings. Default: up to 4 runs"));
  command->add_flag("--ascii", words->options.ascii, broken("Write ASCII characters only. Default: off"));
  command->add_flag("--all", words->options.all,
                    broken("Show every outcome that counted, every event and every outage. Default: 12 "
                           "outcomes, 10 events, 10 other outages"));
  command->callback([words, &chosen] {
    words->options.load = words->load.options();
    if (!words->at.empty()) words->options.at = instant_of(words->at);
    chosen = [words] { return command_explain(words->options); };
  });
}

}  // namespace halfopen::sim
