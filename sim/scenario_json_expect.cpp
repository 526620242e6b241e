#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sim/scenario_json_parts.hpp"

namespace halfopen::sim {
namespace {

constexpr std::uint64_t LAST_MS = 10'000'000'000;
constexpr NumberRange MOMENT_MS{0, 1e10, false};
constexpr std::uint64_t MAX_COUNT = std::numeric_limits<std::uint64_t>::max();

const std::vector<std::string_view> EVENTS{"endpoint_ejected", "endpoint_half_open", "endpoint_recovered",
                                           "breaker_opened",   "breaker_half_open",  "breaker_closed"};
const std::vector<std::string_view> RULES{"consecutive_failures", "failure_ratio", "error_ratio",
                                          "half_open_probe_failed"};
const std::vector<std::string_view> VIAS{"half_open_probe", "active_probe", "fail_open", "late_report"};
const std::vector<std::string_view> ENDPOINT_STATES{"healthy", "ejected", "half_open"};
const std::vector<std::string_view> BREAKER_STATES{"closed", "open", "half_open"};

// One expectation. A name that does not exist does not make the file bad: it makes the expectation one that
// has not held (scenario.md section 3), so it is noted as a problem and not as a mistake.
class ExpectationReader {
 public:
  ExpectationReader(const Json& value, const std::string& pointer, Reading& reading)
      : fields_(value, pointer, reading.findings, "an expectation"), reading_(reading) {
    out_.text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  Expectation read() {
    std::string_view form;
    const std::size_t forms =
        fields_.count_of({"event", "never", "state", "sequence", "metric", "fingerprint"}, form);
    for (const std::string_view later : {"sequence", "metric", "fingerprint", "nth", "exact"})
      fields_.unsupported(later);
    if (fields_.is_object() && forms != 1) {
      fields_.tell_here("an expectation needs exactly one of \"event\", \"never\" and \"state\"");
    }
    if (forms != 1) return std::move(out_);
    if (form == "event") read_event();
    if (form == "never") out_.what = ExpectNever{read_pattern("never"), read_when()};
    if (form == "state") read_state();
    // The other forms have keys of their own, which are no mistakes of their own.
    if (form == "event" || form == "never" || form == "state") fields_.finish();
    return std::move(out_);
  }

 private:
  void problem(std::string what) {
    if (out_.problem.empty()) out_.problem = std::move(what);
  }

  // The place of the word, or nothing and a problem.
  std::optional<std::size_t> known_word(std::string_view name, const std::vector<std::string_view>& words) {
    const std::optional<std::string> word = fields_.text(name);
    if (!word) return std::nullopt;
    const auto found = std::find(words.begin(), words.end(), *word);
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
    problem(fmt::format("there is no {} \"{}\": it is one of {}{}", name == "never" ? "event" : name, *word,
                        fmt::join(words, ", "), did_you_mean(*word, words)));
    return std::nullopt;
  }

  std::string known_name(std::string_view name, const std::map<std::string, std::size_t>& index,
                         const std::vector<std::string>& names) {
    const std::optional<std::string> found = fields_.text(name);
    if (!found) return {};
    if (index.count(*found) == 0) {
      problem(fmt::format("there is no {} \"{}\" in any generation of the configuration{}", name, *found,
                          suggest(reading_, *found, names)));
    }
    return *found;
  }

  EventPattern read_pattern(std::string_view form) {
    EventPattern pattern;
    if (const auto type = known_word(form, EVENTS)) pattern.type = static_cast<EventType>(*type);
    pattern.endpoint = known_name("endpoint", reading_.endpoint_index, reading_.endpoint_names);
    pattern.upstream = known_name("upstream", reading_.upstream_index, reading_.upstream_names);
    if (const auto rule = known_word("rule", RULES))
      pattern.rule = static_cast<Rule>(*rule + 1);  // none is 0
    if (const auto via = known_word("via", VIAS)) pattern.via = static_cast<Via>(*via + 1);
    return pattern;
  }

  TimeFilter read_when() {
    TimeFilter when;
    when.at_ms = fields_.whole("at_ms", 0, LAST_MS);
    const Json* const between = fields_.get("between_ms");
    if (between == nullptr) return when;
    std::pair<double, double> range;
    const bool pair = between->is_array() && between->size() == 2 &&
                      number_in((*between)[0], MOMENT_MS, range.first) &&
                      number_in((*between)[1], MOMENT_MS, range.second) && range.first < range.second;
    if (pair) {
      when.between_ms = range;
    } else {
      fields_.wrong("between_ms", "two times in ms, the first (included) before the second (excluded)");
    }
    if (fields_.has("at_ms")) fields_.tell_here("an expectation has either \"at_ms\" or \"between_ms\"");
    return when;
  }

  void read_event() {
    ExpectEvent event;
    event.pattern = read_pattern("event");
    event.when = read_when();
    std::string_view relation;
    if (fields_.count_of({"count", "at_least", "at_most"}, relation) > 1) {
      fields_.tell_here("an expectation has only one of \"count\", \"at_least\" and \"at_most\"");
    }
    if (const auto count = fields_.whole("at_least", 0, MAX_COUNT)) event.count = *count;
    if (const auto count = fields_.whole("at_most", 0, MAX_COUNT)) {
      event.relation = CountIs::at_most;
      event.count = *count;
    }
    if (const auto count = fields_.whole("count", 0, MAX_COUNT)) {
      event.relation = CountIs::exactly;
      event.count = *count;
    }
    out_.what = std::move(event);
  }

  // An endpoint's state, or the state of the breaker of an upstream where no endpoint is named.
  void read_state() {
    ExpectState state;
    const bool of_endpoint = fields_.has("endpoint");
    if (!of_endpoint && !fields_.has("upstream")) {
      fields_.tell_here(
          "an expectation of a state needs \"endpoint\", or \"upstream\" for the state of its breaker");
    }
    state.state = fields_.text("state").value_or("");
    known_word("state", of_endpoint ? ENDPOINT_STATES : BREAKER_STATES);
    state.endpoint = known_name("endpoint", reading_.endpoint_index, reading_.endpoint_names);
    state.upstream = known_name("upstream", reading_.upstream_index, reading_.upstream_names);
    if (!fields_.has("at_ms") && !fields_.has("between_ms")) {
      fields_.tell_here("an expectation of a state needs \"at_ms\" or \"between_ms\"");
    }
    state.when = read_when();
    out_.what = std::move(state);
  }

  Fields fields_;
  Reading& reading_;
  Expectation out_;
};

}  // namespace

void read_expectations(Fields& root, Reading& reading) {
  const Json* const list = root.list("expect");
  if (list == nullptr) return;
  for (std::size_t n = 0; n < list->size(); ++n) {
    reading.scenario.expect.push_back(
        ExpectationReader((*list)[n], join(root.at("expect"), n), reading).read());
  }
}

}  // namespace halfopen::sim
