// One endpoint's tracker and its probe loop, one operation at a time.
#include <pybind11/stl.h>

#include <memory>
#include <optional>

#include "core/active_probe.hpp"
#include "core/endpoint_health.hpp"
#include "python/bindings/machines.hpp"

namespace halfopen::python {

namespace {

constexpr const char* AROUND =
    R"({"name":"upstream","endpoints":[{"address":"endpoint","port":1}],"health":)";

HealthParams health_of(const std::string& json) {
  return *read_upstream(AROUND + json + "}", "EndpointHealth", "/health").health;
}

ActiveParams active_of(const std::string& passive, const std::string& json) {
  return *read_upstream(AROUND + passive + R"(,"active_health":)" + json + "}", "ActiveProbe",
                        "/active_health")
              .active_health;
}

struct Tracker {
  HealthParams params;
  EventLog events;
  EndpointHealth machine{&events};

  explicit Tracker(const std::string& json) : params(health_of(json)) {}
};

struct Probe {
  std::shared_ptr<Tracker> tracker;
  ActiveProbe machine;
};

py::dict snapshot(const Tracker& self, std::uint64_t now) {
  const HealthSnapshot seen = self.machine.snapshot();
  py::dict out;
  out["state"] = to_string(self.machine.label(Instant{now}));
  out["stored_state"] = to_string(seen.state);
  out["until_ms"] = seen.state == HealthState::ejected ? py::object(py::int_(seen.until.ms)) : py::none();
  out["probes_left"] = seen.slots;
  out["streak"] = seen.streak;
  out["ejections"] = seen.ejections;
  out["generation"] = seen.generation;
  out["window_total"] = seen.window_total;
  out["window_failures"] = seen.window_failures;
  return out;
}

void bind_probe(py::module_& m) {
  py::class_<Probe>(m, "ActiveProbe", "The probe loop of one endpoint, without sockets.")
      .def(
          py::init([](std::shared_ptr<Tracker> tracker, const std::string& passive, const std::string& json) {
            const ActiveParams params = active_of(passive, json);
            const std::uint64_t ejections = tracker->machine.snapshot().ejections;
            const HealthParams health = tracker->params;
            return Probe{std::move(tracker), ActiveProbe(params, health, ejections)};
          }),
          py::arg("tracker").none(false), py::arg("health_json"), py::arg("json"))
      .def(
          "verdict",
          [](Probe& self, std::uint64_t now, bool ok) {
            self.machine.verdict(self.tracker->machine, Instant{now}, ok);
          },
          py::arg("now"), py::arg("ok"))
      .def(
          "sleep_ms", [](const Probe& self, double u) { return self.machine.sleep_ms(u); }, py::arg("u"))
      .def("iteration_threw", [](Probe& self) { return self.machine.iteration_threw(); })
      .def_property_readonly("success_streak",
                             [](const Probe& self) { return self.machine.success_streak(); });
}

}  // namespace

void bind_health(py::module_& m) {
  using Self = Tracker;
  py::class_<Self, std::shared_ptr<Self>>(m, "EndpointHealth", "Passive health of one endpoint.")
      .def(py::init<const std::string&>(), py::arg("json"))
      .def(
          "set_params", [](Self& self, const std::string& json) { self.params = health_of(json); },
          py::arg("json"))
      .def("params", [](const Self& self) { return settings_dict(self.params); })
      .def(
          "report",
          [](Self& self, std::uint64_t now, bool failure) {
            self.machine.report(self.params, Instant{now}, failure);
          },
          py::arg("now"), py::arg("failure"))
      .def(
          "report_probe",
          [](Self& self, std::uint64_t now, bool failure) {
            self.machine.report_probe(self.params, Instant{now}, failure);
          },
          py::arg("now"), py::arg("failure"))
      .def(
          "is_candidate",
          [](Self& self, std::uint64_t now) { return self.machine.is_candidate(self.params, Instant{now}); },
          py::arg("now"))
      .def("consume_probe", [](Self& self) { return self.machine.consume_probe(); })
      .def(
          "acquire",
          [](Self& self, std::uint64_t now) { return self.machine.acquire(self.params, Instant{now}); },
          py::arg("now"))
      .def(
          "is_available",
          [](const Self& self, std::uint64_t now) { return self.machine.is_available(Instant{now}); },
          py::arg("now"))
      .def("snapshot", &snapshot, py::arg("now"))
      .def("take_events", [](Self& self) { return self.events.take(); });
  bind_probe(m);
}

}  // namespace halfopen::python
