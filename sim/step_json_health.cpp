// `step health`: one endpoint's tracker and, on request, the verdict rule of its probe loop.
#include "core/active_probe.hpp"
#include "core/endpoint_health.hpp"
#include "sim/step_json.hpp"

namespace halfopen::sim {
namespace {

class HealthSteps final : public StepMachine {
 public:
  void step(StepFields& fields, Instant now, Answer& answer) override {
    events_.clear();
    result_.reset();
    run_operation(*this, OPERATIONS, fields, now);
    if (fields.good()) show(now, answer);
  }

 private:
  void params(StepFields& fields, Instant) {
    HealthParams changed = params_;
    fields.read_settings(changed);
    if (fields.good()) fields.refuse(broken_rule(changed));
    if (fields.good()) params_ = changed;
  }

  void report(StepFields& fields, Instant now) {
    const bool failure = fields.flag("failure");
    if (fields.good()) tracker_.report(params_, now, failure);
  }

  void report_probe(StepFields& fields, Instant now) {
    const bool failure = fields.flag("failure");
    if (fields.good()) tracker_.report_probe(params_, now, failure);
  }

  void is_candidate(StepFields&, Instant now) { result_ = tracker_.is_candidate(params_, now); }
  void consume_probe(StepFields&, Instant) { result_ = tracker_.consume_probe(); }
  void acquire(StepFields&, Instant now) { result_ = tracker_.acquire(params_, now); }
  void is_available(StepFields&, Instant now) { result_ = tracker_.is_available(now); }

  // Another one replaces the loop, as a respawn does.
  void active(StepFields& fields, Instant) {
    ActiveParams thresholds;
    for (const std::string_view name : THRESHOLDS) fields.require(name);  // here they have no default
    fields.read_settings(thresholds, THRESHOLDS);
    if (fields.good()) fields.refuse(broken_rule(params_, thresholds));
    if (fields.good()) loop_.emplace(thresholds, params_, tracker_.snapshot().ejections);
  }

  void verdict(StepFields& fields, Instant now) {
    const bool ok = fields.flag("ok");
    if (!loop_) fields.refuse("there is no probe loop yet: \"active\" comes before \"verdict\"");
    if (fields.good()) loop_->verdict(tracker_, now, ok);
  }

  void show(Instant now, Answer& answer) const {
    const auto seen = tracker_.snapshot();
    if (result_) {
      answer.flag("result", *result_);
    } else {
      answer.null("result");
    }
    answer.word("state", to_string(tracker_.label(now)));
    answer.number("ejections", seen.ejections);
    answer.number("streak", seen.streak);
    answer.number("window_total", seen.window_total);
    answer.number("window_failures", seen.window_failures);
    events_.show(answer);
  }

  using Operation = StepOperation<HealthSteps>;
  static const std::array<Operation, 9> OPERATIONS;
  static const std::vector<std::string_view> THRESHOLDS;

  EventLog events_;
  HealthParams params_;
  BasicEndpointHealth<Single> tracker_{&events_};
  std::optional<ActiveProbe> loop_;
  std::optional<bool> result_;  // of the operation under way, if it is a question
};

const std::array<HealthSteps::Operation, 9> HealthSteps::OPERATIONS{
    {{"params", &HealthSteps::params},
     {"report", &HealthSteps::report},
     {"report_probe", &HealthSteps::report_probe},
     {"is_candidate", &HealthSteps::is_candidate},
     {"consume_probe", &HealthSteps::consume_probe},
     {"acquire", &HealthSteps::acquire},
     {"is_available", &HealthSteps::is_available},
     {"active", &HealthSteps::active},
     {"verdict", &HealthSteps::verdict}}};

const std::vector<std::string_view> HealthSteps::THRESHOLDS{"success_threshold", "failure_threshold"};

}  // namespace

std::unique_ptr<StepMachine> make_step_health() { return std::make_unique<HealthSteps>(); }

}  // namespace halfopen::sim
