// The lines of `watch` for a person.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "sim/cli_probe_text.hpp"
#include "sim/cli_watch_writer.hpp"
#include "sim/event_text.hpp"
#include "sim/text_layout.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace {

constexpr std::uint64_t DAY_MS = 24 * 60 * 60 * 1000;
constexpr const char* RED = "31";
constexpr const char* GREEN = "32";

std::string day_text(Instant at) {
  const std::chrono::sys_days day{std::chrono::days{static_cast<std::int64_t>(at.ms / DAY_MS)}};
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

// "12:03:04.123Z": UTC, as logs of several machines have in common.
std::string time_text(Instant at) {
  const std::uint64_t ms = at.ms % DAY_MS;
  return fmt::format("{:02}:{:02}:{:02}.{:03}Z", ms / 3'600'000, ms / 60'000 % 60, ms / 1000 % 60, ms % 1000);
}

std::string name_text(const std::string& upstream, const std::string& endpoint) {
  return printable(upstream + " " + endpoint);
}

// "refused", "status 503", "tls (certificate has expired)".
std::string verdict_words(const ProbeReport& report) {
  return verdict_text(report) + printable(detail_text(report));
}

std::string length_in_ms(Nanos length) { return length_text(length / NANOS_PER_MS * NANOS_PER_MS); }

std::string counted(const WatchPlan& plan) {
  return fmt::format("{} of {}", plural(plan.watched_endpoints(), "endpoint"),
                     plural(plan.watched_upstreams(), "upstream"));
}

std::string row(const std::string& name, const std::string& probes, const std::string& failed,
                const std::string& ejections, const std::string& out, const std::string& state) {
  constexpr std::size_t NAME_WIDTH = 29;
  return pad_right(shorten(name, NAME_WIDTH, false), NAME_WIDTH) + pad_left(probes, 9) + pad_left(failed, 8) +
         pad_left(ejections, 11) + pad_left(out, 10) + "  " + state + '\n';
}

// What is known of it: the state of an endpoint that nothing judges is none.
std::string state_text(const WatchEnd::Endpoint& endpoint) {
  if (!endpoint.tally.watched) return "not watched";
  if (endpoint.tally.gave_up) return "given up";
  return endpoint.state ? to_string(*endpoint.state) : "not probed";
}

std::string row_of(const WatchEnd::Endpoint& endpoint, Nanos now) {
  const WatchTally& tally = endpoint.tally;
  const Nanos out = tally.out_until(now);
  return row(name_text(tally.upstream, tally.endpoint), grouped(tally.probes), grouped(tally.failed),
             grouped(tally.ejections), out == 0 ? "-" : length_in_ms(out), state_text(endpoint));
}

std::string notes_on(const WatchEnd& end) {
  std::string out;
  bool some_half_open = false;
  for (const WatchEnd::Endpoint& endpoint : end.endpoints) {
    some_half_open = some_half_open || endpoint.state == HealthState::half_open;
    const WatchTally& tally = endpoint.tally;
    if (tally.no_verdict == 0) continue;
    out += hanging("", fmt::format("{}: {} without a verdict{}", name_text(tally.upstream, tally.endpoint),
                                   plural(tally.no_verdict, "iteration"),
                                   tally.gave_up ? "; given up, so nothing probes it" : ""));
  }
  if (some_half_open) {
    out += hanging("", "half_open: its ejection has run out, so that the next request would be a trial.");
  }
  if (end.dropped_lines > 0) {
    out +=
        hanging("", fmt::format("{} not told, {} among them, because standard output was not read in time",
                                plural(end.dropped_lines, "line"), plural(end.dropped_events, "transition")));
  }
  return out;
}

class TextLines final : public WatchWriter {
 public:
  TextLines(bool verdicts, bool colour) : verdicts_(verdicts) { style_.colour = colour; }

  std::string begun(const WatchPlan&, const WatchTime& time) override {
    day_ = day_text(time.at);
    return "";
  }

  std::string note(const WatchNote& note) override {
    const std::string name = name_text(note.subject.upstream, note.subject.endpoint);
    if (!note.report) return line(note.time, name + "  " + no_verdict(note));
    std::string out;
    const std::string verdict = verdict_words(*note.report);
    if (verdicts_) {
      const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(note.report->total).count();
      out = line(note.time, fmt::format("{}  probe: {} in {} ms", name, verdict,
                                        decimal(static_cast<double>(micros) / 1000, 3)));
    }
    for (const Event& event : note.events) {
      const bool back = event.type == EventType::endpoint_recovered;
      out += line(note.time, fmt::format("{}  {}; last probe: {}", name,
                                         coloured(style_, back ? GREEN : RED,
                                                  reason_text(timeline_event(event, note.time.since))),
                                         verdict));
    }
    return out;
  }

  std::string reloaded(const WatchPlan& plan, const WatchChange& change, const WatchTime& time) override {
    return line(time, fmt::format("the file was read again: {}, {} new, {} gone", counted(plan), change.added,
                                  change.removed));
  }

  std::string refused(const std::vector<std::string>& why, const WatchTime& time) override {
    return line(time, fmt::format("the file was read again and can't be used ({}): what was watched stays",
                                  plural(why.size(), "mistake")));
  }

  std::string ended(const WatchEnd& end) override {
    std::uint64_t ejections = 0, recoveries = 0;
    std::string rows;
    for (const WatchEnd::Endpoint& endpoint : end.endpoints) {
      ejections += endpoint.tally.ejections;
      recoveries += endpoint.tally.recoveries;
      rows += row_of(endpoint, end.time.since);
    }
    return fmt::format("\nwatched for {}: {}, {}\n", length_in_ms(end.time.since),
                       plural(ejections, "ejection"),
                       recoveries == 1 ? "1 recovery" : grouped(recoveries) + " recoveries") +
           row("", "probes", "failed", "ejections", "out", "state") + rows + notes_on(end);
  }

 private:
  static std::string no_verdict(const WatchNote& note) {
    const std::string what = printable(note.what);
    if (note.gave_up()) {
      return fmt::format("given up after {} iterations without a verdict: {}; repair that, then send SIGHUP",
                         note.in_a_row, what);
    }
    return fmt::format("no verdict, {} in a row: {}", note.in_a_row, what);
  }

  // After the date, where it is another one than that of the line before.
  std::string line(const WatchTime& time, const std::string& text) {
    const std::string day = day_text(time.at);
    const std::string date = day == day_ ? "" : "-- " + day + '\n';
    day_ = day;
    return date + time_text(time.at) + "  " + text + '\n';
  }

  bool verdicts_;
  TextStyle style_;
  std::string day_;
};

std::string how_text(const UpstreamConfig& upstream) {
  const ActiveParams& active = *upstream.active_health;
  const std::string what = active.kind == ProbeKind::tcp ? "tcp" : "GET " + active.path;
  std::string every = length_text(active.interval_ms * NANOS_PER_MS);
  if (active.jitter_ms > 0)
    every += " to " + length_text((active.interval_ms + active.jitter_ms) * NANOS_PER_MS);
  return fmt::format(
      "{}, {} every {}; out after {}, back after {} in a row", plural(upstream.endpoints.size(), "endpoint"),
      what, every, plural(active.failure_threshold, "failure"),
      active.success_threshold == 1 ? "1 success" : grouped(active.success_threshold) + " successes");
}

}  // namespace

std::unique_ptr<WatchWriter> watch_text(bool verdicts, bool colour) {
  return std::make_unique<TextLines>(verdicts, colour);
}

std::string watch_head(const WatchPlan& plan, const WatchTime& time) {
  std::string out = hanging("", fmt::format("watching {} since {} {}Z; Ctrl-C ends it", counted(plan),
                                            day_text(time.at), time_text(time.at).substr(0, 8)));
  for (const UpstreamConfig& upstream : plan.upstreams) {
    out += hanging("  " + shorten(printable(upstream.name), 24, false) + ": ",
                   upstream.active_health ? printable(how_text(upstream))
                                          : "not watched, because it has no active_health");
  }
  out.pop_back();
  return out;
}

std::size_t WatchPlan::watched_upstreams() const {
  return static_cast<std::size_t>(
      std::count_if(upstreams.begin(), upstreams.end(),
                    [](const UpstreamConfig& u) { return u.active_health.has_value(); }));
}

std::size_t WatchPlan::watched_endpoints() const {
  std::size_t count = 0;
  for (const UpstreamConfig& upstream : upstreams) {
    if (upstream.active_health) count += upstream.endpoints.size();
  }
  return count;
}

TimelineEvent timeline_event(const Event& event, Nanos since) {
  TimelineEvent out;
  out.t = since;
  out.type = event.type;
  out.rule = event.rule;
  out.via = event.via;
  out.because = event.because;
  return out;
}

}  // namespace halfopen::sim
