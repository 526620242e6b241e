// The few functions of probability that the exact models share, out of sim/real_math.hpp, so that the last
// bit is the same on every compiler and processor. Thread-safe; nothing throws but std::bad_alloc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/real_math.hpp"

namespace halfopen::sim::exact {

// ln(1 + x) and exp(x) - 1, both to about 1 part in 10^15 also where x is tiny; x > -1.
double ln_1p(double x);
double exp_m1(double x);

// ln n!. A sum up to 256, Stirling's series with three terms beyond (error below 10^-17 there).
double ln_factorial(std::uint64_t n);

// P(X >= c) for X of n trials that succeed with probability p each. Summed from c away from the mean, every
// term to 1 part in 10^11 or better for n <= 10^7; what is under 10^-300 comes as 0.
double binomial_at_least(std::uint64_t n, double p, std::uint64_t c);

// Poisson probabilities: weight[i] = P(X = first + i). All of them but at most 10^-17, at either end.
struct PoissonWeights {
  std::uint64_t first = 0;
  std::vector<double> weight;
};
inline constexpr double MAX_POISSON_MEAN = 1e10;  // 10^6 weights
PoissonWeights poisson_weights(double mean);      // 0 <= mean <= MAX_POISSON_MEAN

// P(X > n) for a Poisson variable of that mean; a mean over 10^8 that is twice n or more answers 1.
double poisson_more_than(double mean, double n);

// KL(a || p) of two coins, in nats: P(X >= a n) <= exp(-n KL) for a > p (Chernoff). 0 where a <= p.
double relative_entropy(double a, double p);

// Chernoff's inequality: the least of exp(ln_bound(theta)) over 0 <= theta <= 400, where ln_bound is convex
// and 0 at 0, the logarithm of E exp(theta X). P(X >= 0) is at most this. Within [0, 1].
template <class Exponent>
double chernoff(const Exponent& ln_bound) {
  double low = 0, high = 2e-3;
  while (high < 200 && ln_bound(high) < ln_bound(high / 2)) high *= 2;
  for (int i = 0; i < 32; ++i) {
    const double a = low + (high - low) / 3, b = high - (high - low) / 3;
    if (ln_bound(a) < ln_bound(b)) {
      high = b;
    } else {
      low = a;
    }
  }
  return real::exp(std::clamp(ln_bound((low + high) / 2), -700.0, 0.0));
}

}  // namespace halfopen::sim::exact
