// The pieces that the JSON and the JSON-lines writer share. Keys come in the documented order, which is part
// of the format: a timeline is compared as bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/expectations.hpp"
#include "sim/timeline.hpp"

namespace halfopen::sim {

inline constexpr std::string_view TIMELINE_FORMAT = "halfopen.timeline/1";

// The version of halfopen that writes: meta.version, `halfopen --version`.
std::string_view version() noexcept;

// Writes `{`, members and `}`; the caller writes a value after each key.
class ObjectWriter {
 public:
  explicit ObjectWriter(std::string& out, std::string_view separator = ",")
      : out_(out), separator_(separator) {
    out_ += '{';
  }
  std::string& key(std::string_view name);
  void text(std::string_view name, std::string_view value);
  void uint(std::string_view name, std::uint64_t value);
  void ms(std::string_view name, Nanos value);
  void number(std::string_view name, double value);
  void flag(std::string_view name, bool value);
  void null(std::string_view name);
  void close();

 private:
  std::string& out_;
  std::string_view separator_;  // also stands after the brace when it begins with a line end
  bool first_ = true;
};

// Members type … because of an event, whoever's it is; `endpoint` is empty for a breaker's.
void append_event_members(ObjectWriter& object, std::string_view upstream, std::string_view endpoint,
                          const TimelineEvent& event);

// One event on one line, without a line end: `{"t_ms":31250.75,"type":"endpoint_ejected",…}`.
void append_event(std::string& out, const Timeline& timeline, const TimelineEvent& event);

// What a timeline's events are recognised by: stable_hash over the event lines exactly as append_event writes
// them, each followed by '\n'. A JSON-lines file's event lines are those bytes.
std::uint64_t fingerprint(const Timeline& timeline);

// Members name … sample_ms of the meta object.
void append_meta(ObjectWriter& object, const Timeline& timeline);

// Every metric of the summary under its documented name.
void append_summary(ObjectWriter& object, const Timeline& timeline);

// Members held, expect (as written in the scenario), expected and got.
void append_judgement(ObjectWriter& object, const Judgement& judgement);

}  // namespace halfopen::sim
