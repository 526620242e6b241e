#include "sim/exact_onset.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sim/exact_coins.hpp"
#include "sim/exact_moments.hpp"
#include "sim/exact_numbers.hpp"
#include "sim/real_math.hpp"

namespace halfopen::sim::exact {

namespace {

constexpr std::size_t GRID = 128;  // moments of the first window
constexpr double HOUR_S = 3600;

// The two bounds of P(T > t).
class Turn {
 public:
  // `begun`: the streak's law with what may have begun before the turn.
  Turn(const Ejection& sick, CountLaw begun, const HealthParams& rule, const FailureTurns& turns,
       double before)
      : coins_(coins_of(turns)),
        moments_(rule, coins_, before, sick.arrivals),
        streak_(sick.streak, sick.arrivals),
        begun_law_(turns.size() > 1 && sick.arrivals.poisson ? written_out(std::move(begun))
                                                             : std::move(begun)),
        begun_(begun_law_, sick.arrivals),
        gap_s_(sick.arrivals.poisson ? 0 : 1 / sick.arrivals.per_s),
        window_s_(static_cast<double>(rule.window_ms) / 1000) {
    past_.push_back(0);
    spread_.push_back(0);
    missed_.push_back(1);
    for (std::size_t i = 1; i <= GRID; ++i) {
      const double t_s = window_s_ * static_cast<double>(i) / GRID;
      const Coins::Hazard met = coins_.hazard(moments_.meets(t_s));
      past_.push_back(past_.back() + met.per_s(sick.arrivals) * window_s_ / GRID);
      spread_.push_back(met.spread);
      missed_.push_back(std::min(missed_.back(), moments_.misses(t_s)));
    }
    const double full = coins_.hazard(moments_.meets(window_s_)).per_s(sick.arrivals);
    full_per_s_ = std::min(sick.ratio_per_s, full);
  }

  double at_most(double t_s) const {
    double missed = missed_[place(t_s)];
    if (t_s > window_s_) {
      const double more = std::min(1e9, std::floor((t_s - window_s_) / moments_.apart_s()));
      missed *= real::exp(std::max(-700.0, more * real::ln(std::max(missed_.back(), 1e-300))));
    }
    return std::min(streak_.survival(t_s), missed);
  }
  // Evenly spaced ones begin anywhere within the first gap: here, at the turn.
  double at_least(double turned_s) const {
    const double t_s = turned_s + gap_s_;
    const std::size_t next = std::min<std::size_t>(GRID, place(t_s) + 1);
    double past = past_[next] + spread_[next];
    if (t_s > window_s_) past += full_per_s_ * (t_s - window_s_);
    return std::min(at_most(t_s), begun_.survival(t_s) * real::exp(std::max(-700.0, -past)));
  }

 private:
  std::size_t place(double t_s) const {
    return static_cast<std::size_t>(std::min<double>(GRID, std::floor(t_s / window_s_ * GRID)));
  }

  Coins coins_;
  Moments moments_;
  InTime streak_;
  CountLaw begun_law_;
  InTime begun_;
  double gap_s_, window_s_, full_per_s_ = 0;
  std::vector<double> past_, spread_,
      missed_;  // at i / GRID of the window: integral of h, its spread, `misses`
};

std::string no_turn(const Ejection& sick, const FailureTurns& turns, double before) {
  if (!(before >= 0 && before <= 1))
    return fmt::format("a failure probability of {} before the turn is not within 0 and 1", before);
  if (coins_of(turns).mean < before) return "it fails less often than before the turn";
  if (!sick.streak_known) return "a streak this long can't be followed";
  return "";
}

}  // namespace

Answer<Onset> onset(const Ejection& sick, const HealthParams& rule, const FailureTurns& turns,
                    double before) {
  if (std::string why = no_turn(sick, turns, before); !why.empty())
    return Answer<Onset>::refused(std::move(why));
  const Answer<CountLaw> begun = streak_law(rule.consecutive_failures, turns, before);
  if (!begun) return Answer<Onset>::refused(begun.refusal);
  const Turn turn(sick, *begun, rule, turns, before);
  const auto quantile = [&](double level) {
    const double start = 1 / sick.arrivals.per_s;
    const double low = time_until([&](double t) { return turn.at_least(t); }, level, start);
    return Bounds{low, std::max(low, time_until([&](double t) { return turn.at_most(t); }, level, start))};
  };
  Onset out;
  out.bound = sick.ratio_can_fire ? "streak, moment, Harris" : "streak";
  out.median_s = quantile(0.5);
  out.within_95_s = quantile(0.95);
  out.in_an_hour = {1 - turn.at_most(HOUR_S), 1 - turn.at_least(HOUR_S)};
  return out;
}

Answer<Bounds> onset_by(const Ejection& sick, const HealthParams& rule, const FailureTurns& turns,
                        double before, double t_s) {
  if (std::string why = no_turn(sick, turns, before); !why.empty())
    return Answer<Bounds>::refused(std::move(why));
  const Answer<CountLaw> begun = streak_law(rule.consecutive_failures, turns, before);
  if (!begun) return Answer<Bounds>::refused(begun.refusal);
  const Turn turn(sick, *begun, rule, turns, before);
  return Bounds{1 - turn.at_most(t_s), 1 - turn.at_least(t_s)};
}

}  // namespace halfopen::sim::exact
