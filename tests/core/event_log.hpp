// A sink that keeps what it was told, for tests of one thread, and the words in which they say what they
// expect.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/event.hpp"

namespace halfopen::testing {

// "endpoint_ejected failure_ratio", "breaker_closed", "a:1 endpoint_recovered fail_open".
inline std::string told(const Event& event) {
  std::string text;
  if (event.subject && !event.subject->endpoint.empty()) text += event.subject->endpoint + " ";
  text += to_string(event.type);
  if (event.rule != Rule::none) text += std::string(" ") + to_string(event.rule);
  if (event.via != Via::none) text += std::string(" ") + to_string(event.via);
  return text;
}

class EventLog final : public EventSink {
 public:
  void offer(const Event& event) noexcept override { events.push_back(event); }

  // All since the last call, joined by ", ".
  std::string take() {
    std::string text;
    for (const Event& event : std::exchange(events, {})) text += (text.empty() ? "" : ", ") + told(event);
    return text;
  }

  std::vector<Event> events;
};

}  // namespace halfopen::testing
