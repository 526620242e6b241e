// Findings and expectations get their lines: one walk for the pointers, one for the lines.
#include <algorithm>
#include <utility>

#include "sim/scenario_json_parts.hpp"
#include "sim/yaml_source.hpp"

namespace halfopen::sim {
namespace {

// As the file has it, without comments and blanks; keys in the file's order.
std::string compact(std::string_view text) {
  const auto value = nlohmann::ordered_json::parse(text.begin(), text.end(), nullptr, false, true);
  return value.is_discarded() ? std::string(text) : value.dump();
}

struct Placed {
  std::vector<LineColumn> lines;     // ascending
  std::vector<std::size_t> numbers;  // which of the offsets each of them is
};

// In the order of the file, and of `offsets` where they are equal.
Placed in_file_order(std::string_view text, const std::vector<std::size_t>& offsets) {
  std::vector<std::pair<std::size_t, std::size_t>> order;  // offset, number
  order.reserve(offsets.size());
  for (std::size_t n = 0; n < offsets.size(); ++n) order.emplace_back(offsets[n], n);
  std::sort(order.begin(), order.end());
  std::vector<std::size_t> sorted;
  Placed placed;
  for (const auto& [offset, n] : order) {
    sorted.push_back(offset);
    placed.numbers.push_back(n);
  }
  placed.lines = lines_and_columns(text, sorted);
  return placed;
}

}  // namespace

Source::Source(std::string_view source_text, std::string_view name)
    : text(source_text), file(name), document(read_document(source_text, name)) {
  const bool is_yaml = is_yaml_name(name);
  if (!is_yaml || !document.readable || !document.findings.empty() || !document.root.is_object()) return;
  const auto expect = document.root.find("expect");
  if (expect == document.root.end() || !expect->is_array()) return;
  std::uint32_t node = document.positions.find({"/expect"}).at(0).node + 1;
  for (const Json& expectation : *expect) {
    written.push_back(compact_in_file_order(expectation, document.positions, node));
    node = document.positions.at(node).next;
  }
}

void place_findings(const Source& source, const std::vector<Finding>& findings, std::vector<Mistake>& out) {
  std::vector<std::string> pointers;
  pointers.reserve(findings.size());
  for (const Finding& finding : findings) {
    pointers.push_back(finding.offset == Finding::AT_POINTER ? finding.pointer : std::string());
  }
  const std::vector<Positions::Found> found = source.document.positions.find(pointers);
  std::vector<std::size_t> offsets;
  offsets.reserve(findings.size());
  for (std::size_t n = 0; n < findings.size(); ++n) {
    std::size_t offset = 0;
    if (findings[n].offset != Finding::AT_POINTER) {
      offset = findings[n].offset;
    } else if (found[n].node != Positions::NONE) {
      const Positions::Node& node = source.document.positions.at(found[n].node);
      offset = findings[n].at_key && found[n].exact ? node.key_begin : node.begin;
    }
    offsets.push_back(offset);
  }
  const Placed placed = in_file_order(source.text, offsets);
  for (std::size_t at = 0; at < offsets.size(); ++at) {
    const Finding& finding = findings[placed.numbers[at]];
    out.push_back({std::string(source.file), placed.lines[at].line, placed.lines[at].column, finding.pointer,
                   finding.what, finding.warning});
  }
}

void place_expectations(const Source& source, std::vector<Expectation>& expectations) {
  const Positions& positions = source.document.positions;
  std::vector<std::string> pointers;
  for (std::size_t n = 0; n < expectations.size(); ++n) pointers.push_back(join("/expect", n));
  const std::vector<Positions::Found> found = positions.find(pointers);
  std::vector<std::size_t> offsets;
  offsets.reserve(found.size());
  for (const Positions::Found& at : found) offsets.push_back(positions.at(at.node).begin);
  const Placed placed = in_file_order(source.text, offsets);
  for (std::size_t at = 0; at < offsets.size(); ++at) {
    const std::size_t n = placed.numbers[at];
    expectations[n].place = {placed.lines[at].line, placed.lines[at].column};
    const Positions::Node& node = positions.at(found[n].node);
    if (!found[n].exact || node.end == node.begin) continue;  // its text is not its value any more
    expectations[n].text = is_yaml_name(source.file)
                               ? source.written.at(n)
                               : compact(source.text.substr(node.begin, node.end - node.begin));
  }
}

std::vector<ValuePlace> places_of(std::string_view text, std::string_view file_name,
                                  const std::vector<std::string>& pointers,
                                  const std::vector<std::string>& changed) {
  Document document = read_document(text, file_name);
  for (const std::string& pointer : changed) document.positions.forget(pointer);
  std::vector<std::size_t> offsets;  // of key and value in turn
  for (const Positions::Found& found : document.positions.find(pointers)) {
    const bool nowhere = found.node == Positions::NONE;
    offsets.push_back(nowhere ? 0 : document.positions.at(found.node).key_begin);
    offsets.push_back(nowhere ? 0 : document.positions.at(found.node).begin);
  }
  const Placed placed = in_file_order(text, offsets);
  std::vector<ValuePlace> out(pointers.size());
  for (std::size_t at = 0; at < offsets.size(); ++at) {
    const std::size_t n = placed.numbers[at];
    (n % 2 == 0 ? out[n / 2].key : out[n / 2].value) = {placed.lines[at].line, placed.lines[at].column};
  }
  return out;
}

}  // namespace halfopen::sim
