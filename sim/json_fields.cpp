#include "sim/json_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/param_table.hpp"

namespace halfopen::sim {
namespace {

constexpr std::size_t MOST_SUGGESTIONS = 1000;  // mistakes after which nobody reads them, and they cost time

constexpr std::size_t LONGEST_SLIP = 80;  // characters; longer words are no slips of a key

// Insertions, deletions, substitutions and swaps of neighbours ("optimal string alignment").
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::array<std::array<std::size_t, LONGEST_SLIP + 1>, 3> rows{};  // those of i - 2, i - 1 and i, in turn
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    const auto& before = rows[(i - 1) % 3];
    auto& row = rows[i % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({row[j - 1] + 1, before[j] + 1, substituted});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], rows[(i - 2) % 3][j - 2] + 1);
    }
  }
  return rows[a.size() % 3][b.size()];
}

}  // namespace

Fields::Fields(const Json& value, std::string pointer, std::vector<Finding>& findings, std::string_view noun)
    : pointer_(std::move(pointer)), findings_(findings), noun_(noun) {
  if (value.is_object()) {
    object_ = &value;
  } else {
    tell_here(fmt::format("{} must be an object, not {}", noun_, shown(value)));
  }
}

const Json* Fields::get(std::string_view name, Need need) {
  if (std::find(known_.begin(), known_.end(), name) == known_.end()) known_.push_back(name);
  if (object_ == nullptr) return nullptr;
  const auto found = object_->find(name);
  if (found != object_->end()) return &*found;
  if (need == Need::required)
    tell_here(fmt::format("{} needs the key \"{}\", which is missing", noun_, name));
  return nullptr;
}

void Fields::tell(std::string_view name, std::string what) {
  Finding finding;
  finding.pointer = at(name);
  finding.what = std::move(what);
  findings_.push_back(std::move(finding));
}

void Fields::tell_here(std::string what) {
  Finding finding;
  finding.pointer = pointer_;
  finding.what = std::move(what);
  findings_.push_back(std::move(finding));
}

void Fields::wrong(std::string_view name, std::string_view rule) {
  const Json* const value = get(name);
  tell(name,
       fmt::format("{} is {}: it must be {}", name, value == nullptr ? "missing" : shown(*value), rule));
}

void Fields::unsupported(std::string_view name) {
  if (!has(name)) return;
  Finding finding;
  finding.pointer = at(name);
  finding.what = fmt::format("{} is not supported by this version", name);
  finding.at_key = true;
  findings_.push_back(std::move(finding));
}

std::optional<double> Fields::number(std::string_view name, const NumberRange& range, Need need) {
  const Json* const value = get(name, need);
  double out = 0;
  if (value == nullptr) return std::nullopt;
  if (number_in(*value, range, out)) return out;
  wrong(name, range.text());
  return std::nullopt;
}

std::optional<std::uint64_t> Fields::whole(std::string_view name, std::uint64_t min, std::uint64_t max,
                                           Need need) {
  const Json* const value = get(name, need);
  std::uint64_t out = 0;
  if (value == nullptr) return std::nullopt;
  if (whole_number(*value, min, max, out)) return out;
  wrong(name, fmt::format("a whole number from {} to {}", min, max));
  return std::nullopt;
}

std::optional<std::int64_t> Fields::integer(std::string_view name, std::int64_t min, std::int64_t max,
                                            Need need) {
  const Json* const value = get(name, need);
  if (value == nullptr) return std::nullopt;
  if (value->is_number_unsigned()) {
    const auto big = value->get<std::uint64_t>();
    if (max >= 0 && big <= static_cast<std::uint64_t>(max)) return static_cast<std::int64_t>(big);
  } else if (value->is_number_integer()) {
    const auto small = value->get<std::int64_t>();
    if (small >= min && small <= max) return small;
  }
  wrong(name, fmt::format("a whole number from {} to {}", min, max));
  return std::nullopt;
}

std::optional<Nanos> Fields::time(std::string_view name, const TimeRange& range, Need need) {
  const Json* const value = get(name, need);
  Nanos out = 0;
  if (value == nullptr) return std::nullopt;
  if (time_of(*value, range, out)) return out;
  wrong(name, rule_of(range));
  return std::nullopt;
}

std::optional<std::string> Fields::text(std::string_view name, Need need) {
  const Json* const value = get(name, need);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  wrong(name, "a string");
  return std::nullopt;
}

