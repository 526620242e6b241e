// `step breaker`: one upstream's breaker by itself.
#include "core/breaker.hpp"
#include "sim/step_json.hpp"

namespace halfopen::sim {
namespace {

class BreakerSteps final : public StepMachine {
 public:
  void step(StepFields& fields, Instant now, Answer& answer) override {
    events_.clear();
    decision_.reset();
    counts_at_ = now;
    run_operation(*this, OPERATIONS, fields, now);
    if (fields.good()) show(answer);
  }

 private:
  void params(StepFields& fields, Instant) {
    BreakerParams changed = params_;
    fields.read_settings(changed);
    if (fields.good()) fields.refuse(broken_rule(changed));
    if (!fields.good()) return;
    params_ = changed;
    counts_at_ = Instant{0};  // shown as stored: at the beginning of time nothing has aged
  }

  void check(StepFields&, Instant now) { decision_ = breaker_.check(params_, now); }

  void report(StepFields& fields, Instant now) {
    const bool failure = fields.flag("failure");
    if (fields.good()) breaker_.report(params_, now, failure);
  }

  void show_decision(Answer& answer) const {
    if (!decision_) return answer.null("result");
    Answer result(answer.key("result"));
    result.word("decision", decision_->allowed ? "allow" : "reject");
    if (!decision_->allowed) {
      result.number("retry_after_ms", decision_->retry_after_ms);
      result.number("retry_after_s", decision_->retry_after_s());
    }
    result.end();
  }

  void show(Answer& answer) const {
    const auto seen = breaker_.snapshot(counts_at_);
    show_decision(answer);
    answer.word("state", to_string(seen.state));
    switch (seen.state) {
      case BreakerState::closed: answer.number("streak", seen.streak); break;
      case BreakerState::open: answer.number("until_ms", seen.until.ms); break;
      case BreakerState::half_open: answer.number("probes_left", seen.slots); break;
    }
    answer.number("window_total", seen.window_total);
    answer.number("window_failures", seen.window_failures);
    events_.show(answer);
  }

  using Operation = StepOperation<BreakerSteps>;
  static const std::array<Operation, 3> OPERATIONS;

  EventLog events_;
  BreakerParams params_;
  BasicBreaker<Single> breaker_{&events_};
  std::optional<BreakerDecision> decision_;  // of the operation under way, if it is a check
  Instant counts_at_;
};

const std::array<BreakerSteps::Operation, 3> BreakerSteps::OPERATIONS{
    {{"params", &BreakerSteps::params}, {"check", &BreakerSteps::check}, {"report", &BreakerSteps::report}}};

}  // namespace

std::unique_ptr<StepMachine> make_step_breaker() { return std::make_unique<BreakerSteps>(); }

}  // namespace halfopen::sim
