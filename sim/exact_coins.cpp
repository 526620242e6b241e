#include "sim/exact_coins.hpp"

#include <cmath>
#include <numeric>

#include "sim/exact_numbers.hpp"

namespace halfopen::sim::exact {

Coins coins_of(const FailureTurns& turns) {
  Coins out;
  out.most = *std::max_element(turns.begin(), turns.end());
  out.turns = static_cast<double>(turns.size());
  out.mean = std::accumulate(turns.begin(), turns.end(), 0.0) / out.turns;
  out.each = turns;
  for (const double p : turns) out.spread += std::max(0.0, p - out.mean);
  if (turns.size() == 1) out.turns = 0, out.spread = 0;  // one coin: no part of a turn is unlike the whole
  return out;
}

Coins::Hazard Coins::hazard(double q) const {
  Hazard out;
  std::vector<double> left;
  for (const double p : each) left.push_back(-ln_1p(-std::min(p * q, 1 - 1e-15)));
  for (const double one : left) out.mean += one / static_cast<double>(each.size());
  for (const double one : left) out.spread += std::max(0.0, one - out.mean);
  if (each.size() == 1) out.spread = 0;
  return out;
}

// E exp(-mean N) of a Poisson number N is exp(-rate t (1 - exp(-mean))).
double Coins::Hazard::per_s(const Arrivals& arrivals) const {
  return arrivals.per_s * (arrivals.poisson ? -exp_m1(-mean) : mean);
}

EvenVolume even_volume(std::uint64_t window_ms, double per_s) {
  const double per_ms = per_s / 1000, window = static_cast<double>(window_ms);
  EvenVolume out;
  out.fewest = static_cast<std::uint64_t>(std::floor((window - 1) * per_ms + 1e-9)) + 1;
  out.most = std::max(out.fewest, static_cast<std::uint64_t>(std::ceil(window * per_ms - 1e-9)));
  return out;
}

}  // namespace halfopen::sim::exact
