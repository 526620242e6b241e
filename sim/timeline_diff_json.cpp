#include "sim/timeline_diff_json.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "sim/json_fields.hpp"
#include "sim/scenario_json_parts.hpp"
#include "sim/text_layout.hpp"
#include "sim/timeline_diff.hpp"
#include "sim/timeline_json.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace {

constexpr std::size_t CONTEXT = 3;     // common events before the first that differ
constexpr std::size_t MOST_PATHS = 8;  // of two events' members that differ

// ---- values -----------------------------------------------------------------------------------------------

class Walk {
 public:
  explicit Walk(std::size_t most) : most_(most) {}

  void compare(const Json* a, const Json* b) {
    if (a != nullptr && b != nullptr) {
      if (*a == *b) return;
      if (a->is_object() && b->is_object()) return compare_objects(*a, *b);
      if (a->is_array() && b->is_array()) return compare_lists(*a, *b);
    }
    ++count;
    if (found.size() < most_) found.push_back({path_, a, b});
  }

  std::vector<JsonDifference> found;
  std::size_t count = 0;

 private:
  static const Json* member(const Json& object, const std::string& key) {
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
  }

  void compare_at(std::string step, const Json* a, const Json* b) {
    path_.push_back(std::move(step));
    compare(a, b);
    path_.pop_back();
  }

  void compare_objects(const Json& a, const Json& b) {
    for (auto one = a.begin(); one != a.end(); ++one) compare_at(one.key(), &*one, member(b, one.key()));
    for (auto one = b.begin(); one != b.end(); ++one) {
      if (!a.contains(one.key())) compare_at(one.key(), nullptr, &*one);
    }
  }

  void compare_lists(const Json& a, const Json& b) {
    for (std::size_t n = 0; n < std::max(a.size(), b.size()); ++n) {
      compare_at(std::to_string(n), n < a.size() ? &a[n] : nullptr, n < b.size() ? &b[n] : nullptr);
    }
  }

  std::size_t most_;
  std::vector<std::string> path_;
};

// ---- events -----------------------------------------------------------------------------------------------

struct Side {
  const TimelineFile& timeline;
  std::string_view text;
  std::string name;  // fit for a terminal
};

bool has_several_upstreams(const Side& a, const Side& b) {
  const Json* first = nullptr;
  for (const Side* side : {&a, &b}) {
    for (const Json& event : side->timeline.events) {
      const auto upstream = event.find("upstream");
      if (upstream == event.end()) continue;
      if (first != nullptr && *upstream != *first) return true;
      first = &*upstream;
    }
  }
  return false;
}

std::string told(const Json& event, bool name_upstream) {
  if (auto sentence = event_sentence(event, name_upstream)) return *sentence;
  return fmt::format("at {} ms: {} (an event that this version does not know)",
                     shown_or_nothing(&event["t_ms"]), shown_or_nothing(&event["type"]));
}

// As written, in lines that end behind commas where they can.
std::string raw_lines(std::string_view raw) {
  constexpr std::size_t WIDTH = PAGE_WIDTH - 2;
  std::string out, line;
  while (!raw.empty()) {
    const std::size_t comma = raw.find(','), end = comma == std::string_view::npos ? raw.size() : comma + 1;
    const std::string piece = printable(raw.substr(0, end));
    raw.remove_prefix(end);
    if (!line.empty() && columns_of(line) + columns_of(piece) > WIDTH)
      out += hanging("  ", std::exchange(line, ""));
    line += piece;
  }
  return out + hanging("  ", line);
}

std::string one_side(const Side& side, std::size_t number, bool name_upstream) {
  const std::vector<Json>& events = side.timeline.events;
  if (number >= events.size()) return hanging("", side.name + ": no more events");
  const EventPlace& place = side.timeline.places[number];
  std::string out = hanging("", fmt::format("{}, line {}:", side.name, place.line));
  out += hanging("  ", told(events[number], name_upstream));
  return out + raw_lines(side.text.substr(place.begin, place.end - place.begin));
}

