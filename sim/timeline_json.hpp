// Timelines read back: halfopen.timeline/1 as one document or as one object a line. What is read is what the
// file says, not what a run did: a file may come from anywhere. No exception leaves but std::bad_alloc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/json_source.hpp"
#include "sim/scenario_json.hpp"
#include "sim/timeline.hpp"

namespace halfopen::sim {

// Where an event stands, which is also how it is spelt there.
struct EventPlace {
  std::uint32_t line = 0;          // from 1
  std::size_t begin = 0, end = 0;  // bytes of the file
};

struct TimelineFile {
  std::vector<Json> events;        // objects with a time t_ms and a text type; the rest of them is unknown
  std::vector<EventPlace> places;  // as many
  Json meta;                       // an object, or null in a stream without one
  // As written, or null: one object a line leaves intervals and series out.
  Json intervals, series, summary, expectations;
  std::vector<std::string> expect_texts;  // of each expectation its `expect`, byte for byte
};

struct ReadTimeline {
  std::optional<TimelineFile> timeline;  // none if there is any mistake
  std::vector<Mistake> mistakes;
};

ReadTimeline read_timeline(std::string_view text, const std::string& file);

// An event as this version knows them.
struct EventOfFile {
  TimelineEvent event;  // its `upstream` and `endpoint` are the reader's to number
  std::string upstream;
  std::optional<std::string> endpoint;
};
// None if it is something else; `findings` say why, by pointers that begin with `pointer`.
std::optional<EventOfFile> read_event(const Json& event, const std::string& pointer,
                                      std::vector<Finding>& findings);

// An event as the sentence that a run's account has for it; none if it is no event as this version knows
// them. `name_upstream`: also where an endpoint alone would be clear.
std::optional<std::string> event_sentence(const Json& event, bool name_upstream);

}  // namespace halfopen::sim
