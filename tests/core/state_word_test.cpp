#include "core/state_word.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>

#include "core/sync.hpp"
#include "tests/core/dice.hpp"

namespace halfopen {
namespace {

constexpr GateState STATES[] = {GateState::in, GateState::out, GateState::half_open};

TEST_CASE("state word: of nine edges exactly five are legal") {
  CHECK(is_legal_edge(GateState::in, GateState::out));
  CHECK(is_legal_edge(GateState::out, GateState::half_open));
  CHECK(is_legal_edge(GateState::out, GateState::in));
  CHECK(is_legal_edge(GateState::half_open, GateState::in));
  CHECK(is_legal_edge(GateState::half_open, GateState::out));
  int legal = 0;
  for (const GateState from : STATES) {
    CHECK_FALSE(is_legal_edge(from, from));
    for (const GateState to : STATES) legal += is_legal_edge(from, to);
  }
  CHECK(legal == 5);
  CHECK_FALSE(is_legal_edge(GateState::in, GateState::half_open));
}

TEST_CASE("state word: every field keeps to its own bits") {
  const StateWord word = StateWord::make(GateState::half_open, 0xffff, 0, 0);
  CHECK(word.slots() == 0xffff);
  CHECK(word.granted() == 0);
  CHECK(word.generation() == 0);
  const StateWord full = StateWord::make(GateState::out, 0, 0xffff, StateWord::GENERATION_MASK);
  CHECK(full.state() == GateState::out);
  CHECK(full.slots() == 0);
  CHECK(full.granted() == 0xffff);
  CHECK(full.generation() == StateWord::GENERATION_MASK);
  CHECK(full.with_slots(3).granted() == 0xffff);
  CHECK(full.with_slots(3).slots() == 3);
}

TEST_CASE("state word: the generation moves on the way out and back in, not at half-open, and wraps") {
  const StateWord healthy{};
  const StateWord out = healthy.moved_to(GateState::out, 0, 0);
  CHECK(out.generation() == 1);
  const StateWord half_open = out.moved_to(GateState::half_open, 2, 2);
  CHECK(half_open.generation() == 1);
  CHECK(half_open.moved_to(GateState::in, 0, 0).generation() == 2);
  const StateWord last = StateWord::make(GateState::in, 0, 0, StateWord::GENERATION_MASK);
  CHECK(last.moved_to(GateState::out, 0, 0).generation() == 0);
}

TEST_CASE("state word: a slot is taken only from a half-open word that has one") {
  for (const GateState state : {GateState::in, GateState::out}) {
    std::atomic<std::uint64_t> word{StateWord::make(state, 5, 5, 7).bits};
    StateWord met;
    CHECK_FALSE(take_slot(word, met));
    CHECK(StateWord{word.load()}.slots() == 5);
  }
  std::atomic<std::uint64_t> word{StateWord::make(GateState::half_open, 1, 3, 7).bits};
  StateWord met;
  CHECK(take_slot(word, met));
  CHECK(met.generation() == 7);
  CHECK(StateWord{word.load()}.slots() == 0);
  CHECK_FALSE(take_slot(word, met));
}

TEST_CASE("state word: a slot returns only by the ticket that took one, to the half-open it was taken from") {
  const std::uint64_t one_of_three = StateWord::make(GateState::half_open, 1, 3, 7).bits;
  std::atomic<std::uint64_t> word{one_of_three};
  return_slot(word, Ticket{7, false});
  CHECK(word.load() == one_of_three);
  return_slot(word, Ticket{6, true});
  CHECK(word.load() == one_of_three);
  return_slot(word, Ticket{7, true});
  CHECK(StateWord{word.load()}.slots() == 2);
  for (const GateState state : {GateState::in, GateState::out}) {
    const std::uint64_t elsewhere = StateWord::make(state, 0, 0, 7).bits;
    word = elsewhere;
    return_slot(word, Ticket{7, true});
    CHECK(word.load() == elsewhere);
  }
}

TEST_CASE("state word: whoever returns how often, there are never more slots than were granted") {
  testing::Dice dice(11);
  PlainAtomic<std::uint64_t> word{StateWord::make(GateState::half_open, 3, 3, 1).bits};
  bool was_full = false, was_empty = false;
  for (int i = 0; i < 10000; ++i) {
    StateWord met;
    if (dice.one_in(2))
      take_slot(word, met);
    else
      return_slot(word, Ticket{1, true});
    const StateWord now{word.load()};
    REQUIRE(now.slots() <= 3);
    REQUIRE(now.granted() == 3);
    REQUIRE(now.state() == GateState::half_open);
    was_full |= now.slots() == 3;
    was_empty |= now.slots() == 0;
  }
  CHECK(was_full);
  CHECK(was_empty);
}

}  // namespace
}  // namespace halfopen
