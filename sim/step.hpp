// `halfopen step MACHINE`: the machines of core, one JSON operation a line in, one JSON answer a line out. It
// is how they are compared with any other implementation; the names of operations and answers are fixed by
// the specification's section "The `step` command".
#pragma once

#include <array>
#include <iosfwd>
#include <string>
#include <string_view>

namespace halfopen::sim {

inline constexpr std::array<std::string_view, 4> STEP_MACHINES{"health", "breaker", "retry_budget",
                                                               "upstream"};

bool is_step_machine(std::string_view name) noexcept;

// Answers every line of `in` until it ends. 0, or 2 when at least one line was refused. `machine` must be one
// of STEP_MACHINES. Input that can't be read on sets badbit of `in`; output that can't be written ends the
// run.
//
// No answer is kept back while the next operation is waited for, so that a person or a program at the other
// end may read it before going on; what is there to read is answered in large blocks. Standard input tells
// what is there only after std::ios::sync_with_stdio(false); without it each line costs a write.
int run_step(const std::string& machine, std::istream& in, std::ostream& out);

}  // namespace halfopen::sim
