// The one word in which a three-state machine keeps its state, so that state, trial slots and generation
// change together or not at all: a pick never meets the new state with the old slots.
//
//   bits 0-1 state | 2-17 slots left | 18-33 slots granted at half-open | 34-63 generation
//
// `until` (64 bits of its own) is tied to the word by the generation: it is written before the word that
// announces it, and read as in a seqlock, word - until - same word again. An `until` can change only
// together with the generation, so a compare-and-swap on the word also vouches for the `until` read under it.
// Generations wrap after 2^30 transitions; a dispatch would have to be in flight across all of them to be
// misjudged.
#pragma once

#include <atomic>
#include <cstdint>

namespace halfopen {

enum class GateState : std::uint8_t { in = 0, out = 1, half_open = 2 };

struct StateWord {
  std::uint64_t bits = 0;

  static constexpr StateWord make(GateState state, std::uint32_t slots, std::uint32_t granted,
                                  std::uint32_t generation) {
    return {static_cast<std::uint64_t>(state) | (std::uint64_t{slots & 0xffff} << 2) |
            (std::uint64_t{granted & 0xffff} << 18) | (std::uint64_t{generation & GENERATION_MASK} << 34)};
  }

  constexpr GateState state() const { return static_cast<GateState>(bits & 3); }
  constexpr std::uint32_t slots() const { return (bits >> 2) & 0xffff; }
  constexpr std::uint32_t granted() const { return (bits >> 18) & 0xffff; }
  constexpr std::uint32_t generation() const { return static_cast<std::uint32_t>(bits >> 34); }

  constexpr StateWord with_slots(std::uint32_t left) const {
    return make(state(), left, granted(), generation());
  }

  // The generation moves at each way out and each way back in, not at half-open.
  constexpr StateWord moved_to(GateState next, std::uint32_t slots, std::uint32_t granted) const {
    const std::uint32_t step = next == GateState::half_open ? 0 : 1;
    return make(next, slots, granted, generation() + step);
  }

  static constexpr std::uint32_t GENERATION_MASK = (1U << 30) - 1;
};

// The legal edges, indexed [from][to]. Everything else is a defect of the machine and stops the process.
inline constexpr bool LEGAL_EDGE[3][3] = {
    /* in        */ {false, true, false},
    /* out       */ {true, false, true},
    /* half_open */ {true, true, false},
};

constexpr bool is_legal_edge(GateState from, GateState to) {
  return LEGAL_EDGE[static_cast<int>(from)][static_cast<int>(to)];
}

// What a pick or an admission remembers of the word it met, to be handed back with its report. One word,
// because it is copied with every attempt: two members would be stored apart and loaded together, which
// stalls.
class Ticket {
 public:
  constexpr Ticket() = default;
  constexpr Ticket(std::uint32_t generation, bool took_slot)
      : bits_(generation << 1 | (took_slot ? 1U : 0U)) {}

  constexpr std::uint32_t generation() const { return bits_ >> 1; }
  constexpr bool took_slot() const { return (bits_ & 1) != 0; }

 private:
  std::uint32_t bits_ = 0;
};

// Takes one slot of a half-open word; false when it is not half-open or none is left. Lock-free.
template <class AtomicWord>
bool take_slot(AtomicWord& word, StateWord& met) noexcept {
  StateWord now{word.load(std::memory_order_acquire)};
  while (now.state() == GateState::half_open && now.slots() > 0) {
    if (word.compare_exchange_weak(now.bits, now.with_slots(now.slots() - 1).bits, std::memory_order_acq_rel,
                                   std::memory_order_acquire)) {
      met = now;
      return true;
    }
  }
  met = now;
  return false;
}

// Gives a slot back: only to the half-open it was taken from, and never more than that one began with.
template <class AtomicWord>
void return_slot(AtomicWord& word, Ticket ticket) noexcept {
  if (!ticket.took_slot()) return;
  StateWord now{word.load(std::memory_order_acquire)};
  while (now.state() == GateState::half_open && now.generation() == ticket.generation() &&
         now.slots() < now.granted()) {
    if (word.compare_exchange_weak(now.bits, now.with_slots(now.slots() + 1).bits, std::memory_order_acq_rel,
                                   std::memory_order_acquire)) {
      return;
    }
  }
}

}  // namespace halfopen
