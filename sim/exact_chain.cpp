#include "sim/exact_chain.hpp"

#include <fmt/core.h>

#include <Eigen/Sparse>
#include <Eigen/SparseLU>
#include <cmath>
#include <optional>
#include <utility>

namespace halfopen::sim::exact {

namespace {

using Matrix = Eigen::SparseMatrix<double>;
using Entry = Eigen::Triplet<double>;

std::string bad_chain(std::size_t states, const std::vector<Edge>& edges) {
  if (states == 0 || states > MAX_STATES)
    return fmt::format("a chain of {} states is not one of 1 to {}", states, MAX_STATES);
  for (const Edge& edge : edges) {
    if (edge.from >= states || edge.to >= states) {
      return fmt::format("an edge from {} to {} leaves a chain of {} states", edge.from, edge.to, states);
    }
    if (!(edge.chance >= 0 && edge.chance <= 1))
      return fmt::format("a chance of {} is not within 0 and 1", edge.chance);
  }
  return "";
}

std::optional<Eigen::VectorXd> solve(std::size_t states, const std::vector<Entry>& entries,
                                     const Eigen::VectorXd& right) {
  const auto size = static_cast<Eigen::Index>(states);
  Matrix matrix(size, size);
  matrix.setFromTriplets(entries.begin(), entries.end());  // entries at one place add up
  matrix.makeCompressed();
  Eigen::SparseLU<Matrix> lu;
  lu.compute(matrix);
  if (lu.info() != Eigen::Success) return std::nullopt;
  Eigen::VectorXd out = lu.solve(right);
  if (lu.info() != Eigen::Success || !out.allFinite()) return std::nullopt;
  return out;
}

int index(std::uint32_t state) { return static_cast<int>(state); }

}  // namespace

Answer<std::vector<double>> steps_to_absorption(std::uint32_t states, const std::vector<Edge>& edges) {
  using Result = Answer<std::vector<double>>;
  if (std::string why = bad_chain(states, edges); !why.empty()) return Result::refused(std::move(why));
  std::vector<Entry> entries;
  for (std::uint32_t i = 0; i < states; ++i) entries.emplace_back(index(i), index(i), 1.0);
  for (const Edge& edge : edges) entries.emplace_back(index(edge.from), index(edge.to), -edge.chance);
  const auto solved = solve(states, entries, Eigen::VectorXd::Ones(static_cast<Eigen::Index>(states)));
  if (!solved || solved->minCoeff() < 1)
    return Result::refused("some state of the chain never leads out of it");
  if (solved->maxCoeff() > MAX_STEPS) {
    return Result::refused(fmt::format(
        "{:.3g} steps to absorption: rounding leaves fewer than seven digits of them", solved->maxCoeff()));
  }
  return std::vector<double>(solved->data(), solved->data() + solved->size());
}

Answer<Stationary> stationary(const std::vector<double>& stay_s, const std::vector<Edge>& edges) {
  using Result = Answer<Stationary>;
  const std::size_t states = stay_s.size();
  if (std::string why = bad_chain(states, edges); !why.empty()) return Result::refused(std::move(why));
  std::vector<Entry> entries;
  const auto last = static_cast<std::uint32_t>(states - 1);
  for (std::uint32_t i = 0; i < last; ++i) entries.emplace_back(index(i), index(i), 1.0);
  for (const Edge& edge : edges) {
    if (edge.to != last) entries.emplace_back(index(edge.to), index(edge.from), -edge.chance);
  }
  for (std::uint32_t i = 0; i <= last; ++i) entries.emplace_back(index(last), index(i), 1.0);
  Eigen::VectorXd right = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(states));
  right[static_cast<Eigen::Index>(last)] = 1;
  const auto solved = solve(states, entries, right);
  if (!solved)
    return Result::refused("the chain falls into parts that never meet: it has no single stationary law");
  Stationary out;
  out.visits.assign(solved->data(), solved->data() + solved->size());
  for (std::size_t i = 0; i < states; ++i) out.step_s += out.visits[i] * stay_s[i];
  if (!(out.step_s > 0 && out.step_s < FOREVER)) {
    return Result::refused("the stays of a stationary process must be finite and not all 0");
  }
  for (std::size_t i = 0; i < states; ++i) out.share.push_back(out.visits[i] * stay_s[i] / out.step_s);
  return out;
}

}  // namespace halfopen::sim::exact
