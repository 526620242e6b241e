// One upstream - balancer, breaker, trackers and retry budget - and the handles of an attempt. A handle that
// is used twice, which in C++ is a broken promise, is an exception here.
#include <pybind11/stl.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "core/hash.hpp"
#include "core/random.hpp"
#include "core/upstream.hpp"
#include "python/bindings/machines.hpp"

namespace halfopen::python {

namespace {

// The luck of `random` unless the caller brings its own words: as `halfopen step upstream` draws it.
constexpr std::uint64_t STREAM_KEY = stable_hash("balance:step");

UpstreamConfig config_of(const std::string& json) { return read_upstream(json, "Upstream", ""); }

struct Machine {
  std::uint64_t seed;
  std::atomic<std::uint64_t> picks{0};
  EventLog events;  // outlives the upstream and, as every handle owns us, all handles
  Upstream upstream;

  Machine(const std::string& json, std::uint64_t now, std::uint64_t luck)
      : seed(luck), upstream(config_of(json), Instant{now}, &events) {}
};
using MachinePtr = std::shared_ptr<Machine>;

[[noreturn]] void used_up(const char* handle, const char* why) {
  PyErr_SetString(PyExc_RuntimeError, (std::string("this ") + handle + ' ' + why).c_str());
  throw py::error_already_set();
}

struct Body {
  MachinePtr owner;
  std::optional<Upstream::Body> body;

  void broken(std::uint64_t now) {
    if (!body) used_up("body", "has broken off or was closed already");
    std::exchange(body, std::nullopt)->broken(Instant{now});
  }
};

struct Attempt {
  MachinePtr owner;
  std::optional<Dispatch> dispatch;
  std::string endpoint;
  std::uint32_t index;
  bool fail_open, trial;

  Body report(std::uint64_t now, const py::object& status, const py::object& error) {
    const Outcome outcome = outcome_of(status, error);
    if (!dispatch) used_up("dispatch", "has its outcome, or was abandoned, already");
    Body out{owner, dispatch->report(Instant{now}, outcome)};
    dispatch.reset();
    return out;
  }
};

struct Admission {
  MachinePtr owner;
  std::optional<Upstream::Admission> admission;
  BreakerDecision decision;
  std::uint64_t number;

