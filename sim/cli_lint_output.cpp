#include "sim/cli_lint_output.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cli_github.hpp"
#include "sim/lint_words.hpp"
#include "sim/number_format.hpp"
#include "sim/text_layout.hpp"
#include "sim/utf8.hpp"
#include "sim/writer_parts.hpp"

namespace halfopen::sim {

namespace {

// A place stays in one piece, so that a terminal can follow it; what doesn't fit beside it goes below.
std::string heading(const PlacedFinding& placed) {
  const LintFinding& finding = placed.finding;
  const std::string place =
      fmt::format("{}:{}:{}:", printable(placed.file), placed.place.line, placed.place.column);
  const std::string what = fmt::format("{}: {}, upstream {}", lint_level_name(finding.level), finding.id,
                                       printable(finding.upstream));
  const std::string whole = place + ' ' + what + '\n';
  return hanging("", whole.substr(0, whole.size() - 1)) == whole ? whole : place + '\n' + hanging("  ", what);
}

// What a rule says alike of several upstreams of a file is said once, below all their places.
std::string findings_text(const std::vector<PlacedFinding>& findings) {
  std::map<std::string, std::size_t> known;  // by id and words: the number of its paragraph
  std::vector<std::string> headings, bodies;
  for (const PlacedFinding& placed : findings) {
    const std::string words = lint_finding_words(placed.finding);
    const std::string_view level = lint_level_name(placed.finding.level);
    const auto [at, fresh] =
        known.emplace(fmt::format("{} {}\n{}", placed.finding.id, level, words), headings.size());
    if (fresh) {
      headings.emplace_back();
      bodies.push_back(words);
    }
    headings[at->second] += heading(placed);
  }
  std::string out;
  for (std::size_t n = 0; n < headings.size(); ++n) out += headings[n] + bodies[n] + '\n';
  return out;
}

struct Totals {
  std::size_t warnings = 0, notices = 0, suppressed = 0;
};
Totals totals_of(const std::vector<LintedFile>& files) {
  Totals out;
  for (const LintedFile& file : files) {
    const std::size_t warnings = warnings_in(file);
    out.warnings += warnings;
    out.notices += file.findings.size() - warnings;
    out.suppressed += file.suppressed;
  }
  return out;
}

// A list of values; `fill` writes the i-th.
template <class Fill>
void list(std::string& out, std::size_t count, Fill fill) {
  out += '[';
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out += ',';
    fill(i);
  }
  out += ']';
}

void append_finding(std::string& out, const PlacedFinding& placed) {
  const LintFinding& finding = placed.finding;
  ObjectWriter object(out);
  object.text("id", finding.id);
  object.text("level", lint_level_name(finding.level));
  object.text("upstream", finding.upstream);
  object.text("file", placed.file);
  object.uint("line", placed.place.line);
  object.uint("column", placed.place.column);
  list(object.key("pointers"), finding.pointers.size(),
       [&](std::size_t i) { append_json_string(out, finding.pointers[i]); });
  object.text("sentence", finding.sentence);
  object.text("why", finding.why);
  list(object.key("numbers"), finding.numbers.size(), [&](std::size_t i) {
    const LintNumber& number = finding.numbers[i];
    ObjectWriter member(out);
    member.text("what", number.what);
    member.number("value", number.value);
    member.text("unit", number.unit);
    member.close();
  });
  object.text("instead", finding.instead);
  list(object.key("instead_values"), finding.instead_values.size(), [&](std::size_t i) {
    ObjectWriter alternative(out);
    for (const LintChange& change : finding.instead_values[i])
      alternative.key(change.pointer) += change.value;
    alternative.close();
  });
  object.text("shown_by", finding.shown_by);
  object.close();
}

}  // namespace

std::size_t warnings_in(const LintedFile& file) {
  return static_cast<std::size_t>(
      std::count_if(file.findings.begin(), file.findings.end(),
                    [](const PlacedFinding& placed) { return placed.finding.level == LintLevel::warning; }));
}

std::string lint_text(const std::vector<LintedFile>& files) {
  std::string out;
  for (const LintedFile& file : files) out += findings_text(file.findings);
  const Totals totals = totals_of(files);
  if (totals.warnings > 0) out += plural(totals.warnings, "warning");
  if (totals.warnings > 0 && totals.notices > 0) out += ", ";
  if (totals.notices > 0) out += plural(totals.notices, "notice");
  if (totals.warnings + totals.notices == 0) out += "No findings";
  if (totals.suppressed > 0) out += fmt::format(", {} suppressed,", totals.suppressed);
  return out + " in " + plural(files.size(), "file") + '\n';
}

std::string lint_json(const std::vector<LintedFile>& files) {
  std::string out;
  ObjectWriter whole(out);
  whole.text("format", LINT_FORMAT);
  whole.text("version", version());
  list(whole.key("files"), files.size(), [&](std::size_t i) {
    ObjectWriter file(out);
    file.text("file", files[i].file);
    const std::vector<PlacedFinding>& findings = files[i].findings;
    list(file.key("findings"), findings.size(), [&](std::size_t n) { append_finding(out, findings[n]); });
    file.uint("suppressed", files[i].suppressed);
    file.close();
  });
  whole.close();
  return out + '\n';
}

std::string lint_github(const std::vector<LintedFile>& files) {
  std::string out;
  for (const LintedFile& file : files) {
    for (const PlacedFinding& placed : file.findings) {
      const LintFinding& finding = placed.finding;
      std::string message = finding.sentence + '\n' + finding.why;
      for (const LintNumber& number : finding.numbers) message += '\n' + lint_number_words(number);
      message += "\nInstead: " + finding.instead + "\nShown by " + finding.shown_by;
      out += github_annotation(lint_level_name(finding.level), placed.file, placed.place,
                               "halfopen lint: " + finding.id, message);
    }
  }
  return out;
}

std::string lint_rules_text() {
  std::string out;
  for (const LintRule& rule : lint_rules()) {
    out += fmt::format("{} ({})\n", rule.id, lint_level_name(rule.level)) + hanging("  ", rule.about) +
           hanging("  see: ", rule.shown_by) + '\n';
  }
  return out +
         hanging("",
                 "To keep one quiet: --disable ID, or a comment in the file, behind the value or on the line "
                 "above it: // halfopen-lint: disable=ID (in YAML with #). Above an upstream or a block it "
                 "holds for all of it, at the top for the whole file.");
}

std::string lint_rules_json() {
  std::string out;
  ObjectWriter whole(out);
  whole.text("format", LINT_RULES_FORMAT);
  whole.text("version", version());
  const auto rules = lint_rules();
  list(whole.key("rules"), rules.size(), [&](std::size_t i) {
    ObjectWriter rule(out);
    rule.text("id", rules[i].id);
    rule.text("level", lint_level_name(rules[i].level));
    rule.text("about", rules[i].about);
    rule.text("shown_by", rules[i].shown_by);
    rule.close();
  });
  whole.close();
  return out + '\n';
}

}  // namespace halfopen::sim
