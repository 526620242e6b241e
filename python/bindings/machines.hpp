// What the bound machines have in common: the settings of one upstream, read by the same reader as a
// scenario's, and the events since somebody asked.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/event.hpp"
#include "core/outcome.hpp"
#include "core/params.hpp"

namespace halfopen::python {

namespace py = pybind11;

// `json` is one object of "upstreams". Throws BadFile, whose pointers begin after `block` ("/health") and
// name `machine`.
UpstreamConfig read_upstream(const std::string& json, const std::string& machine, const std::string& block);

// The settings of a block as {name: value}; statuses as a list, no deadline as None.
template <class Block>
py::dict settings_dict(const Block& block);
py::dict upstream_dict(const UpstreamConfig& config);

// The machines' own events, until they are taken.
class EventLog final : public EventSink {
 public:
  void offer(const Event& event) noexcept override { events_.push_back(event); }
  // (t_ms, type, upstream, endpoint, rule, via, because) each; None where there is nothing.
  py::list take();

 private:
  std::vector<Event> events_;
};

// A status, or the word of a transport error; exactly one of them. Throws ValueError with what would be
// right.
Outcome outcome_of(const py::object& status, const py::object& error);

void bind_health(py::module_& m);
void bind_breaker(py::module_& m);
void bind_retry_budget(py::module_& m);
void bind_upstream(py::module_& m);

}  // namespace halfopen::python
