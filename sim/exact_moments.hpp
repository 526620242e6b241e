// What the ratio rule finds at one moment, at most or at least: a window that is a mix of attempts from
// before and since a turn. Internal to sim/exact_*.cpp; the derivation is in exact_onset.hpp.
#pragma once

#include "sim/exact_coins.hpp"

namespace halfopen::sim::exact {

class Moments {
 public:
  // Attempts failed at `before` each until 0 and are `coins` since. Keeps rule and coins, which must outlive
  // it.
  Moments(const HealthParams& rule, const Coins& coins, double before, const Arrivals& arrivals);

  // At most: a failure at t_s >= 0 meets the ratio rule.
  double meets(double t_s) const;
  // At most: the ratio rule has not acted by t_s. Depends on what came in the 1.5 windows before t_s only.
  double misses(double t_s) const;
  // Two looks that are so far apart have nothing in common.
  double apart_s() const { return 1.5 * window_s_ + 0.002; }

 private:
  // So many attempts of each kind are in a window.
  struct Mix {
    double healthy = 0, sick = 0;
  };
  double even_exponent(const Mix& mix, double one_less) const;
  double turns_exponent(double one_less) const;
  double none_fail(double attempts) const;
  double misses(double t_s, double look_s) const;
  double misses_poisson(double t_s, double look_s, double kept_s) const;
  double misses_even(double t_s, double look_s, double kept_s) const;

  const HealthParams& rule_;
  const Coins& coins_;
  double before_, ratio_, rate_, window_s_;
  bool poisson_;
  EvenVolume volume_;
  double enough_;  // at most: a Poisson window holds the volume
};

}  // namespace halfopen::sim::exact
