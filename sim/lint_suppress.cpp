#include "sim/lint_suppress.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sim/json_source.hpp"
#include "sim/json_syntax.hpp"
#include "sim/lint.hpp"
#include "sim/spelling.hpp"
#include "sim/yaml_source.hpp"

namespace halfopen::sim {

namespace {

constexpr std::string_view MARK = "halfopen-lint:", DISABLE = "disable=";
constexpr std::string_view BLANKS = " \t";
constexpr std::size_t NOWHERE = std::string_view::npos;

// Where a mark stands, and a byte of the line that it holds for.
struct Mark {
  std::size_t at = 0, target = 0;
};

// Whether only blanks and the signs that begin a comment stand between the comment's begin and the mark, so
// that a comment that merely mentions the mark is none.
bool opens_comment(std::string_view before) {
  const std::size_t last = before.find_last_not_of(BLANKS);
  return last != NOWHERE && (before[last] == '/' || before[last] == '*' || before[last] == '#');
}

std::vector<Mark> json_marks(std::string_view text) {
  std::vector<Mark> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = skip_blanks(text, at);
    const std::string_view between = text.substr(at, next - at);
    for (std::size_t mark = between.find(MARK); mark != NOWHERE; mark = between.find(MARK, mark + 1)) {
      const std::string_view before = between.substr(0, mark);
      if (!opens_comment(before)) continue;
      const bool own_line = at == 0 || before.find('\n') != NOWHERE;
      out.push_back({at + mark, own_line ? next : at + mark});
    }
    at = next < text.size() ? token_end(text, next) : next;
  }
  return out;
}

std::vector<Mark> yaml_marks(std::string_view text) {
  std::vector<Mark> out;
  std::vector<std::size_t> waiting;  // marks on lines of their own, whose target is still to come
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::size_t first = line.find_first_not_of(" \t\r");
    const bool comment = first != NOWHERE && line[first] == '#', empty = first == NOWHERE || line == "---";
    if (!comment && !empty) {
      for (const std::size_t at : waiting) out.push_back({at, begin});
      waiting.clear();
    }
    const std::size_t mark = line.find(MARK);
    if (mark != NOWHERE && opens_comment(line.substr(0, mark)) && line.substr(0, mark).find('#') != NOWHERE) {
      if (comment) {
        waiting.push_back(begin + mark);
      } else {
        out.push_back({begin + mark, begin});
      }
    }
    begin = end + 1;
  }
  return out;
}

// A mark with the places that it and its target have.
struct PlacedMark {
  std::size_t at = 0;
  LineColumn place;
  std::uint32_t line = 0;
};

// Marks and targets both ascend, so two passes over the text do.
std::vector<PlacedMark> placed(std::string_view text, const std::vector<Mark>& marks) {
  std::vector<std::size_t> ats, targets;
  for (const Mark& mark : marks) {
    ats.push_back(mark.at);
    targets.push_back(mark.target);
  }
  const std::vector<LineColumn> places = lines_and_columns(text, ats),
                                lines = lines_and_columns(text, targets);
  std::vector<PlacedMark> out;
  for (std::size_t n = 0; n < marks.size(); ++n) out.push_back({ats[n], places[n], lines[n].line});
  return out;
}

void warn(Suppressions& out, std::string_view file, const LineColumn& place, std::string what) {
  Mistake mistake;
  mistake.file = std::string(file);
  mistake.line = place.line;
  mistake.column = place.column;
  mistake.what = std::move(what);
  mistake.warning = true;
  out.warnings.push_back(std::move(mistake));
}

std::vector<std::string_view> known_ids() {
  std::vector<std::string_view> out;
  for (const LintRule& rule : lint_rules()) out.push_back(rule.id);
  return out;
}

// "a,b" and "a, b". Behind a comma and a blank there may be words for people as well: what is no rule, and
// not nearly one, ends the list.
std::vector<std::string> ids_of(std::string_view rest) {
  constexpr std::string_view ENDS = " \t\r\n*,";
  std::vector<std::string> out;
  for (bool apart = false;;) {
    const std::string_view word = rest.substr(0, rest.find_first_of(ENDS));
    const bool prose = apart && find_lint_rule(word) == nullptr && nearest(word, known_ids()).empty();
    if (prose) return out;
    if (!word.empty()) out.emplace_back(word);
    rest.remove_prefix(word.size());
    const std::size_t comma = rest.find_first_not_of(BLANKS);
    if (comma == NOWHERE || rest[comma] != ',') return out;
    const std::size_t next = std::min(rest.find_first_not_of(BLANKS, comma + 1), rest.size());
    apart = comma > 0 || next > comma + 1;
    rest.remove_prefix(next);
  }
}

void read_mark(Suppressions& out, std::string_view text, std::string_view file, const PlacedMark& mark) {
  std::string_view rest = text.substr(mark.at + MARK.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(BLANKS), rest.size()));
  Suppression found;
  if (rest.starts_with(DISABLE)) found.ids = ids_of(rest.substr(DISABLE.size()));
  if (found.ids.empty()) {
    return warn(out, file, mark.place,
                fmt::format("{} must be followed by {}ID, or several with commas", MARK, DISABLE));
  }
  const std::vector<std::string_view> known = known_ids();
  for (const std::string& id : found.ids) {
    if (find_lint_rule(id) != nullptr) continue;
    warn(out, file, mark.place, fmt::format("there is no rule \"{}\"{}", id, did_you_mean(id, known)));
  }
  found.line = mark.line;
  out.list.push_back(std::move(found));
}

}  // namespace

Suppressions suppressions_of(std::string_view text, std::string_view file_name) {
  Suppressions out;
  const std::vector<Mark> marks = is_yaml_name(file_name) ? yaml_marks(text) : json_marks(text);
  for (const PlacedMark& mark : placed(text, marks)) read_mark(out, text, file_name, mark);
  return out;
}

bool is_suppressed(const Suppressions& suppressions, std::string_view id,
                   const std::vector<std::uint32_t>& lines) {
  return std::any_of(suppressions.list.begin(), suppressions.list.end(), [&](const Suppression& one) {
    return std::find(one.ids.begin(), one.ids.end(), id) != one.ids.end() &&
           std::find(lines.begin(), lines.end(), one.line) != lines.end();
  });
}

}  // namespace halfopen::sim
