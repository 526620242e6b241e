#include <fmt/format.h>

#include <algorithm>

#include "sim/scenario_json_expect.hpp"

namespace halfopen::sim {
namespace {

constexpr std::uint64_t LAST_MS = 10'000'000'000;
constexpr NumberRange MOMENT_MS{0, 1e10, false};

const std::vector<std::string_view> EVENTS{"endpoint_ejected", "endpoint_half_open", "endpoint_recovered",
                                           "breaker_opened",   "breaker_half_open",  "breaker_closed"};
const std::vector<std::string_view> RULES{"consecutive_failures", "failure_ratio", "error_ratio",
                                          "half_open_probe_failed"};
const std::vector<std::string_view> VIAS{"half_open_probe", "active_probe", "fail_open", "late_report"};

}  // namespace

std::optional<std::size_t> ExpectFields::known_word(std::string_view name,
                                                    const std::vector<std::string_view>& words) {
  const std::optional<std::string> word = text(name);
  if (!word) return std::nullopt;
  const auto found = std::find(words.begin(), words.end(), *word);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  problem(fmt::format("there is no {} \"{}\": it is one of {}{}", name == "never" ? "event" : name, *word,
                      fmt::join(words, ", "), did_you_mean(*word, words)));
  return std::nullopt;
}

std::string ExpectFields::known_name(std::string_view name, const std::map<std::string, std::size_t>& index,
                                     const std::vector<std::string>& names) {
  const std::optional<std::string> found = text(name);
  if (!found) return {};
  if (index.count(*found) == 0) {
    problem(fmt::format("there is no {} \"{}\" in any generation of the configuration{}", name, *found,
                        suggest(reading_, *found, names)));
  }
  return *found;
}

std::string ExpectFields::known_endpoint() {
  return known_name("endpoint", reading_.endpoint_index, reading_.endpoint_names);
}

std::string ExpectFields::known_upstream() {
  return known_name("upstream", reading_.upstream_index, reading_.upstream_names);
}

EventPattern ExpectFields::pattern(std::string_view form) {
  EventPattern pattern;
  if (const auto type = known_word(form, EVENTS)) pattern.type = static_cast<EventType>(*type);
  pattern.endpoint = known_endpoint();
  pattern.upstream = known_upstream();
  if (const auto rule = known_word("rule", RULES)) pattern.rule = static_cast<Rule>(*rule + 1);  // none is 0
  if (const auto via = known_word("via", VIAS)) pattern.via = static_cast<Via>(*via + 1);
  return pattern;
}

std::optional<std::pair<double, double>> ExpectFields::between() {
  const Json* const value = get("between_ms");
  if (value == nullptr) return std::nullopt;
  std::pair<double, double> range;
  const bool pair = value->is_array() && value->size() == 2 &&
                    number_in((*value)[0], MOMENT_MS, range.first) &&
                    number_in((*value)[1], MOMENT_MS, range.second) && range.first < range.second;
  if (pair) return range;
  wrong("between_ms", "two times in ms, the first (included) before the second (excluded)");
  return std::nullopt;
}

TimeFilter ExpectFields::when() {
  TimeFilter when;
  when.at_ms = whole("at_ms", 0, LAST_MS);
  when.between_ms = between();
  if (has("at_ms") && has("between_ms")) tell_here("an expectation has either \"at_ms\" or \"between_ms\"");
  return when;
}

}  // namespace halfopen::sim
