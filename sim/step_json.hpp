// What the machines of `step` have in common: an answer being written, the events of one operation, and the
// table of operations. Each machine's own file reads operations, drives core and shows its state; no rule of
// core is repeated in any of them. Internal to step_json*.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/event.hpp"
#include "core/time.hpp"
#include "sim/number_format.hpp"
#include "sim/step_json_fields.hpp"

namespace halfopen::sim {

// One JSON object, written by hand into a buffer that all answers share: a document tree per answer would
// cost more than the operation it tells about.
class Answer {
 public:
  explicit Answer(std::string& out) : out_(out) { out_ += '{'; }

  std::string& key(std::string_view name) {
    if (out_.back() != '{') out_ += ',';
    out_ += '"';
    out_ += name;
    return out_ += "\":";
  }
  void number(std::string_view name, std::uint64_t value) { append_uint(key(name), value); }
  void flag(std::string_view name, bool value) { key(name) += value ? "true" : "false"; }
  void null(std::string_view name) { key(name) += "null"; }
  void text(std::string_view name, std::string_view value) { append_json_string(key(name), value); }
  // For words of ours, which need no escaping.
  void word(std::string_view name, std::string_view value) {
    key(name) += '"';
    (out_ += value) += '"';
  }
  void end() { out_ += '}'; }

 private:
  std::string& out_;
};

// The events of the operation under way.
class EventLog final : public EventSink {
 public:
  void offer(const Event& event) noexcept override { events_.push_back(event); }
  void clear() { events_.clear(); }
  void show(Answer& answer) const;

 private:
  std::vector<Event> events_;
};

class StepMachine {
 public:
  StepMachine() = default;
  virtual ~StepMachine() = default;
  StepMachine(const StepMachine&) = delete;
  StepMachine& operator=(const StepMachine&) = delete;

  // Carries out one operation at `now` and appends the members of its answer; or refuses in `fields`, having
  // changed nothing.
  virtual void step(StepFields& fields, Instant now, Answer& answer) = 0;
};

template <class Machine>
struct StepOperation {
  std::string_view name;
  void (Machine::*run)(StepFields&, Instant);
};

// The machine's own "unknown operation", with the ones that it knows.
void refuse_operation(StepFields& fields, std::string_view name, const std::vector<std::string_view>& known);

template <class Machine, std::size_t N>
void run_operation(Machine& machine, const std::array<StepOperation<Machine>, N>& operations,
                   StepFields& fields, Instant now) {
  const std::string_view name = fields.text("op");
  if (!fields.good()) return;
  for (const auto& operation : operations) {
    if (operation.name == name) return (machine.*operation.run)(fields, now);
  }
  std::vector<std::string_view> known;
  known.reserve(N);
  for (const auto& operation : operations) known.push_back(operation.name);
  refuse_operation(fields, name, known);
}

std::unique_ptr<StepMachine> make_step_health();
std::unique_ptr<StepMachine> make_step_breaker();
std::unique_ptr<StepMachine> make_step_budget();
std::unique_ptr<StepMachine> make_step_upstream();

}  // namespace halfopen::sim
