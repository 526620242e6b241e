// What `watch` writes to standard output, as lines for a person or as JSON lines. Every answer is whole
// lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/endpoint_health.hpp"
#include "core/params.hpp"
#include "sim/cli_watch_book.hpp"
#include "sim/timeline.hpp"

namespace halfopen::sim {

// One reading of the file.
struct WatchPlan {
  std::string file;
  std::vector<UpstreamConfig> upstreams;  // with active_health or without, as the file has them

  std::size_t watched_upstreams() const;
  std::size_t watched_endpoints() const;
};

// How two readings differ, in watched endpoints.
struct WatchChange {
  std::size_t added = 0, removed = 0;
};

struct WatchEnd {
  WatchTime time;
  struct Endpoint {
    WatchTally tally;
    std::optional<HealthState> state;  // as an operator reads it; none: not watched any more, or
                                       // never judged
  };
  std::vector<Endpoint> endpoints;
  std::uint64_t dropped_events = 0, dropped_lines = 0;
};

class WatchWriter {
 public:
  virtual ~WatchWriter() = default;
  virtual std::string begun(const WatchPlan& plan, const WatchTime& time) = 0;
  virtual std::string note(const WatchNote& note) = 0;
  virtual std::string reloaded(const WatchPlan& plan, const WatchChange& change, const WatchTime& time) = 0;
  // The file was read again and can't be used: `why`, a sentence a mistake.
  virtual std::string refused(const std::vector<std::string>& why, const WatchTime& time) = 0;
  virtual std::string ended(const WatchEnd& end) = 0;
};

// `verdicts`: a line a probe as well.
std::unique_ptr<WatchWriter> watch_text(bool verdicts, bool colour);
std::unique_ptr<WatchWriter> watch_json(bool verdicts);

// For standard error: what is watched and how, and what is not.
std::string watch_head(const WatchPlan& plan, const WatchTime& time);

// As a timeline tells it.
TimelineEvent timeline_event(const Event& event, Nanos since);

}  // namespace halfopen::sim
