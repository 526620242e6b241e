// Events of a file, told like those of a run.
#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "sim/event_text.hpp"
#include "sim/json_fields.hpp"
#include "sim/text_layout.hpp"
#include "sim/timeline.hpp"
#include "sim/timeline_json.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace {

// The words of an enumeration, from `first` to `last`.
template <class Enum>
std::optional<Enum> word_of(Fields& fields, std::string_view name, Enum first, Enum last,
                            Need need = Need::optional) {
  std::vector<std::string_view> words;
  for (auto n = static_cast<unsigned>(first); n <= static_cast<unsigned>(last); ++n) {
    words.emplace_back(to_string(static_cast<Enum>(n)));
  }
  const std::optional<std::size_t> place = fields.word(name, words, need);
  if (!place) return std::nullopt;
  return static_cast<Enum>(static_cast<unsigned>(first) + *place);
}

std::uint32_t count_of(Fields& because, std::string_view name) {
  return static_cast<std::uint32_t>(
      because.whole(name, 0, std::numeric_limits<std::uint32_t>::max()).value_or(0));
}

Because because_of(Fields& event) {
  Because out;
  const Json* const value = event.object("because", Need::required);
  if (value == nullptr) return out;
  Fields because(*value, event.at("because"), event.findings(), "because");
  constexpr std::uint64_t ANY = std::numeric_limits<std::uint64_t>::max();
  out.volume = because.whole("volume", 0, ANY).value_or(0);
  out.failures = because.whole("failures", 0, ANY).value_or(0);
  out.streak = count_of(because, "streak");
  out.threshold = count_of(because, "threshold");
  out.min_volume = count_of(because, "min_volume");
  out.limit = because.number("limit", RATIO).value_or(0);
  out.slots = count_of(because, "slots");
  out.successes = count_of(because, "successes");
  out.for_ms = because.whole("for_ms", 0, std::numeric_limits<Nanos>::max() / NANOS_PER_MS).value_or(0);
  return out;
}

}  // namespace

std::optional<EventOfFile> read_event(const Json& value, const std::string& pointer,
                                      std::vector<Finding>& findings) {
  const std::size_t before = findings.size();
  Fields fields(value, pointer, findings, "an event");
  EventOfFile out;
  out.event.t = fields.time("t_ms", ANY_TIME, Need::required).value_or(0);
  const auto type =
      word_of(fields, "type", EventType::endpoint_ejected, EventType::breaker_closed, Need::required);
  out.upstream = fields.text("upstream", Need::required).value_or("");
  out.endpoint = fields.text("endpoint");
  out.event.rule =
      word_of(fields, "rule", Rule::consecutive_failures, Rule::half_open_probe_failed).value_or(Rule::none);
  out.event.via = word_of(fields, "via", Via::half_open_probe, Via::late_report).value_or(Via::none);
  out.event.because = because_of(fields);
  if (findings.size() > before || !type) return std::nullopt;
  out.event.type = *type;
  return out;
}

std::optional<std::string> event_sentence(const Json& value, bool name_upstream) {
  std::vector<Finding> findings;
  std::optional<EventOfFile> read = read_event(value, "", findings);
  if (!read) return std::nullopt;
  Timeline around;  // as much of one as the sentence asks for
  around.upstream_names.assign(name_upstream ? 2 : 1, read->upstream);
  if (read->endpoint) {
    around.lanes.emplace_back().endpoint = *read->endpoint;
    read->event.endpoint = 0;
  }
  return printable(event_text(around, read->event));
}

}  // namespace halfopen::sim