std::string members_that_differ(const Json& a, const Json& b) {
  std::size_t count = 0;
  std::string out;
  for (const JsonDifference& one : json_differences(a, b, MOST_PATHS, count)) {
    std::string path;
    for (const std::string& step : one.path) path += (path.empty() ? "" : ".") + step;
    out += (out.empty() ? "" : ", ") + printable(path);
  }
  if (count > MOST_PATHS) out += fmt::format(" and {} more", count - MOST_PATHS);
  return hanging("They differ in ", out + ".");
}

std::string event_differences(const Side& a, const Side& b, std::size_t number) {
  const std::vector<Json>& left = a.timeline.events;
  const std::vector<Json>& right = b.timeline.events;
  const bool name_upstream = has_several_upstreams(a, b);
  std::string out =
      hanging("", fmt::format("The timelines differ from event {} on, of {} in {} and {} in {}.", number + 1,
                              grouped(left.size()), a.name, grouped(right.size()), b.name));
  const std::size_t from = number - std::min(number, CONTEXT);
  if (number > 0) out += fmt::format("\nThe same in both{}:\n", from > 0 ? ", and more before" : "");
  for (std::size_t n = from; n < number; ++n) out += hanging("  ", told(left[n], name_upstream));
  out += '\n' + one_side(a, number, name_upstream) + '\n' + one_side(b, number, name_upstream) + '\n';
  const bool both = number < left.size() && number < right.size();
  if (both) out += members_that_differ(left[number], right[number]);
  const auto after = [number](const std::vector<Json>& events) {
    return plural(events.size() - std::min(events.size(), number + 1), "event");
  };
  return out +
         hanging("", fmt::format("After it: {} in {}, {} in {}.", after(left), a.name, after(right), b.name));
}

TimelineDiff compared(const Side& a, const Side& b) {
  const std::vector<Json>& left = a.timeline.events;
  const std::vector<Json>& right = b.timeline.events;
  const auto parted =
      std::mismatch(left.begin(), left.end(), right.begin(), right.end()).first - left.begin();
  const auto number = static_cast<std::size_t>(parted);
  const bool events_same = number == left.size() && number == right.size();
  TimelineDiff out;
  const std::string sections = section_differences(a.timeline, b.timeline, events_same);
  out.same = events_same && sections.empty();
  if (out.same) {
    out.text = fmt::format("The timelines are the same, {} and all that is measured.\n",
                           plural(left.size(), "event"));
  } else if (events_same) {
    out.text =
        fmt::format("The events are the same, {}; other things are not.\n\n", plural(left.size(), "event"));
  } else {
    out.text = event_differences(a, b, number) + (sections.empty() ? "" : "\n");
  }
  out.text += sections;
  const bool all = a.timeline.series.is_null() == b.timeline.series.is_null();
  if (!all)
    out.text += hanging("", "Intervals and series are in one of the files only, and were not compared.");
  return out;
}

}  // namespace

std::vector<JsonDifference> json_differences(const Json& a, const Json& b, std::size_t most,
                                             std::size_t& count) {
  Walk walk(most);
  walk.compare(&a, &b);
  count = walk.count;
  return std::move(walk.found);
}

std::string shown_or_nothing(const Json* value) {
  return value == nullptr ? "nothing" : printable(shown(*value));
}

TimelineDiff diff_timelines(std::string_view a, const std::string& name_a, std::string_view b,
                            const std::string& name_b) {
  ReadTimeline left = read_timeline(a, name_a), right = read_timeline(b, name_b);
  if (left.timeline && right.timeline) {
    return compared({*left.timeline, a, printable(name_a)}, {*right.timeline, b, printable(name_b)});
  }
  TimelineDiff out;
  out.mistakes = std::move(left.mistakes);
  out.mistakes.insert(out.mistakes.end(), right.mistakes.begin(), right.mistakes.end());
  return out;
}

TimelineDiff diff_timeline_files(const std::string& a, const std::string& b) {
  TimelineDiff out;
  std::string texts[2];
  for (const std::string* name : {&a, &b}) {
    std::string wrong;
    if (read_file(*name, texts[name == &a ? 0 : 1], wrong)) continue;
    Mistake mistake;
    mistake.file = *name;
    mistake.what = wrong;
    out.mistakes.push_back(std::move(mistake));
  }
  return out.mistakes.empty() ? diff_timelines(texts[0], a, texts[1], b) : out;
}

}  // namespace halfopen::sim
