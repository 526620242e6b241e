// `step upstream`: balancer, breaker and trackers together, one attempt's half at a time.
#include <fmt/format.h>

#include <deque>
#include <variant>

#include "core/hash.hpp"
#include "core/random.hpp"
#include "core/upstream.hpp"
#include "sim/step_json.hpp"

namespace halfopen::sim {
namespace {

using Upstream = BasicUpstream<Single>;

constexpr std::uint64_t RUN_KEY = 1;  // of the random words of `random`, beside the stream's name
constexpr std::uint64_t STREAM_KEY = stable_hash("balance:step");

std::vector<EndpointConfig> read_endpoints(StepFields& fields) {
  std::vector<EndpointConfig> endpoints;
  const Json* const list = fields.find("endpoints");
  if (list == nullptr || !list->is_array()) {
    fields.refuse("endpoints must be a list of {\"address\", \"port\", \"weight\"}");
    return endpoints;
  }
  for (const Json& entry : *list) {
    std::string error;
    EndpointConfig endpoint;
    if (entry.is_object()) {
      StepFields(entry, error).read_settings(endpoint);
    } else {
      error = fmt::format("it is {}: an endpoint must be an object", shown(entry));
    }
    if (!error.empty()) {
      fields.refuse(fmt::format("/endpoints/{}: {}", endpoints.size(), error));
      break;
    }
    endpoint.address = without_brackets(endpoint.address);
    endpoints.push_back(std::move(endpoint));
  }
  return endpoints;
}

template <class Block>
void read_block(StepFields& fields, std::string_view name, std::optional<Block>& out) {
  const Json* const value = fields.find(name);
  if (value == nullptr) return;
  if (!value->is_object())
    return fields.refuse(fmt::format("{} is {}: it must be an object", name, shown(*value)));
  std::string error;
  StepFields(*value, error).read_settings(out.emplace());
  if (!error.empty()) fields.refuse(fmt::format("/{}: {}", name, error));
}

// A whole configuration: what is absent is at its default, whatever was in force before.
UpstreamConfig read_config(StepFields& fields) {
  UpstreamConfig config;
  config.name = "step";
  fields.read_settings(config, {"load_balancer", "slow_start_ms", "late_reports"});
  config.endpoints = read_endpoints(fields);
  read_block(fields, "health", config.health);
  read_block(fields, "breaker", config.breaker);
  if (fields.good()) fields.refuse(broken_rule(config));
  return config;
}

class UpstreamSteps final : public StepMachine {
 public:
  void step(StepFields& fields, Instant now, Answer& answer) override {
    events_.clear();
    retry_after_ms_.reset();
    picked_ = nullptr;
    run_operation(*this, OPERATIONS, fields, now);
    if (fields.good()) show(now, answer);
  }

 private:
  // An attempt waits for its outcome, then for its body to end, then is over.
  using Attempt = std::variant<Upstream::Dispatch, Upstream::Body, std::monostate>;

  void build(StepFields& fields, Instant now) {
    UpstreamConfig config = read_config(fields);
    if (!fields.good()) return;
    attempts_.clear();
    picks_ = 0;
    upstream_.emplace(std::move(config), now, &events_);
  }

  void rebuild(StepFields& fields, Instant now) {
    if (!built(fields)) return;
    UpstreamConfig config = read_config(fields);
    if (fields.good()) upstream_->reload(std::move(config), now);
  }

  void pick(StepFields& fields, Instant now) {
    PickInput input;
    if (fields.find("key") != nullptr) input.key = fields.text("key");
    if (!built(fields) || !fields.good()) return;
    const std::uint64_t number = picks_++;
    auto admission = upstream_->admit(now, AttemptKind::first);
    if (!admission.allowed()) {
      retry_after_ms_ = admission.decision().retry_after_ms;
      return;
    }
    if (admission.wants_words()) {
      const auto words = philox4x64_10({number, 0, 0, 0}, {RUN_KEY, STREAM_KEY});
      input.x0 = words[0];
      input.x1 = words[1];
    }
    auto dispatch = admission.pick(now, input);
    if (dispatch) picked_ = &std::get<Upstream::Dispatch>(attempts_.emplace_back(std::move(dispatch)));
  }

