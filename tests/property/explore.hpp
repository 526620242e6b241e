// Exhaustive exploration of a small machine, breadth first. A machine that cannot be copied is brought back
// to a state by playing the operations that led there.
//
// Machine: default-constructible; OPERATIONS, how many there are; bool apply(int), false where the operation
// does not apply; std::string key(), equal for states from which everything that follows is equal.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace halfopen::testing {

using Path = std::vector<int>;

template <class Machine>
std::unique_ptr<Machine> replay(const Path& path) {
  auto machine = std::make_unique<Machine>();
  for (const int operation : path) machine->apply(operation);
  return machine;
}

// Plays every operation in every reachable state, the nearest first, and calls arrived(path, machine, is_new)
// after each; is_new: the state has not been met before. Answers how many states there are.
template <class Machine, class Arrived>
std::size_t explore(Arrived&& arrived) {
  std::set<std::string> seen;
  std::deque<Path> open;
  const auto arrive = [&](Path path, Machine& machine) {
    const bool is_new = seen.insert(machine.key()).second;
    arrived(path, machine, is_new);
    if (is_new) open.push_back(std::move(path));
  };
  {
    Machine start;
    arrive({}, start);
  }
  while (!open.empty()) {
    const Path from = std::move(open.front());
    open.pop_front();
    for (int operation = 0; operation < Machine::OPERATIONS; ++operation) {
      const auto machine = replay<Machine>(from);
      if (!machine->apply(operation)) continue;
      Path path = from;
      path.push_back(operation);
      arrive(std::move(path), *machine);
    }
  }
  return seen.size();
}

}  // namespace halfopen::testing
