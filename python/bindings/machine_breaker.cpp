// One upstream's breaker, and its retry budget, one operation at a time.
#include <pybind11/stl.h>

#include <memory>

#include "core/breaker.hpp"
#include "core/param_table.hpp"
#include "core/retry_budget.hpp"
#include "python/bindings/machines.hpp"

namespace halfopen::python {

namespace {

BreakerParams breaker_of(const std::string& json) {
  const std::string around = R"({"name":"upstream","endpoints":[{"address":"endpoint","port":1}],"breaker":)";
  return *read_upstream(around + json + "}", "Breaker", "/breaker").breaker;
}

struct BreakerMachine {
  BreakerParams params;
  EventLog events;
  Breaker machine{&events};

  explicit BreakerMachine(const std::string& json) : params(breaker_of(json)) {}
};

// Let in by the breaker: to be given back if no outcome comes. What was reported gives nothing back.
struct Admitted {
  std::shared_ptr<BreakerMachine> owner;
  BreakerDecision decision;
  bool open = true;

  void give_back() {
    if (!open) return;
    open = false;
    if (decision.allowed) owner->machine.give_back(decision.ticket);
  }
};

py::dict snapshot(const BreakerMachine& self, std::uint64_t now) {
  const Breaker::Snapshot seen = self.machine.snapshot(Instant{now});
  py::dict out;
  out["state"] = to_string(seen.state);
  out["until_ms"] = seen.state == BreakerState::open ? py::object(py::int_(seen.until.ms)) : py::none();
  out["probes_left"] = seen.slots;
  out["streak"] = seen.streak;
  out["openings"] = seen.openings;
  out["window_total"] = seen.window_total;
  out["window_failures"] = seen.window_failures;
  return out;
}

const Setting<RetryParams>& percent_setting() {
  for (const Setting<RetryParams>& setting : settings<RetryParams>()) {
    if (setting.name == "budget_percent") return setting;
  }
  throw std::logic_error("retries have no budget_percent");
}

bool reserve(RetryBudget& self, std::uint64_t now, std::uint64_t percent) {
  const Setting<RetryParams>& setting = percent_setting();
  if (percent < setting.min || percent > setting.max) {
    throw py::value_error("percent is " + std::to_string(percent) + ": it " + rule_of(setting));
  }
  return self.reserve(Instant{now}, static_cast<std::uint32_t>(percent));
}

}  // namespace

void bind_breaker(py::module_& m) {
  using Self = BreakerMachine;
  py::class_<Admitted>(m, "BreakerAdmission", "The answer of a breaker's check.")
      .def_property_readonly("allowed", [](const Admitted& self) { return self.decision.allowed; })
      .def_property_readonly("retry_after_ms",
                             [](const Admitted& self) { return self.decision.retry_after_ms; })
      .def_property_readonly("retry_after_s",
                             [](const Admitted& self) { return self.decision.retry_after_s(); })
      .def_property_readonly("is_open",
                             [](const Admitted& self) { return self.open && self.decision.allowed; })
      .def("settle", [](Admitted& self) { self.open = false; })
      .def("give_back", &Admitted::give_back);
  py::class_<Self, std::shared_ptr<Self>>(m, "Breaker", "The circuit breaker of one upstream.")
      .def(py::init<const std::string&>(), py::arg("json"))
      .def(
          "set_params", [](Self& self, const std::string& json) { self.params = breaker_of(json); },
          py::arg("json"))
      .def("params", [](const Self& self) { return settings_dict(self.params); })
      .def(
          "check",
          [](const std::shared_ptr<Self>& self, std::uint64_t now) {
            return Admitted{self, self->machine.check(self->params, Instant{now})};
          },
          py::arg("now"))
      .def(
          "report",
          [](Self& self, std::uint64_t now, bool failure) {
            self.machine.report(self.params, Instant{now}, failure);
          },
          py::arg("now"), py::arg("failure"))
      .def("snapshot", &snapshot, py::arg("now"))
      .def("take_events", [](Self& self) { return self.events.take(); });
}

void bind_retry_budget(py::module_& m) {
  py::class_<RetryBudget, std::shared_ptr<RetryBudget>>(m, "RetryBudget",
                                                        "How many retries an upstream may make.")
      .def(py::init<>())
      .def(
          "request", [](RetryBudget& self, std::uint64_t now) { self.request(Instant{now}); }, py::arg("now"))
      .def("reserve", &reserve, py::arg("now"), py::arg("percent"))
      .def_property_readonly("requests", [](const RetryBudget& self) { return self.snapshot().requests; })
      .def_property_readonly("retries", [](const RetryBudget& self) { return self.snapshot().retries; });
  m.def(
      "nominal_backoff_ms",
      [](std::uint64_t base_ms, std::uint64_t cap_ms, std::uint64_t retry) {
        if (retry == 0) throw py::value_error("retry is 0: retries are counted from 1");
        return nominal_backoff_ms(base_ms, cap_ms, retry);
      },
      py::arg("base_ms"), py::arg("cap_ms"), py::arg("retry"));
  m.def(
      "jittered_backoff_ms",
      [](std::uint64_t nominal_ms, double u) {
        if (!(u >= 0 && u < 1)) throw py::value_error("u must be in [0, 1)");
        return jittered_backoff_ms(nominal_ms, u);
      },
      py::arg("nominal_ms"), py::arg("u"));
}

}  // namespace halfopen::python