  void done(StepFields& fields, Instant now) {
    const bool failure = fields.flag("failure");
    Attempt* const attempt = find_attempt<Upstream::Dispatch>(fields, "has its outcome already");
    if (attempt == nullptr) return;
    const Outcome outcome = Outcome::http(failure ? FAILED : OK);
    *attempt = std::get<Upstream::Dispatch>(*attempt).report(now, outcome);
  }

  void body_broken(StepFields& fields, Instant now) {
    Attempt* const attempt = find_attempt<Upstream::Body>(fields, "has no body yet: \"done\" comes first");
    if (attempt == nullptr) return;
    std::get<Upstream::Body>(*attempt).broken(now);
    *attempt = std::monostate{};
  }

  void abandon(StepFields& fields, Instant) {
    Attempt* const attempt = find_attempt<Upstream::Dispatch>(fields, "has its outcome already");
    if (attempt != nullptr) *attempt = std::monostate{};
  }

  bool built(StepFields& fields) {
    if (!upstream_) fields.refuse("there is no upstream yet: \"build\" comes first");
    return upstream_.has_value();
  }

  // The attempt that the operation names, if it is as far as `Stage`.
  template <class Stage>
  Attempt* find_attempt(StepFields& fields, std::string_view otherwise) {
    const std::uint64_t number = fields.whole("dispatch", 0);
    if (!built(fields) || !fields.good()) return nullptr;
    if (number == 0 || number > attempts_.size()) {
      fields.refuse(fmt::format("dispatch {} is unknown: there have been {} since \"build\"", number,
                                attempts_.size()));
      return nullptr;
    }
    Attempt& attempt = attempts_[number - 1];
    if (std::holds_alternative<Stage>(attempt)) return &attempt;
    const bool over = std::holds_alternative<std::monostate>(attempt);
    fields.refuse(fmt::format("dispatch {} {}", number, over ? "is over" : otherwise));
    return nullptr;
  }

  void show_endpoints(Instant now, Answer& answer) const {
    const auto endpoints = upstream_->endpoints();
    std::string& out = answer.key("inflight");
    out += '[';
    for (const auto& endpoint : endpoints) {
      if (out.back() != '[') out += ',';
      append_uint(out, endpoint.in_flight);
    }
    out += ']';
    answer.key("states") += '[';
    for (const auto& endpoint : endpoints) {
      if (out.back() != '[') out += ',';
      out += endpoint.tracker ? fmt::format("\"{}\"", to_string(endpoint.tracker->label(now))) : "null";
    }
    out += ']';
  }

  void show(Instant now, Answer& answer) const {
    if (picked_ != nullptr) {
      answer.text("result", picked_->endpoint());
      answer.number("dispatch", attempts_.size());
    } else {
      answer.null("result");
      if (retry_after_ms_) answer.number("retry_after_ms", *retry_after_ms_);
    }
    answer.number("fail_open_picks", upstream_->fail_open_picks());
    answer.number("late_reports_ignored", upstream_->late_reports_ignored());
    show_endpoints(now, answer);
    if (const auto breaker = upstream_->breaker()) {
      answer.word("breaker", to_string(breaker->state()));
    } else {
      answer.null("breaker");
    }
    events_.show(answer);
  }

  static constexpr std::uint16_t OK = 200, FAILED = 500;
  using Operation = StepOperation<UpstreamSteps>;
  static const std::array<Operation, 6> OPERATIONS;

  EventLog events_;  // outlives the upstream and every handle
  std::optional<Upstream> upstream_;
  std::deque<Attempt> attempts_;  // dispatch n at n - 1
  std::uint64_t picks_ = 0;       // since `build`, refused ones included
  // Of the operation under way.
  std::optional<std::uint64_t> retry_after_ms_;
  const Upstream::Dispatch* picked_ = nullptr;
};

const std::array<UpstreamSteps::Operation, 6> UpstreamSteps::OPERATIONS{
    {{"build", &UpstreamSteps::build},
     {"rebuild", &UpstreamSteps::rebuild},
     {"pick", &UpstreamSteps::pick},
     {"done", &UpstreamSteps::done},
     {"body_broken", &UpstreamSteps::body_broken},
     {"abandon", &UpstreamSteps::abandon}}};

}  // namespace

std::unique_ptr<StepMachine> make_step_upstream() { return std::make_unique<UpstreamSteps>(); }

}  // namespace halfopen::sim
