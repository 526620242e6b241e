#include "sim/exact_numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/real_math.hpp"

namespace halfopen::sim::exact {

namespace {

constexpr double HALF_LN_2PI = 0.91893853320467274178;
constexpr std::size_t SUMMED = 257;

std::array<double, SUMMED> make_ln_factorials() {
  std::array<double, SUMMED> out{};
  for (std::size_t n = 2; n < SUMMED; ++n) out[n] = out[n - 1] + real::ln(static_cast<double>(n));
  return out;
}

double binomial_term(std::uint64_t n, double p, std::uint64_t k) {
  const double ln_choose = ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k);
  return real::exp(ln_choose + static_cast<double>(k) * real::ln(p) + static_cast<double>(n - k) * ln_1p(-p));
}

// The sum of the terms from `k` on, away from the mean: upwards, or downwards.
double binomial_side(std::uint64_t n, double p, std::uint64_t k, bool up) {
  double term = binomial_term(n, p, k), sum = term;
  const double odds = p / (1 - p);
  while (term > sum * 1e-18 && (up ? k < n : k > 0)) {
    term *= up ? static_cast<double>(n - k) / static_cast<double>(k + 1) * odds
               : static_cast<double>(k) / static_cast<double>(n - k + 1) / odds;
    sum += term;
    k += up ? 1U : ~std::uint64_t{0};
  }
  return std::min(sum, 1.0);
}

}  // namespace

// Kahan's trick: what rounding did to 1 + x cancels in the quotient.
double ln_1p(double x) {
  const double u = 1.0 + x;
  return u == 1.0 ? x : real::ln(u) * x / (u - 1.0);
}

double exp_m1(double x) {
  const double u = real::exp(x);
  if (u == 1.0) return x;
  if (u - 1.0 == -1.0) return -1.0;
  return (u - 1.0) * x / real::ln(u);
}

double ln_factorial(std::uint64_t n) {
  static const std::array<double, SUMMED> table = make_ln_factorials();
  if (n < SUMMED) return table[n];
  const double x = static_cast<double>(n), square = x * x;
  return (x + 0.5) * real::ln(x) - x + HALF_LN_2PI +
         (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / x;
}

double binomial_at_least(std::uint64_t n, double p, std::uint64_t c) {
  if (c == 0) return 1;
  if (c > n || p <= 0) return 0;
  if (p >= 1) return 1;
  if (static_cast<double>(c) > static_cast<double>(n) * p) return binomial_side(n, p, c, true);
  return 1.0 - binomial_side(n, p, c - 1, false);
}

PoissonWeights poisson_weights(double mean) {
  PoissonWeights out;
  if (mean <= 0) return {0, {1.0}};
  const double spread = 9.5 * std::sqrt(mean) + 40;
  out.first = static_cast<std::uint64_t>(std::max(0.0, std::floor(mean - spread)));
  const auto last = static_cast<std::uint64_t>(std::ceil(mean + spread));
  const auto mode = static_cast<std::uint64_t>(std::floor(mean));
  out.weight.assign(last - out.first + 1, 0.0);
  const auto at = [&](std::uint64_t n) -> double& { return out.weight[n - out.first]; };
  at(mode) = 1;
  for (std::uint64_t n = mode; n > out.first; --n) at(n - 1) = at(n) * static_cast<double>(n) / mean;
  for (std::uint64_t n = mode; n < last; ++n) at(n + 1) = at(n) * mean / static_cast<double>(n + 1);
  double sum = 0;  // from both ends, the small ones first
  for (std::size_t i = 0, j = out.weight.size(); i < j; ++i) {
    sum += out.weight[i];
    if (i < --j) sum += out.weight[j];
  }
  for (double& weight : out.weight) weight /= sum;
  return out;
}

double poisson_more_than(double mean, double n) {
  if (n < 0) return 1;
  if (mean > 1e8 && mean > 2 * n) return 1;
  const PoissonWeights weights = poisson_weights(std::min(mean, MAX_POISSON_MEAN));
  double below = 0, above = 0;
  for (std::size_t i = 0; i < weights.weight.size(); ++i) {
    (static_cast<double>(weights.first + i) > n ? above : below) += weights.weight[i];
  }
  return above < below ? above : 1 - below;
}

double relative_entropy(double a, double p) {
  if (a <= p) return 0;
  if (p <= 0) return 1e308;
  const double upper = a * real::ln(a / p);
  return a >= 1 ? upper : upper + (1 - a) * real::ln((1 - a) / (1 - p));
}

}  // namespace halfopen::sim::exact
