#include <doctest/doctest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "core/state_word.hpp"

namespace {

using namespace halfopen;
using Edge = std::pair<std::string, std::string>;

const char* name(GateState state) {
  switch (state) {
    case GateState::in: return "in";
    case GateState::out: return "out";
    case GateState::half_open: return "half_open";
  }
  return "";
}

std::set<Edge> edges_of_the_code() {
  std::set<Edge> edges;
  for (const GateState from : {GateState::in, GateState::out, GateState::half_open}) {
    for (const GateState to : {GateState::in, GateState::out, GateState::half_open}) {
      if (is_legal_edge(from, to)) edges.insert({name(from), name(to)});
    }
  }
  return edges;
}

// The rows "| from | to | …" of core/README.md whose first two cells are states.
std::set<Edge> edges_of_the_readme() {
  std::ifstream file("core/README.md");
  std::set<Edge> edges;
  for (std::string line; std::getline(file, line);) {
    std::istringstream cells(line);
    std::string bar, from, to;
    if (!(cells >> bar >> from >> bar >> to) || bar != "|") continue;
    for (const auto& edge : edges_of_the_code()) {
      if (edge.first == from || edge.first == to) edges.insert({from, to});
    }
  }
  return edges;
}

}  // namespace

TEST_CASE("readme: core/README.md names the legal edges, and no others") {
  CHECK(edges_of_the_code().size() == 5);
  CHECK(edges_of_the_readme() == edges_of_the_code());
}
