#include "sim/cli_watch_run.hpp"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/gateway.hpp"
#include "core/prober/clocks.hpp"
#include "sim/cli.hpp"
#include "sim/cli_output.hpp"
#include "sim/cli_reader.hpp"
#include "sim/cli_stop.hpp"
#include "sim/cli_watch_book.hpp"
#include "sim/cli_watch_writer.hpp"
#include "sim/upstreams_json.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace {

using namespace std::chrono_literals;

// How soon it is noticed that nobody reads any more.
constexpr std::chrono::nanoseconds PERIOD = 200ms;

// Asked without writing: an endpoint may stay as it is for hours after `| grep -m1 ejected` has left.
bool nobody_reads() {
  pollfd standard_output{STDOUT_FILENO, 0, 0};
  return stdout_reader_left() ||
         (::poll(&standard_output, 1, 0) == 1 && (standard_output.revents & (POLLERR | POLLHUP)) != 0);
}

// A gateway would find out by its probes alone; whoever watches wants to know at once. Only opened by the
// probes: a pipe gives its bytes once.
std::vector<std::string> ca_problems(const std::string& file, const std::vector<UpstreamConfig>& upstreams) {
  std::vector<std::string> out;
  for (const UpstreamConfig& upstream : upstreams) {
    const std::string& ca = upstream.trusted_ca_file;
    if (!upstream.active_health || upstream.endpoints.empty() || ca.empty()) continue;
    const ProbeTarget target = ProbeTarget::of(upstream, upstream.endpoints.front());
    if (!target.speaks_tls()) continue;
    if (const auto problem = why_not_readable(ca)) {
      out.push_back(fmt::format("{}: upstream {}: trusted_ca_file {} can't be read: {}", file,
                                printable(upstream.name), printable(ca), *problem));
    }
  }
  return out;
}

// The file as it is now, with all its mistakes in `why` and on standard error, or none.
std::optional<WatchPlan> read_plan(const std::string& file, std::vector<std::string>& why) {
  LoadedUpstreams loaded = load_upstreams_file(file);
  for (const Mistake& mistake : loaded.mistakes) {
    say(mistake.text());
    if (!mistake.warning) why.push_back(mistake.text());
  }
  if (!loaded.upstreams) return std::nullopt;
  for (const std::string& problem : ca_problems(file, *loaded.upstreams)) {
    why.push_back(problem);
    say("halfopen: " + problem);
  }
  if (!why.empty()) return std::nullopt;
  WatchPlan plan{file, *std::move(loaded.upstreams)};
  if (plan.watched_endpoints() > 0) return plan;
  why.push_back(file + ": no upstream has active_health, which says how to probe: there is nothing to watch");
  say("halfopen: " + why.back());
  return std::nullopt;
}

class Watch {
 public:
  Watch(const WatchOptions& options, WatchPlan plan)
      : options_(options),
        plan_(std::move(plan)),
        writer_(options.json ? watch_json(options.verdicts)
                             : watch_text(options.verdicts, stdout_wants_colour())),
        book_(options.verdicts),
        gateway_(book_.sink()),
        probes_(probe_options(book_)) {}

  int run() {
    const StopOnInterrupt interrupts([this] { book_.ask_to_reload(); });
    const std::stop_callback stop(interrupts.token(), [this] { book_.ask_to_stop(); });
    const ReaderPatience patience([this] { return book_.is_to_stop() || !time_left(); });
    say(watch_head(plan_, book_.now()));
    say_who_is_never_probed();
    put(writer_->begun(plan_, book_.now()));
    apply();
    probes_.respawn(gateway_.upstreams());
    while (status_ == EXIT_HELD && !nobody_reads()) {
      const std::optional<std::chrono::nanoseconds> left = time_left();
      if (!left) break;
      const WatchBook::Mail mail = book_.wait(*left);
      tell(mail);
      if (book_.is_to_stop()) break;
      if (mail.reload) reload();
    }
    probes_.abort_all();
    tell(book_.take_notes());
    put(writer_->ended(end()));
    return status_;
  }

 private:
  static ActiveProbes::Options probe_options(WatchBook& book) {
    ActiveProbes::Options options;
    options.observer = &book;
    return options;
  }

  // The first probe comes a whole interval after the start.
  void say_who_is_never_probed() const {
    if (!options_.for_ms) return;
    for (const UpstreamConfig& upstream : plan_.upstreams) {
      if (!upstream.active_health || upstream.active_health->interval_ms < *options_.for_ms) continue;
      std::string note = hanging(
          "",
          fmt::format("note: --for-ms {} ends it before the first probe of {}, an interval_ms of {} after "
                      "the start",
                      *options_.for_ms, printable(upstream.name), upstream.active_health->interval_ms));
      note.pop_back();
      say(note);
    }
  }

