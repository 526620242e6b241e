#include "python/bindings/machines.hpp"

#include <pybind11/stl.h>

#include <array>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/param_table.hpp"
#include "python/bindings/bindings.hpp"
#include "python/bindings/mistakes.hpp"
#include "sim/because.hpp"
#include "sim/scenario_json.hpp"

namespace halfopen::python {

namespace {

constexpr std::array<std::pair<const char*, TransportError>, 5> ERRORS{
    {{"connect_timeout", TransportError::connect_timeout},
     {"refused", TransportError::refused},
     {"reset", TransportError::reset},
     {"framing", TransportError::framing},
     {"attempt_timeout", TransportError::attempt_timeout}}};

py::object value_of(const StatusSet& set) {
  py::list out;
  for (std::size_t status = 0; status < set.size(); ++status) {
    if (set.test(status)) out.append(status);
  }
  return out;
}

template <class Value>
py::object value_of(const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return py::str(to_string(value));
  } else {
    return py::cast(value);
  }
}

class BecauseDict {
 public:
  void uint(std::string_view name, std::uint64_t value) { out[py::str(std::string(name))] = value; }
  void number(std::string_view name, double value) {
    if (value == value) {
      out[py::str(std::string(name))] = value;
    } else {
      out[py::str(std::string(name))] = py::none();
    }
  }
  py::dict out;
};

py::object word_or_none(std::string_view word) {
  if (word.empty()) return py::none();
  return py::str(word.data(), word.size());
}

}  // namespace

UpstreamConfig read_upstream(const std::string& json, const std::string& machine, const std::string& block) {
  const std::string here = "/upstreams/0" + block;
  sim::Loaded loaded =
      sim::load_scenario_text(R"({"duration_ms":1,"upstreams":[)" + json + "]}", "upstream.json");
  std::vector<sim::Mistake> mistakes;
  for (sim::Mistake& mistake : loaded.mistakes) {
    if (mistake.warning) continue;  // of a scenario without traffic
    mistake.file = machine;
    mistake.line = mistake.column = 0;  // nobody wrote the text that it has a place in
    if (mistake.pointer.starts_with(here)) mistake.pointer.erase(0, here.size());
    mistakes.push_back(std::move(mistake));
  }
  if (!loaded.scenario) throw BadFile(std::move(mistakes));
  return std::move(loaded.scenario->upstreams.front());
}

template <class Block>
py::dict settings_dict(const Block& block) {
  py::dict out;
  for (const Setting<Block>& setting : settings<Block>()) {
    std::visit([&](auto member) { out[py::str(std::string(setting.name))] = value_of(block.*member); },
               setting.member);
  }
  return out;
}
template py::dict settings_dict(const HealthParams&);
template py::dict settings_dict(const ActiveParams&);
template py::dict settings_dict(const BreakerParams&);
template py::dict settings_dict(const RetryParams&);
template py::dict settings_dict(const TimeoutParams&);
template py::dict settings_dict(const EndpointConfig&);
template py::dict settings_dict(const UpstreamConfig&);

py::dict upstream_dict(const UpstreamConfig& config) {
  py::dict out = settings_dict(config);
  py::list endpoints;
  for (const EndpointConfig& endpoint : config.endpoints) endpoints.append(settings_dict(endpoint));
  out["endpoints"] = endpoints;
  if (config.health) out["health"] = settings_dict(*config.health);
  if (config.active_health) out["active_health"] = settings_dict(*config.active_health);
  if (config.breaker) out["breaker"] = settings_dict(*config.breaker);
  out["retries"] = settings_dict(config.retries);
  out["timeouts"] = settings_dict(config.timeouts);
  return out;
}

py::list EventLog::take() {
  py::list out;
  for (const Event& event : std::exchange(events_, {})) {
    sim::TimelineEvent told;
    told.type = event.type;
    told.via = event.via;
    told.because = event.because;
    BecauseDict because;
    sim::tell_because(because, told);
    out.append(py::make_tuple(
        event.at.ms, to_string(event.type), word_or_none(event.subject ? event.subject->upstream : ""),
        word_or_none(event.subject ? event.subject->endpoint : ""), word_or_none(to_string(event.rule)),
        word_or_none(to_string(event.via)), because.out));
  }
  return out;
}

Outcome outcome_of(const py::object& status, const py::object& error) {
  if (status.is_none() == error.is_none()) {
    throw py::value_error("an outcome is a status (200) or an error (\"refused\"): give one of them");
  }
  if (error.is_none()) {
    const auto code = status.cast<std::int64_t>();
    if (code < 100 || code > 599) {
      throw py::value_error("status is " + std::to_string(code) + ": it must be from 100 to 599");
    }
    return Outcome::http(static_cast<std::uint16_t>(code));
  }
  const auto word = error.cast<std::string>();
  std::string known;
  for (const auto& [name, kind] : ERRORS) {
    if (word == name) return Outcome::error(kind);
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw py::value_error("error is \"" + word + "\": it must be one of " + known);
}

void bind_machines(py::module_& m) {
  bind_health(m);
  bind_breaker(m);
  bind_retry_budget(m);
  bind_upstream(m);
}

}  // namespace halfopen::python
