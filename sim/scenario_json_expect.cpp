#include "sim/scenario_json_expect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>

#include "sim/metrics.hpp"
#include "sim/window.hpp"

namespace halfopen::sim {
namespace {

constexpr std::uint64_t MAX_COUNT = std::numeric_limits<std::uint64_t>::max();
constexpr NumberRange ANY_NUMBER{std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max(),
                                 false};

const std::vector<std::string_view> FORMS{"event", "never", "state", "sequence", "metric", "fingerprint"};
const std::vector<std::string_view> ENDPOINT_STATES{"healthy", "ejected", "half_open"};
const std::vector<std::string_view> BREAKER_STATES{"closed", "open", "half_open"};
// In the order of Compare.
const std::vector<std::string_view> SIGNS{"<", "<=", "==", "!=", ">=", ">"};

// Each end of a metric's window is a moment at which a run copies its counts.
constexpr std::size_t MOST_MOMENTS = 4096;

class ExpectationReader {
 public:
  ExpectationReader(const Json& value, const std::string& pointer, Reading& reading)
      : fields_(value, pointer, reading, out_.problem, "an expectation") {
    out_.text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  Expectation read() {
    std::string_view form;
    const std::size_t forms = fields_.count_of(FORMS, form);
    if (fields_.is_object() && forms != 1) {
      fields_.tell_here(
          fmt::format("an expectation needs exactly one of the keys {}", fmt::join(FORMS, ", ")));
    }
    if (forms != 1) return std::move(out_);
    if (form == "event") read_event();
    if (form == "never") out_.what = ExpectNever{fields_.pattern("never"), fields_.when()};
    if (form == "state") read_state();
    if (form == "sequence") read_sequence();
    if (form == "metric") read_metric();
    if (form == "fingerprint") read_fingerprint();
    fields_.finish();
    return std::move(out_);
  }

 private:
  void read_event() {
    ExpectEvent event;
    event.pattern = fields_.pattern("event");
    event.when = fields_.when();
    std::string_view relation;
    const std::size_t relations = fields_.count_of({"count", "at_least", "at_most"}, relation);
    if (relations > 1)
      fields_.tell_here("an expectation has only one of \"count\", \"at_least\" and \"at_most\"");
    if (const auto count = fields_.whole("at_least", 0, MAX_COUNT)) event.count = *count;
    if (const auto count = fields_.whole("at_most", 0, MAX_COUNT)) {
      event.relation = CountIs::at_most;
      event.count = *count;
    }
    if (const auto count = fields_.whole("count", 0, MAX_COUNT)) {
      event.relation = CountIs::exactly;
      event.count = *count;
    }
    event.nth = fields_.whole("nth", 1, MAX_COUNT);
    if (relations > 0 && fields_.has("nth")) {
      fields_.tell_here(fmt::format(
          "\"nth\" means one event: an expectation with it has no \"{}\", which counts several", relation));
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
    fields_.known_word("state", of_endpoint ? ENDPOINT_STATES : BREAKER_STATES);
    state.endpoint = fields_.known_endpoint();
    state.upstream = fields_.known_upstream();
    if (!fields_.has("at_ms") && !fields_.has("between_ms")) {
      fields_.tell_here("an expectation of a state needs \"at_ms\" or \"between_ms\"");
    }
    state.when = fields_.when();
    out_.what = std::move(state);
  }

  void read_sequence() {
    ExpectSequence sequence;
    sequence.exact = fields_.flag("exact").value_or(false);
    const Json* const steps = fields_.list("sequence");
    if (steps != nullptr && steps->empty())
      fields_.wrong("sequence", "a list of at least one event, such as [{\"event\": \"endpoint_ejected\"}]");
    for (std::size_t n = 0; steps != nullptr && n < steps->size(); ++n) {
      ExpectFields step((*steps)[n], join(fields_.at("sequence"), n), fields_.reading(), out_.problem,
                        "a step of a sequence");
      step.get("event", Need::required);
      sequence.steps.push_back({step.pattern("event"), step.when()});
      step.finish();
    }
    out_.what = std::move(sequence);
  }

  void read_metric() {
    ExpectMetric metric;
    metric.metric = fields_.text("metric").value_or("");
    if (find_metric(metric.metric) == nullptr) unknown_metric(metric.metric);
    std::string_view sign;
    if (fields_.count_of(SIGNS, sign) != 1) {
      fields_.tell_here(
          fmt::format("an expectation of a metric needs exactly one of the keys {}", fmt::join(SIGNS, " ")));
    }
    for (std::size_t i = 0; i < SIGNS.size(); ++i) {
      const auto bound = fields_.number(SIGNS[i], ANY_NUMBER);
      if (!bound) continue;
      metric.relation = static_cast<Compare>(i);
      metric.value = *bound;
    }
    metric.between_ms = fields_.between();
    metric.endpoint = fields_.known_endpoint();
    out_.what = std::move(metric);
  }

  void unknown_metric(const std::string& name) {
    const std::vector<std::string_view> names = metric_names();
    const std::string suggestion = did_you_mean(name, names);
    fields_.problem(fmt::format(
        "there is no metric \"{}\"{}", name,
        suggestion.empty() ? fmt::format(": it is one of {}", fmt::join(names, ", ")) : suggestion));
  }

  void read_fingerprint() {
    const std::string digits = fields_.text("fingerprint").value_or("");
    const bool hex = digits.size() == 16 && digits.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!hex && fields_.get("fingerprint")->is_string())
      fields_.wrong("fingerprint", "16 hexadecimal digits in lower case, as in the meta of a timeline");
    out_.what = ExpectFingerprint{digits};
  }

  Expectation out_;
  ExpectFields fields_;
};

// A run keeps a copy of its counts for each of them.
void check_moments(const Fields& root, Reading& reading) {
  std::set<Nanos> moments;
  for (const Expectation& expectation : reading.scenario.expect) {
    const auto* metric = std::get_if<ExpectMetric>(&expectation.what);
    if (metric == nullptr || !metric->between_ms) continue;
    const Window window = window_of(*metric->between_ms);
    moments.insert({window.from, window.to});
  }
  if (moments.size() <= MOST_MOMENTS) return;
  Finding finding;
  finding.pointer = root.at("expect");
  finding.what = fmt::format(
      "the windows of the metrics begin and end at {} different times: it must be {} or fewer, for a run "
      "copies its counts at each of them",
      moments.size(), MOST_MOMENTS);
  reading.findings.push_back(std::move(finding));
}

}  // namespace

void read_expectations(Fields& root, Reading& reading) {
  const Json* const list = root.list("expect");
  if (list == nullptr) return;
  for (std::size_t n = 0; n < list->size(); ++n) {
    reading.scenario.expect.push_back(
        ExpectationReader((*list)[n], join(root.at("expect"), n), reading).read());
  }
  check_moments(root, reading);
}

}  // namespace halfopen::sim