  // Until it is to be looked about again; none: the time is over.
  std::optional<std::chrono::nanoseconds> time_left() const {
    if (!options_.for_ms) return PERIOD;
    const Nanos whole = *options_.for_ms * NANOS_PER_MS, since = book_.now().since;
    if (since >= whole) return std::nullopt;
    return std::min(PERIOD, std::chrono::nanoseconds(whole - since));
  }

  void put(const std::string& text) {
    // What can't be written is told once.
    if (!text.empty() && status_ == EXIT_HELD) status_ = write_stdout(text);
  }

  void tell(const WatchBook::Mail& mail) {
    std::string text;
    for (const WatchNote& note : mail.notes) {
      text += writer_->note(note);
      last_is_to_end_ = last_is_to_end_ || note.gave_up();
    }
    put(text);
    dropped_lines_ += mail.dropped_lines;
    dropped_events_ += mail.dropped_events;
    if (mail.dropped_lines > 0) {
      say(fmt::format("halfopen: standard output is not read in time: {} not told, {} among them",
                      plural(mail.dropped_lines, "line"), plural(mail.dropped_events, "transition")));
    }
    // A loop tells that it gives up before it has ended: the last one may still be counted now, and not
    // later.
    if (last_is_to_end_ && probes_.counts().loops == 0) {
      last_is_to_end_ = false;
      say("halfopen: nothing is probed any more; SIGHUP reads the file again and begins anew");
    }
  }

  // The configuration goes into force, with no loop running.
  void apply() {
    gateway_.apply(plan_.upstreams, system_now());
    std::vector<WatchBook::Watched> watched;
    for_each_endpoint([&](const UpstreamConfig& upstream, const Upstream::EndpointView& endpoint) {
      watched.push_back(
          {upstream.name, endpoint.name, endpoint.tracker->stored_state() != HealthState::healthy});
    });
    book_.watch(watched);
  }

  // Of every endpoint that is watched, in the order of the file.
  void for_each_endpoint(
      const std::function<void(const UpstreamConfig&, const Upstream::EndpointView&)>& each) const {
    for (const UpstreamConfig& upstream : plan_.upstreams) {
      if (!upstream.active_health) continue;
      for (const Upstream::EndpointView& endpoint : gateway_.find(upstream.name)->endpoints()) {
        each(upstream, endpoint);
      }
    }
  }

  using Names = std::set<std::pair<std::string, std::string>>;

  Names names() const {
    Names out;
    for_each_endpoint([&](const UpstreamConfig& upstream, const Upstream::EndpointView& endpoint) {
      out.emplace(upstream.name, endpoint.name);
    });
    return out;
  }

  void reload() {
    std::vector<std::string> why;
    std::optional<WatchPlan> next = read_plan(options_.file, why);
    if (!next) return put(writer_->refused(why, book_.now()));
    const Names before = names();
    probes_.abort_all();
    tell(book_.take_notes());  // what the loops of before had to say
    last_is_to_end_ = false;
    plan_ = *std::move(next);
    apply();
    const Names after = names();
    const auto those_not_in = [](const Names& some, const Names& others) {
      return static_cast<std::size_t>(
          std::count_if(some.begin(), some.end(), [&](const auto& name) { return others.count(name) == 0; }));
    };
    const WatchChange change{those_not_in(after, before), those_not_in(before, after)};
    put(writer_->reloaded(plan_, change, book_.now()));
    probes_.respawn(gateway_.upstreams());
  }

  WatchEnd end() const {
    WatchEnd end;
    end.time = book_.now();
    end.dropped_lines = dropped_lines_;
    end.dropped_events = dropped_events_;
    for (WatchTally& tally : book_.tallies()) end.endpoints.push_back({std::move(tally), std::nullopt});
    std::map<std::pair<std::string, std::string>, std::size_t> places;
    for (std::size_t n = 0; n < end.endpoints.size(); ++n) {
      places[{end.endpoints[n].tally.upstream, end.endpoints[n].tally.endpoint}] = n;
    }
    for_each_endpoint([&](const UpstreamConfig& upstream, const Upstream::EndpointView& endpoint) {
      WatchEnd::Endpoint& told = end.endpoints[places.at({upstream.name, endpoint.name})];
      // A tracker begins healthy, which is no judgement.
      if (told.tally.probes > 0) told.state = endpoint.tracker->label(end.time.at);
    });
    return end;
  }

  const WatchOptions& options_;
  WatchPlan plan_;
  std::unique_ptr<WatchWriter> writer_;
  WatchBook book_;  // outlives the trackers, whose events it takes, and the loops
  Gateway gateway_;
  ActiveProbes probes_;
  int status_ = EXIT_HELD;
  std::uint64_t dropped_lines_ = 0, dropped_events_ = 0;
  bool last_is_to_end_ = false;  // a loop gave up, and nobody was told yet that it was the last one
};

}  // namespace

int command_watch(const WatchOptions& options) {
  std::vector<std::string> why;
  std::optional<WatchPlan> plan = read_plan(options.file, why);
  if (!plan) return EXIT_BAD_INPUT;
  return Watch(options, *std::move(plan)).run();
}

}  // namespace halfopen::sim
