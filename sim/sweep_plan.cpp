// What a sweep is to be: how many runs that makes, and why it can't be.
#include <fmt/format.h>

#include <algorithm>

#include "sim/sweep.hpp"

namespace halfopen::sim {
namespace {

// Whether whoever sets `outer` undoes what was set at `inner`.
bool holds(const std::string& outer, const std::string& inner) {
  return inner == outer || inner.starts_with(outer + '/');
}

std::optional<std::string> param_problem(const SweepPlan& plan, std::size_t n) {
  const SweepParam& param = plan.params[n];
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::any_of(param.pointer.begin(), param.pointer.end(), control)) {
    return "a parameter's pointer has control characters, and could not be the name of a column";
  }
  if (plan.points.empty() && param.values.empty()) return fmt::format("{} has no values", param.pointer);
  for (std::size_t earlier = 0; earlier < n; ++earlier) {
    const std::string& other = plan.params[earlier].pointer;
    if (other == param.pointer) return fmt::format("{} is given twice: give all its values at once", other);
    if (holds(param.pointer, other)) {
      return fmt::format("{} would undo {}, which is inside it: give it first", param.pointer, other);
    }
  }
  if (param.pointer == "/seed" && plan.load.seed) {
    return "a seed is given, which would undo every value of /seed: leave one of them away";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> sweep_size(const SweepPlan& plan) {
  std::uint64_t runs = plan.replicates;
  const auto times = [&runs](std::uint64_t by) {
    const bool fits = runs <= MAX_SWEEP_RUNS && by <= MAX_SWEEP_RUNS / std::max<std::uint64_t>(runs, 1);
    runs *= fits ? by : 1;
    return fits;
  };
  if (!times(std::max<std::uint64_t>(plan.points.size(), 1))) return std::nullopt;
  if (!plan.points.empty()) return runs;
  for (const SweepParam& param : plan.params) {
    if (!times(param.values.size())) return std::nullopt;
  }
  return runs;
}

std::optional<std::string> sweep_problem(const SweepPlan& plan) {
  for (std::size_t n = 0; n < plan.params.size(); ++n) {
    if (auto problem = param_problem(plan, n)) return problem;
  }
  for (std::size_t n = 0; n < plan.points.size(); ++n) {
    if (plan.points[n].size() == plan.params.size()) continue;
    return fmt::format("point {} has {} values for {} parameters", n, plan.points[n].size(),
                       plan.params.size());
  }
  const std::optional<std::uint64_t> runs = sweep_size(plan);
  if (!runs) return fmt::format("the sweep has more than {} runs: sweep parts of it", MAX_SWEEP_RUNS);
  if (*runs == 0) return "there is nothing to run with 0 replicates";
  return std::nullopt;
}

}  // namespace halfopen::sim
