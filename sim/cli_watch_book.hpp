// What the probe loops tell, kept until the command has told it on: the loops must never wait for a reader of
// standard output, so what does not fit is dropped and counted. What is counted of each endpoint is counted
// here, dropped or not.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/event_queue.hpp"
#include "core/prober/active_probes.hpp"
#include "sim/scenario.hpp"

namespace halfopen::sim {

// When something was seen: since the watch began, and by the system's clock.
struct WatchTime {
  Nanos since = 0;
  Instant at;
};

// One iteration of a loop that is worth a line.
struct WatchNote {
  WatchTime time;
  EventSubject subject;
  std::optional<ProbeReport> report;  // none: it ended without a verdict
  std::vector<Event> events;          // the transitions that came of it
  std::string what;                   // without a verdict: why
  std::uint32_t in_a_row = 0;         // without a verdict: which one of those in a row it is
  bool gave_up() const;               // with it the loop has ended
};

struct WatchTally {
  std::string upstream, endpoint;
  std::uint64_t probes = 0, failed = 0;  // with a verdict
  std::uint64_t no_verdict = 0, ejections = 0, recoveries = 0;
  Nanos out = 0;                   // for how long it was put out, as far as that is over
  std::optional<Nanos> out_since;  // it is out now
  bool gave_up = false;            // its loop has ended before the watch
  bool watched = true;             // by the file as it was read last

  Nanos out_until(Nanos now) const { return out + (out_since ? now - *out_since : 0); }
};

class WatchBook final : public ProbeObserver {
 public:
  static constexpr std::size_t ROOM = 65536;  // notes that wait

  // `all_verdicts`: a verdict is worth a line even if nothing came of it.
  explicit WatchBook(bool all_verdicts);

  EventSink* sink() { return &events_; }
  WatchTime now() const;  // from any thread

  // On the loops' thread.
  void verdict(const EventSubject& subject, const ProbeReport& report) override;
  void iteration_threw(const EventSubject& subject, const std::string& what, std::uint32_t in_a_row) override;

  // From any thread.
  void ask_to_stop();
  void ask_to_reload();

  struct Mail {
    std::vector<WatchNote> notes;
    bool reload = false, stop = false;
    std::uint64_t dropped_lines = 0, dropped_events = 0;  // since the mail before
  };
  // What has come in, at once if there is any, else after `patience` at most. Once it is to stop every mail
  // says so.
  Mail wait(std::chrono::nanoseconds patience);
  // The same at once, but a reload that was asked for is left to the next wait.
  Mail take_notes();
  bool is_to_stop() const;  // from any thread

  // While no loop runs: whom the file names now. What is known of endpoints that stay goes on; one whose
  // tracker comes back out (`is_out`) is out from now on.
  struct Watched {
    std::string upstream, endpoint;
    bool is_out = false;
  };
  void watch(const std::vector<Watched>& watched);

  // In the order in which they were first watched.
  std::vector<WatchTally> tallies() const;

 private:
  WatchTally& tally_of(const std::string& upstream, const std::string& endpoint);
  std::vector<Event> take_events();
  void count(const WatchNote& note);
  void post(WatchNote note, bool worth_a_line);

  const bool all_verdicts_;
  const std::chrono::nanoseconds began_;
  BoundedEventQueue events_{1024};  // emptied after every verdict, and a verdict makes one event at most
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  // Below: guarded by mutex_.
  Mail mail_;
  std::vector<WatchTally> tallies_;
  std::map<std::pair<std::string, std::string>, std::size_t> places_;
};

}  // namespace halfopen::sim
