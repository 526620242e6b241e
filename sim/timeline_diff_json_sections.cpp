// What else differs between two timelines than their events.
#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "sim/json_fields.hpp"
#include "sim/text_layout.hpp"
#include "sim/timeline_diff_json.hpp"
#include "sim/timeline_json.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace {

// "api 10.0.0.1:8080" for a lane or a fault; else nothing.
std::string name_of(const Json& value) {
  if (!value.is_object()) return "";
  std::string out;
  for (const std::string_view key : {"upstream", "endpoint", "kind"}) {
    const auto found = value.find(key);
    if (found == value.end() || !found->is_string()) continue;
    if (!out.empty()) out += ' ';
    out += found->get_ref<const std::string&>();
  }
  return out;
}

// "bin 31 (from 31 s)": the last step of a column.
std::string bin_text(const std::string& step, const Json& meta) {
  std::vector<Finding> ignored;
  Fields fields(meta, "", ignored, "meta");
  const Nanos sample = fields.time("sample_ms", POSITIVE_TIME).value_or(0);
  const std::uint64_t bin = std::stoull(step);  // we wrote it
  if (sample == 0 || bin > NEVER / sample) return "bin " + step;
  return fmt::format("bin {} (from {})", step, length_text(bin * sample));
}

// A path for people: list entries by the name they have, or else by their number from 1.
std::string path_text(std::string_view section, const JsonDifference& difference, const Json& root,
                      const Json& meta) {
  std::string out(section);
  const Json* at = &root;
  for (std::size_t n = 0; n < difference.path.size(); ++n) {
    const std::string& step = difference.path[n];
    const Json* next = nullptr;
    std::string text = step;
    if (at != nullptr && at->is_array()) {
      const std::size_t place = std::stoull(step);
      next = place < at->size() ? &(*at)[place] : nullptr;
      const std::string name = next == nullptr ? "" : name_of(*next);
      text = name.empty() ? fmt::format("no. {}", place + 1) : name;
      if (section == "series" && n + 1 == difference.path.size()) text = bin_text(step, meta);
    } else if (at != nullptr && at->is_object()) {
      const auto found = at->find(step);
      next = found == at->end() ? nullptr : &*found;
    }
    out += ", " + text;
    at = next;
  }
  return printable(out);
}

std::string both(const JsonDifference& one) {
  return fmt::format("{} | {}", shown_or_nothing(one.a), shown_or_nothing(one.b));
}

// All members that differ, one a line.
std::string members(std::string_view section, const Json& a, const Json& b) {
  constexpr std::size_t ENOUGH = 100;  // a file from elsewhere may have any number
  std::size_t count = 0;
  std::string out;
  for (const JsonDifference& one : json_differences(a, b, ENOUGH, count)) {
    out += hanging("", fmt::format("{}: {}", path_text(section, one, a, a), both(one)));
  }
  if (count > ENOUGH) out += fmt::format("{}: {} more differ\n", section, count - ENOUGH);
  return out;
}

// The first value that differs, and how many do.
std::string first_of(std::string_view section, const Json& a, const Json& b, const Json& meta) {
  std::size_t count = 0;
  const std::vector<JsonDifference> found = json_differences(a, b, 1, count);
  if (found.empty()) return "";
  const Json& longer = found[0].a == nullptr ? b : a;  // where the path leads somewhere
  std::string text = fmt::format("{}: {}", path_text(section, found[0], longer, meta), both(found[0]));
  if (count > 1) text += fmt::format(" (the first of {} values that differ)", grouped(count));
  return hanging("", text);
}

Json without(Json object, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (object.is_object()) object.erase(key);
  }
  return object;
}

}  // namespace

std::string section_differences(const TimelineFile& a, const TimelineFile& b, bool events_same) {
  std::string out;
  // A stream of events alone has nothing else to compare.
  if (a.meta.is_object() && b.meta.is_object()) {
    // With other events the fingerprint differs of itself.
    const auto meta = [events_same](const Json& whole) {
      return events_same ? without(whole, {"version"}) : without(whole, {"version", "fingerprint"});
    };
    out += members("meta", meta(a.meta), meta(b.meta));
  }
  if (!events_same) return out;
  if (!a.summary.is_null() && !b.summary.is_null()) out += members("summary", a.summary, b.summary);
  if (!a.intervals.is_null() && !b.intervals.is_null())
    out += first_of("intervals", a.intervals, b.intervals, a.meta);
  if (!a.series.is_null() && !b.series.is_null()) out += first_of("series", a.series, b.series, a.meta);
  if (!a.expectations.is_null() && !b.expectations.is_null())
    out += first_of("expectations", a.expectations, b.expectations, a.meta);
  return out;
}

}  // namespace halfopen::sim