std::optional<bool> Fields::flag(std::string_view name) {
  const Json* const value = get(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  wrong(name, "true or false");
  return std::nullopt;
}

const Json* Fields::list(std::string_view name, Need need) {
  const Json* const value = get(name, need);
  if (value == nullptr || value->is_array()) return value;
  wrong(name, "a list");
  return nullptr;
}

const Json* Fields::object(std::string_view name, Need need) {
  const Json* const value = get(name, need);
  if (value == nullptr || value->is_object()) return value;
  wrong(name, "an object");
  return nullptr;
}

std::optional<std::size_t> Fields::word(std::string_view name, const std::vector<std::string_view>& words,
                                        Need need) {
  const Json* const value = get(name, need);
  if (value == nullptr) return std::nullopt;
  std::string suggestion;
  if (value->is_string()) {
    const std::string& word = value->get_ref<const std::string&>();
    const auto found = std::find(words.begin(), words.end(), word);
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
    suggestion = did_you_mean(word, words);
  }
  wrong(name, fmt::format("one of {}{}", fmt::join(words, ", "), suggestion));
  return std::nullopt;
}

std::size_t Fields::count_of(const std::vector<std::string_view>& names, std::string_view& found) {
  std::size_t count = 0;
  for (const std::string_view name : names) {
    if (has(name) && count++ == 0) found = name;
  }
  return count;
}

void Fields::finish() {
  if (object_ == nullptr) return;
  for (auto member = object_->begin(); member != object_->end(); ++member) {
    const std::string& name = member.key();
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    const bool helpful = findings_.size() < MOST_SUGGESTIONS;
    std::string suggestion = helpful ? did_you_mean(name, known_) : "";
    if (suggestion.empty() && helpful) suggestion = fmt::format(" (known: {})", fmt::join(known_, ", "));
    Finding finding;
    finding.pointer = at(name);
    finding.what = fmt::format("{} has no key \"{}\"{}", noun_, name, suggestion);
    finding.at_key = finding.unknown_key = true;
    findings_.push_back(std::move(finding));
  }
}

std::string shown(const Json& value) {
  if (value.is_array()) return value.empty() ? "an empty list" : "a list";
  if (value.is_object()) return value.empty() ? "an empty object" : "an object";
  if (value.is_number_float()) return shortest(value.get<double>());
  constexpr std::size_t ENOUGH = 60;
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() <= ENOUGH) return text;
  std::size_t cut = ENOUGH;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U)
    --cut;  // not inside a character
  return text.substr(0, cut) + "…\"";
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  std::string_view best;
  std::size_t best_distance = 2 + word.size() / 4;  // excluded: farther is another word
  if (word.size() > LONGEST_SLIP) return best;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > LONGEST_SLIP) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
  std::string_view best = nearest(word, candidates);
  // "duration" is duration_ms without its unit, however many letters that are.
  const auto goes_on = [word](std::string_view name) { return name.starts_with(std::string(word) + "_"); };
  if (std::count_if(candidates.begin(), candidates.end(), goes_on) == 1) {
    best = *std::find_if(candidates.begin(), candidates.end(), goes_on);
  }
  return best.empty() ? std::string() : fmt::format("; did you mean \"{}\"?", best);
}

std::string NumberRange::text() const {
  const bool unbounded = max == std::numeric_limits<double>::max();
  if (above_min) {
    return unbounded ? fmt::format("a number above {}", shortest(min))
                     : fmt::format("a number above {} and at most {}", shortest(min), shortest(max));
  }
  return unbounded ? fmt::format("a number not below {}", shortest(min))
                   : fmt::format("a number from {} to {}", shortest(min), shortest(max));
}

std::string rule_of(const TimeRange& range) {
  if (range.min == 0) return fmt::format("a number of ms from 0 to {}", range.max / NANOS_PER_MS);
  return fmt::format("a number of ms, at least one ns (0.000001) and at most {}", range.max / NANOS_PER_MS);
}

// Numbers arrive canonical: a double here has a fraction or is beyond 2^53, and is no whole number either
// way.
bool whole_number(const Json& value, std::uint64_t min, std::uint64_t max, std::uint64_t& out) {
  if (!value.is_number_unsigned()) return false;
  out = value.get<std::uint64_t>();
  return out >= min && out <= max;
}

bool time_of(const Json& value, const TimeRange& range, Nanos& out) {
  if (value.is_number_unsigned()) {
    const auto ms = value.get<std::uint64_t>();
    if (ms > range.max / NANOS_PER_MS) return false;
    out = ms * NANOS_PER_MS;
  } else if (value.is_number_float()) {
    const double nanos = std::round(value.get<double>() * 1e6);
    if (!(nanos >= 0 && nanos <= static_cast<double>(range.max))) return false;
    out = static_cast<Nanos>(nanos);
  } else {
    return false;
  }
  return out >= range.min && out <= range.max;
}

bool number_in(const Json& value, const NumberRange& range, double& out) {
  if (!value.is_number()) return false;
  out = value.get<double>();
  return (range.above_min ? out > range.min : out >= range.min) && out <= range.max;
}

}  // namespace halfopen::sim
