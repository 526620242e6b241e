// `step retry_budget`: the budget of one upstream and the backoff before each retry.
#include "core/retry_budget.hpp"
#include "sim/step_json.hpp"

namespace halfopen::sim {
namespace {

const Setting<RetryParams>& percent_setting() {
  const auto all = settings<RetryParams>();
  const auto is_percent = [](const Setting<RetryParams>& setting) {
    return setting.name == "budget_percent";
  };
  return *std::find_if(all.begin(), all.end(), is_percent);
}

class BudgetSteps final : public StepMachine {
 public:
  void step(StepFields& fields, Instant now, Answer& answer) override {
    granted_.reset();
    backoff_ms_.reset();
    run_operation(*this, OPERATIONS, fields, now);
    if (fields.good()) show(answer);
  }

 private:
  void request(StepFields&, Instant now) { budget_.request(now); }

  void reserve(StepFields& fields, Instant now) {
    const std::uint64_t percent = fields.whole("percent", percent_.min, percent_.max);
    if (fields.good()) granted_ = budget_.reserve(now, static_cast<std::uint32_t>(percent));
  }

  // A formula on its own: the limits of configuration don't apply.
  void nominal_backoff(StepFields& fields, Instant) {
    const std::uint64_t base_ms = fields.whole("base_ms", 0);
    const std::uint64_t cap_ms = fields.whole("cap_ms", 0);
    const std::uint64_t retry = fields.whole("retry", 1);
    if (fields.good()) backoff_ms_ = nominal_backoff_ms(base_ms, cap_ms, retry);
  }

  void show(Answer& answer) const {
    const auto seen = budget_.snapshot();
    if (granted_) {
      answer.flag("result", *granted_);
    } else if (backoff_ms_) {
      answer.number("result", *backoff_ms_);
    } else {
      answer.null("result");
    }
    answer.number("requests", seen.requests);
    answer.number("retries", seen.retries);
  }

  using Operation = StepOperation<BudgetSteps>;
  static const std::array<Operation, 3> OPERATIONS;

  const Setting<RetryParams>& percent_ = percent_setting();
  BasicRetryBudget<Single> budget_;
  std::optional<bool> granted_;              // of the operation under way, if it is a `reserve`
  std::optional<std::uint64_t> backoff_ms_;  // of a `nominal_backoff`
};

const std::array<BudgetSteps::Operation, 3> BudgetSteps::OPERATIONS{
    {{"request", &BudgetSteps::request},
     {"reserve", &BudgetSteps::reserve},
     {"nominal_backoff", &BudgetSteps::nominal_backoff}}};

}  // namespace

std::unique_ptr<StepMachine> make_step_budget() { return std::make_unique<BudgetSteps>(); }

}  // namespace halfopen::sim