  std::optional<Attempt> pick(std::uint64_t now, const std::optional<std::string>& key,
                              const std::optional<std::pair<std::uint64_t, std::uint64_t>>& words) {
    if (!decision.allowed)
      used_up("admission", "was refused by the breaker: answer 503 with its retry_after_s");
    if (!admission) used_up("admission", "has made its pick, or was given back, already");
    PickInput input;
    if (key) input.key = *key;
    if (words) {
      std::tie(input.x0, input.x1) = *words;
    } else if (admission->wants_words()) {
      const auto drawn = philox4x64_10({number, 0, 0, 0}, {owner->seed, STREAM_KEY});
      input.x0 = drawn[0];
      input.x1 = drawn[1];
    }
    Dispatch dispatch = admission->pick(Instant{now}, input);
    admission.reset();
    if (!dispatch) return std::nullopt;
    Attempt out{owner,
                std::nullopt,
                dispatch.endpoint(),
                dispatch.index(),
                dispatch.fail_open(),
                dispatch.is_trial()};
    out.dispatch.emplace(std::move(dispatch));
    return out;
  }
};

Admission admit(const MachinePtr& self, std::uint64_t now, bool retry) {
  const std::uint64_t number = self->picks++;
  auto admission = self->upstream.admit(Instant{now}, retry ? AttemptKind::retry : AttemptKind::first);
  const BreakerDecision decision = admission.decision();
  Admission out{self, std::nullopt, decision, number};
  if (decision.allowed) out.admission.emplace(std::move(admission));
  return out;
}

py::list endpoints(const Machine& self, std::uint64_t now) {
  py::list out;
  for (const auto& endpoint : self.upstream.endpoints()) {
    out.append(py::make_tuple(endpoint.name, endpoint.in_flight,
                              endpoint.tracker
                                  ? py::object(py::str(to_string(endpoint.tracker->label(Instant{now}))))
                                  : py::none()));
  }
  return out;
}

std::optional<std::string> breaker_state(const Machine& self) {
  const auto breaker = self.upstream.breaker();
  if (!breaker) return std::nullopt;
  return to_string(breaker->state());
}

const char* answer_name(RetryAnswer answer) {
  switch (answer) {
    case RetryAnswer::granted: return "granted";
    case RetryAnswer::not_retryable: return "not_retryable";
    case RetryAnswer::attempts_used_up: return "attempts_used_up";
    case RetryAnswer::past_deadline: return "past_deadline";
    case RetryAnswer::budget_denied: return "budget_denied";
  }
  return "";
}

py::tuple decide_retry(Machine& self, std::uint64_t now, std::uint32_t retries_made, const py::object& status,
                       const py::object& error, double elapsed_ms, double u) {
  if (!(u >= 0 && u < 1)) throw py::value_error("u must be in [0, 1)");
  if (!(elapsed_ms >= 0 && elapsed_ms <= 1e12)) throw py::value_error("elapsed_ms must be from 0 to 10^12");
  const auto config = self.upstream.config();
  const RetryDecision decision = self.upstream.decide_retry(
      config->retries, retries_made, outcome_of(status, error), static_cast<std::uint64_t>(elapsed_ms * 1e6),
      Instant{now}, [u] { return u; });
  return py::make_tuple(answer_name(decision.answer), decision.delay_ms);
}

void bind_handles(py::module_& m) {
  py::class_<Body>(m, "Body", "What is left of an attempt once its headers are in.")
      .def("broken", &Body::broken, py::arg("now"))
      .def_property_readonly("is_open", [](const Body& self) { return self.body.has_value(); })
      .def("close", [](Body& self) { self.body.reset(); });
  py::class_<Attempt>(m, "Dispatch", "An attempt on its way to an endpoint.")
      .def_readonly("endpoint", &Attempt::endpoint)
      .def_readonly("index", &Attempt::index)
      .def_readonly("fail_open", &Attempt::fail_open)
      .def_readonly("trial", &Attempt::trial)
      .def_property_readonly("is_open", [](const Attempt& self) { return self.dispatch.has_value(); })
      .def("report", &Attempt::report, py::arg("now"), py::arg("status"), py::arg("error"))
      .def("abandon", [](Attempt& self) { self.dispatch.reset(); });
  py::class_<Admission>(m, "Admission", "What the breaker answered an attempt.")
      .def_property_readonly("allowed", [](const Admission& self) { return self.decision.allowed; })
      .def_property_readonly("retry_after_ms",
                             [](const Admission& self) { return self.decision.retry_after_ms; })
      .def_property_readonly("retry_after_s",
                             [](const Admission& self) { return self.decision.retry_after_s(); })
      .def_property_readonly("is_open", [](const Admission& self) { return self.admission.has_value(); })
      .def("pick", &Admission::pick, py::arg("now"), py::arg("key"), py::arg("words"))
      .def("give_back", [](Admission& self) { self.admission.reset(); });
}

}  // namespace

void bind_upstream(py::module_& m) {
  bind_handles(m);
  py::class_<Machine, MachinePtr>(m, "Upstream", "One upstream as a gateway holds it.")
      .def(py::init<const std::string&, std::uint64_t, std::uint64_t>(), py::arg("json"), py::arg("now"),
           py::arg("seed"))
      .def("admit", &admit, py::arg("now"), py::arg("retry"))
      .def("decide_retry", &decide_retry, py::arg("now"), py::arg("retries_made"), py::arg("status"),
           py::arg("error"), py::arg("elapsed_ms"), py::arg("u"))
      .def(
          "reload",
          [](Machine& self, const std::string& json, std::uint64_t now) {
            self.upstream.reload(config_of(json), Instant{now});
          },
          py::arg("json"), py::arg("now"))
      .def("config", [](const Machine& self) { return upstream_dict(*self.upstream.config()); })
      .def("endpoints", &endpoints, py::arg("now"))
      .def_property_readonly("breaker_state", &breaker_state)
      .def_property_readonly("fail_open_picks",
                             [](const Machine& self) { return self.upstream.fail_open_picks(); })
      .def_property_readonly("late_reports_ignored",
                             [](const Machine& self) { return self.upstream.late_reports_ignored(); })
      .def_property_readonly("retry_budget", [](const Machine& self) { return self.upstream.budget(); })
      .def("take_events", [](Machine& self) { return self.events.take(); });
}

}  // namespace halfopen::python
