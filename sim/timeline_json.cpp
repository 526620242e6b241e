#include "sim/timeline_json.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "sim/json_fields.hpp"
#include "sim/json_patch.hpp"
#include "sim/writer_parts.hpp"

namespace halfopen::sim {

namespace {

// Findings of one JSON text that is a part of the file and begins in line `first_line`, at its first byte.
void place(std::string_view part, std::uint32_t first_line, const Positions& positions,
           const std::vector<Finding>& findings, const std::string& file, std::vector<Mistake>& out) {
  std::vector<std::string> pointers;
  for (const Finding& finding : findings) pointers.push_back(finding.pointer);
  const std::vector<Positions::Found> found = positions.find(pointers);
  std::vector<std::pair<std::size_t, std::size_t>> order;  // offset, number
  for (std::size_t n = 0; n < findings.size(); ++n) {
    std::size_t offset = findings[n].offset;
    if (offset == Finding::AT_POINTER) {
      offset = found[n].node == Positions::NONE ? 0 : positions.at(found[n].node).begin;
    }
    order.emplace_back(offset, n);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::size_t> offsets;
  for (const auto& [offset, n] : order) offsets.push_back(offset);
  const std::vector<LineColumn> places = lines_and_columns(part, offsets);
  for (std::size_t at = 0; at < order.size(); ++at) {
    const Finding& finding = findings[order[at].second];
    out.push_back({file, places[at].line + first_line - 1, places[at].column, finding.pointer, finding.what,
                   finding.warning});
  }
}

void check_format(Fields& fields) {
  const std::optional<std::string> format = fields.text("format", Need::required);
  if (format && *format != TIMELINE_FORMAT) fields.wrong("format", fmt::format("\"{}\"", TIMELINE_FORMAT));
}

void check_event(Fields& fields) {
  fields.time("t_ms", ANY_TIME, Need::required);
  fields.text("type", Need::required);
}

// Null where it is not there; a mistake where it is something else than it should be.
Json section(const Json* value) { return value == nullptr ? Json() : *value; }

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  ReadTimeline read() {
    if (is_stream())
      read_stream();
    else
      read_document();
    ReadTimeline out;
    if (mistakes_.empty()) out.timeline = std::move(timeline_);
    out.mistakes = std::move(mistakes_);
    return out;
  }

 private:
  std::string_view line_at(std::size_t begin) const {
    return text_.substr(begin, std::min(text_.find('\n', begin), text_.size()) - begin);
  }

  // The first line is an object that says what it is.
  bool is_stream() const {
    const Document first = read_json(line_at(0));
    return first.readable && first.root.is_object() && first.root.contains("type");
  }

  void read_document() {
    Document document = read_json(text_);
    std::vector<Finding> findings = std::move(document.findings);
    if (document.readable) {
      make_canonical(document.root);
      Fields root(document.root, "", findings, "a timeline");
      check_format(root);
      timeline_.meta = section(root.object("meta", Need::required));
      timeline_.intervals = section(root.object("intervals"));
      timeline_.series = section(root.object("series"));
      timeline_.summary = section(root.object("summary"));
      timeline_.expectations = section(root.list("expectations"));
      if (const Json* const events = root.list("events", Need::required)) {
        for (std::size_t n = 0; n < events->size(); ++n) {
          Fields event((*events)[n], join("/events", n), findings, "an event");
          check_event(event);
        }
        timeline_.events.assign(events->begin(), events->end());
      }
    }
    place(text_, 1, document.positions, findings, file_, mistakes_);
    if (!mistakes_.empty()) return;
    place_events(document.positions);
    keep_expect_texts(document.positions);
  }

  void keep_expect_texts(const Positions& positions) {
    std::vector<std::string> pointers;
    for (std::size_t n = 0; n < timeline_.expectations.size(); ++n) {
      pointers.push_back(join(join("/expectations", n), "expect"));
    }
    for (const Positions::Found& found : positions.find(pointers)) keep_expect_text(text_, positions, found);
  }

  // Empty where there is none.
  void keep_expect_text(std::string_view text, const Positions& positions, const Positions::Found& found) {
    std::string& kept = timeline_.expect_texts.emplace_back();
    if (!found.exact) return;
    const Positions::Node& node = positions.at(found.node);
    kept = text.substr(node.begin, node.end - node.begin);
  }

  void place_events(const Positions& positions) {
    std::vector<std::string> pointers;
    for (std::size_t n = 0; n < timeline_.events.size(); ++n) pointers.push_back(join("/events", n));
    std::vector<std::size_t> offsets;
    for (const Positions::Found& found : positions.find(pointers)) {
      const Positions::Node& node = positions.at(found.node);
      timeline_.places.push_back({0, node.begin, node.end});
      offsets.push_back(node.begin);
    }
    const std::vector<LineColumn> lines = lines_and_columns(text_, offsets);
    for (std::size_t n = 0; n < lines.size(); ++n) timeline_.places[n].line = lines[n].line;
  }

  void read_stream() {
    timeline_.expectations = Json::array();
    std::uint32_t number = 1;
    for (std::size_t begin = 0; begin < text_.size(); ++number) {
      const std::string_view line = line_at(begin);
      if (line.find_first_not_of(" \t\r") != std::string_view::npos) read_line(line, number, begin);
      if (mistakes_.size() >= ENOUGH_MISTAKES) return;
      begin += line.size() + 1;
    }
    if (mistakes_.empty() && promised_ && timeline_.expectations.size() < *promised_) {
      const std::string there = std::to_string(timeline_.expectations.size());
      const std::string all = std::to_string(*promised_);
      mistakes_.push_back({file_, number, 1, "",
                           "it ends too soon, with " + there + " of " + all + " expectations: it was cut off",
                           false});
    }
  }

  void read_line(std::string_view line, std::uint32_t number, std::size_t begin) {
    Document document = read_json(line);
    std::vector<Finding> findings = std::move(document.findings);
    if (document.readable) {
      make_canonical(document.root);
      Fields fields(document.root, "", findings, "a line of a timeline");
      take_line(fields, document.root);
      if (timeline_.expect_texts.size() < timeline_.expectations.size()) {
        keep_expect_text(line, document.positions, document.positions.find({"/expect"}).front());
      }
      timeline_.places.resize(timeline_.events.size(), {number, begin, begin + line.size()});
    }
    place(line, number, document.positions, findings, file_, mistakes_);
  }

  void take_line(Fields& fields, Json& value) {
    const std::string type = fields.text("type", Need::required).value_or("");
    if (type == "meta") {
      check_format(fields);
      promised_ = fields.whole("expectations", 0, std::numeric_limits<std::uint32_t>::max());
      once(fields, timeline_.meta, value);
    } else if (type == "summary") {
      once(fields, timeline_.summary, value);
    } else if (type == "expectation") {
      timeline_.expectations.push_back(value);
      timeline_.expectations.back().erase("type");
    } else {
      check_event(fields);
      timeline_.events.push_back(value);
    }
  }

  // As a document has it, with which it is compared: without what only a line says.
  static void once(Fields& fields, Json& section, const Json& value) {
    if (!section.is_null()) {
      fields.tell_here("the file holds several timelines: only two, of a file each, can be compared");
    }
    section = value;
    for (const char* key : {"type", "format", "expectations"}) section.erase(key);
  }

  static constexpr std::size_t ENOUGH_MISTAKES = 100;  // of a stream that is something else

  std::string_view text_;
  const std::string& file_;
  TimelineFile timeline_;
  std::vector<Mistake> mistakes_;
  std::optional<std::uint64_t> promised_;  // how many expectations a stream says that it has
};

}  // namespace

ReadTimeline read_timeline(std::string_view text, const std::string& file) {
  try {
    return Reader(text, file).read();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    ReadTimeline out;
    Mistake mistake;
    mistake.file = file;
    mistake.what = fmt::format("it could not be read: {}", error.what());
    out.mistakes.push_back(std::move(mistake));
    return out;
  }
}

}  // namespace halfopen::sim
