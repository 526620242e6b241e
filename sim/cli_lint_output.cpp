#include "sim/cli_lint_output.hpp"

#include <fmt/core.h>

#include "sim/cli_github.hpp"
#include "sim/lint_words.hpp"
#include "sim/number_format.hpp"
#include "sim/text_layout.hpp"
#include "sim/utf8.hpp"
#include "sim/writer_parts.hpp"

namespace halfopen::sim {

namespace {

std::string finding_text(const PlacedFinding& placed) {
  const LintFinding& finding = placed.finding;
  return fmt::format("{}:{}:{}: {}, upstream {}\n", printable(placed.file), placed.place.line,
                     placed.place.column, finding.id, printable(finding.upstream)) +
         lint_finding_words(finding) + '\n';
}

struct Totals {
  std::size_t findings = 0, suppressed = 0;
};
Totals totals_of(const std::vector<LintedFile>& files) {
  Totals out;
  for (const LintedFile& file : files) {
    out.findings += file.findings.size();
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

std::string lint_text(const std::vector<LintedFile>& files) {
  std::string out;
  for (const LintedFile& file : files) {
    for (const PlacedFinding& placed : file.findings) out += finding_text(placed);
  }
  const Totals totals = totals_of(files);
  out += totals.findings == 0 ? "No findings" : plural(totals.findings, "finding");
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
      out += github_annotation("warning", placed.file, placed.place, "halfopen lint: " + finding.id, message);
    }
  }
  return out;
}

std::string lint_rules_text() {
  std::string out;
  for (const LintRule& rule : lint_rules()) {
    out += std::string(rule.id) + '\n' + hanging("  ", rule.about) + hanging("  see: ", rule.shown_by) + '\n';
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
    rule.text("about", rules[i].about);
    rule.text("shown_by", rules[i].shown_by);
    rule.close();
  });
  whole.close();
  return out + '\n';
}

}  // namespace halfopen::sim
