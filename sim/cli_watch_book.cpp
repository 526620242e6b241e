#include "sim/cli_watch_book.hpp"

#include "core/active_probe.hpp"
#include "core/prober/clocks.hpp"

namespace halfopen::sim {

bool WatchNote::gave_up() const { return in_a_row >= ActiveProbe::GIVE_UP_AFTER; }

WatchBook::WatchBook(bool all_verdicts) : all_verdicts_(all_verdicts), began_(steady_now()) {}

WatchTime WatchBook::now() const {
  return {static_cast<Nanos>((steady_now() - began_).count()), system_now()};
}

// The loops' thread alone brings events about, so those that are there now came of this verdict.
std::vector<Event> WatchBook::take_events() {
  std::vector<Event> out;
  for (Event event; events_.take(event);) out.push_back(event);
  return out;
}

void WatchBook::verdict(const EventSubject& subject, const ProbeReport& report) {
  WatchNote note;
  note.time = now();
  note.subject = subject;
  note.report = report;
  note.events = take_events();
  // One time for the verdict and what came of it.
  if (!note.events.empty()) note.time.at = note.events.front().at;
  const bool worth_a_line = all_verdicts_ || !note.events.empty();
  post(std::move(note), worth_a_line);
}

void WatchBook::iteration_threw(const EventSubject& subject, const std::string& what,
                                std::uint32_t in_a_row) {
  WatchNote note;
  note.time = now();
  note.subject = subject;
  note.what = what;
  note.in_a_row = in_a_row;
  post(std::move(note), true);
}

void WatchBook::post(WatchNote note, bool worth_a_line) {
  {
    const std::lock_guard lock(mutex_);
    count(note);
    if (!worth_a_line) return;
    if (mail_.notes.size() >= ROOM) {
      mail_.dropped_lines += 1;
      mail_.dropped_events += note.events.size();
      return;
    }
    mail_.notes.push_back(std::move(note));
  }
  arrived_.notify_one();
}

void WatchBook::count(const WatchNote& note) {
  WatchTally& tally = tally_of(note.subject.upstream, note.subject.endpoint);
  if (note.report) {
    ++tally.probes;
    tally.failed += note.report->ok() ? 0 : 1;
  } else {
    ++tally.no_verdict;
    tally.gave_up = note.gave_up();
  }
  for (const Event& event : note.events) {
    if (event.type == EventType::endpoint_ejected) {
      ++tally.ejections;
      tally.out_since = note.time.since;
    } else if (event.type == EventType::endpoint_recovered) {
      ++tally.recoveries;
      if (tally.out_since) tally.out += note.time.since - *tally.out_since;
      tally.out_since.reset();
    }
  }
}

void WatchBook::ask_to_stop() {
  {
    const std::lock_guard lock(mutex_);
    mail_.stop = true;
  }
  arrived_.notify_one();
}

void WatchBook::ask_to_reload() {
  {
    const std::lock_guard lock(mutex_);
    mail_.reload = true;
  }
  arrived_.notify_one();
}

WatchBook::Mail WatchBook::wait(std::chrono::nanoseconds patience) {
  std::unique_lock lock(mutex_);
  arrived_.wait_for(lock, patience, [this] { return !mail_.notes.empty() || mail_.reload || mail_.stop; });
  Mail taken = std::exchange(mail_, {});
  mail_.stop = taken.stop;
  return taken;
}

WatchBook::Mail WatchBook::take_notes() {
  const std::lock_guard lock(mutex_);
  Mail taken = std::exchange(mail_, {});
  mail_.stop = taken.stop;
  mail_.reload = std::exchange(taken.reload, false);
  return taken;
}

bool WatchBook::is_to_stop() const {
  const std::lock_guard lock(mutex_);
  return mail_.stop;
}

WatchTally& WatchBook::tally_of(const std::string& upstream, const std::string& endpoint) {
  const auto [place, is_new] = places_.try_emplace({upstream, endpoint}, tallies_.size());
  if (is_new) {
    tallies_.emplace_back();
    tallies_.back().upstream = upstream;
    tallies_.back().endpoint = endpoint;
  }
  return tallies_[place->second];
}

void WatchBook::watch(const std::vector<Watched>& watched) {
  const Nanos since = now().since;
  const std::lock_guard lock(mutex_);
  for (WatchTally& tally : tallies_) tally.watched = false;
  for (const Watched& endpoint : watched) {
    WatchTally& tally = tally_of(endpoint.upstream, endpoint.endpoint);
    tally.watched = true;
    tally.gave_up = false;  // a new loop begins
    if (!endpoint.is_out && tally.out_since) {
      // Its tracker is another one, because it had left the configuration or its upstream.
      tally.out += since - *tally.out_since;
      tally.out_since.reset();
    } else if (endpoint.is_out && !tally.out_since) {
      tally.out_since = since;
    }
  }
  for (WatchTally& tally : tallies_) {
    if (tally.watched || !tally.out_since) continue;
    tally.out += since - *tally.out_since;
    tally.out_since.reset();
  }
}

std::vector<WatchTally> WatchBook::tallies() const {
  const std::lock_guard lock(mutex_);
  return tallies_;
}

}  // namespace halfopen::sim
