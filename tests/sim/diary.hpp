// Who asked when, and how it ended, told as a short text: "0 0 asks, 20 0 leaves, 20 0+1 asks, 30 0+1 ok" is
// request 0, whose client gave it up at 20 ms, and its second try. A user's request is "u3/1": the user and
// the iteration. Requests of later entries have theirs before them: "e1:0".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "sim/observer.hpp"
#include "sim/simulation.hpp"
#include "sim/timeline.hpp"
#include "tests/support/scenario_builder.hpp"

namespace halfopen::sim::testing {

class Diary final : public RunObserver {
 public:
  explicit Diary(const Scenario& scenario) : scenario_(scenario) {}

  void arrived(Nanos t, const RequestName& name, std::uint32_t /*upstream*/) override {
    write(t, name, "asks");
  }
  void ended(Nanos t, const RequestName& name, RequestEnd how) override {
    constexpr const char* WORDS[] = {"ok", "failed", "refused", "leaves"};
    write(t, name, WORDS[static_cast<std::size_t>(how)]);
  }
  const std::string& text() const { return text_; }

 private:
  void write(Nanos t, const RequestName& name, const char* what) {
    text_ += (text_.empty() ? "" : ", ") + time_text(t) + " ";
    if (name.entry > 0) text_ += "e" + std::to_string(name.entry) + ":";
    if (std::holds_alternative<Users>(scenario_.traffic[name.entry].source))
      text_ += "u" + std::to_string(name.index >> 32) + "/" + std::to_string(name.index & 0xFFFF'FFFF);
    else
      text_ += std::to_string(name.index);
    if (name.tryn > 0) text_ += "+" + std::to_string(name.tryn);
    text_ += std::string(" ") + what;
  }

  const Scenario& scenario_;
  std::string text_;
};

struct Told {
  Timeline timeline;
  std::string diary;
};

inline Told tell(const Scenario& scenario) {
  Diary diary(scenario);
  RunHooks hooks;
  hooks.observer = &diary;
  Timeline timeline = simulate(scenario, hooks);
  return {std::move(timeline), diary.text()};
}

inline std::string diary_of(const Scenario& scenario) { return tell(scenario).diary; }

}  // namespace halfopen::sim::testing
