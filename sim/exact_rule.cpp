#include "sim/exact_rule.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/health_types.hpp"
#include "sim/exact_numbers.hpp"
#include "sim/real_math.hpp"

namespace halfopen::sim::exact {

namespace {

constexpr double MAX_UPDATES = 1e8;
constexpr double MAX_WINDOW_UPDATES = 3e7;
constexpr double NEGLIGIBLE = 1e-40;
constexpr double ALL_GONE = 1e-18;
constexpr double LEAST_LN = -690;  // e^-690 is about 10^-300

std::string bad_turns(const FailureTurns& turns) {
  if (turns.empty()) return "at least one failure probability is needed";
  if (turns.size() > MAX_TURNS)
    return fmt::format("{} endpoints take turns, more than {}", turns.size(), MAX_TURNS);
  for (const double p : turns) {
    if (!(p >= 0 && p <= 1)) return fmt::format("a failure probability of {} is not within 0 and 1", p);
  }
  return "";
}

// The streak's chain: the share of each streak among those that survive.
class StreakChain {
 public:
  StreakChain(std::uint32_t streak, const FailureTurns& turns, double before)
      : turns_(turns), now_(streak, 0.0) {
    double all = 0, begun = 1;
    for (double& share : now_) all += share = std::exchange(begun, begun * before);
    for (double& share : now_) share /= all;
  }

  // One attempt; the share that it ends.
  double step() {
    const double p = turns_[turn_];
    turn_ = turn_ + 1 == turns_.size() ? 0 : turn_ + 1;
    const std::size_t k = now_.size();
    const double ended = now_[k - 1] * p;
    const double left = 1 - ended;
    if (left <= 0) return 1;
    for (std::size_t s = k - 1; s > 0; --s) now_[s] = now_[s - 1] * p / left;
    now_[0] = (1 - p) / left;
    return ended;
  }

 private:
  const FailureTurns& turns_;
  std::vector<double> now_;
  std::size_t turn_ = 0;
};

// ln of the largest chance that `streak` turns in a row all fail.
double chance_to_fail_all(std::uint32_t streak, const FailureTurns& turns) {
  std::vector<double> ln;
  for (const double p : turns) ln.push_back(p > 0 ? real::ln(p) : -1e6);
  const std::size_t rounds = streak / ln.size(), part = streak % ln.size();
  double window = std::accumulate(ln.begin(), ln.begin() + static_cast<std::ptrdiff_t>(part), 0.0);
  double most = window;
  for (std::size_t i = 0; i < ln.size(); ++i) {
    window += ln[(i + part) % ln.size()] - ln[i];
    most = std::max(most, window);
  }
  return most + static_cast<double>(rounds) * std::accumulate(ln.begin(), ln.end(), 0.0);
}

// The probabilities of (failures, streak), a band of failures that moves along.
class WindowChain {
 public:
  WindowChain(const HealthParams& rule, std::size_t streaks, bool streak_fires)
      : rule_(rule), streaks_(streaks), fires_(streak_fires), now_(streaks, 0.0) {
    now_[0] = 1;
  }

  double rows() const { return static_cast<double>(now_.size()); }
  double alive() const { return std::accumulate(now_.begin(), now_.end(), 0.0); }
  double dropped() const { return dropped_; }

  // The n-th observation fails with probability p; the chance that it ejects.
  double step(std::uint64_t n, double p) {
    const std::uint64_t limit = failures_needed(rule_, n);
    next_.assign(now_.size() + streaks_, 0.0);
    double ended = 0;
    for (std::size_t at = 0; at < now_.size(); ++at) {
      const double mass = now_[at];
      if (mass < NEGLIGIBLE) {
        dropped_ += mass;
        continue;
      }
      const std::size_t row = at / streaks_, s = at % streaks_;
      next_[row * streaks_] += mass * (1 - p);
      const std::size_t longer = fires_ ? s + 1 : 0;
      if ((limit != 0 && first_ + row + 1 >= limit) || (fires_ && longer >= rule_.consecutive_failures)) {
        ended += mass * p;
      } else if (longer < streaks_) {
        next_[(row + 1) * streaks_ + longer] += mass * p;
      } else {
        dropped_ += mass * p;
      }
    }
    now_.swap(next_);
    trim();
    return ended;
  }

 private:
  void trim() {
    const auto there = [](double mass) { return mass >= NEGLIGIBLE; };
    const auto first = std::find_if(now_.begin(), now_.end(), there);
    const auto skip = static_cast<std::size_t>(first - now_.begin()) / streaks_;
    if (first != now_.end() && skip > 0) {
      now_.erase(now_.begin(), now_.begin() + static_cast<std::ptrdiff_t>(skip * streaks_));
      first_ += skip;
    }
    const auto last = std::find_if(now_.rbegin(), now_.rend(), there);
    const auto spare = static_cast<std::size_t>(last - now_.rbegin()) / streaks_;
    now_.resize(std::max(streaks_, now_.size() - std::min(spare * streaks_, now_.size())));
  }

  const HealthParams& rule_;
  std::size_t streaks_;
  bool fires_;
  std::uint64_t first_ = 0;  // the failures of row 0
  std::vector<double> now_, next_;
  double dropped_ = 0;
};

}  // namespace

HealthParams rule_of(const BreakerParams& breaker) {
  HealthParams out;
  out.window_ms = BREAKER_WINDOW_MS;
  out.consecutive_failures = breaker.consecutive_failures;
  out.failure_ratio = breaker.error_ratio;
  out.failure_min_volume = breaker.error_volume;
  out.eject_ms = breaker.open_ms;
  out.half_open_probes = breaker.half_open_probes;
  return out;
}

std::uint64_t failures_needed(const HealthParams& rule, std::uint64_t volume) {
  const auto fires = [&](std::uint64_t failures) {
    HealthParams ratio_alone = rule;
    ratio_alone.consecutive_failures = 1;
    return ejection_rule(ratio_alone, 0, {volume - failures, failures}) != Rule::none;
  };
  if (volume == 0 || !fires(volume)) return 0;
  const double guess = std::ceil(rule.failure_ratio * static_cast<double>(volume));
  auto need = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(guess), 1, volume);
  while (need > 1 && fires(need - 1)) --need;
  while (!fires(need)) ++need;
  return need;
}

double streak_mean(std::uint32_t streak, double p) {
  if (p >= 1) return streak;
  if (p <= 0) return FOREVER;
  const double ln_all = real::ln(p) * streak;
  if (ln_all < LEAST_LN) return FOREVER;
  return -exp_m1(ln_all) / (real::exp(ln_all) * (1 - p));
}

Answer<CountLaw> streak_law(std::uint32_t streak, const FailureTurns& turns, double before) {
  if (streak == 0)
    return Answer<CountLaw>::refused("a streak of 0 failures is no rule: at least 1 is needed");
  if (std::string why = bad_turns(turns); !why.empty()) return Answer<CountLaw>::refused(std::move(why));
  CountLaw law;
  if (chance_to_fail_all(streak, turns) < LEAST_LN) {
    law.tail = {0};
    return law;
  }
  const std::string too_long =
      fmt::format("a streak of {} at these failure probabilities takes too long to follow exactly", streak);
  if (static_cast<double>(streak) * streak > MAX_UPDATES) return Answer<CountLaw>::refused(too_long);
  const std::size_t period = turns.size();
  StreakChain chain(streak, turns, before);
  std::vector<double> hazards;
  std::size_t steady = 0;  // so many steps in a row had the hazard of one period before
  while (law.beyond > ALL_GONE) {
    if (static_cast<double>(hazards.size() + 1) * streak > MAX_UPDATES) {
      return Answer<CountLaw>::refused(too_long);
    }
    const double hazard = chain.step();
    law.ends.push_back(law.beyond * hazard);
    law.beyond *= 1 - hazard;
    hazards.push_back(hazard);
    const std::size_t n = hazards.size();
    const double last_round = n > period ? hazards[n - 1 - period] : -1;
    steady = n > streak && std::abs(hazard - last_round) <= 1e-12 * hazard ? steady + 1 : 0;
    if (steady < streak + period) continue;
    law.tail.assign(hazards.end() - static_cast<std::ptrdiff_t>(period), hazards.end());
    return law;
  }
  law.tail = {1};  // what is left is below 10^-18
  return law;
}

Answer<CountLaw> window_law(const HealthParams& rule, const FailureTurns& turns, std::uint64_t horizon) {
  if (std::string why = bad_turns(turns); !why.empty()) return Answer<CountLaw>::refused(std::move(why));
  if (rule.consecutive_failures == 0 || rule.failure_min_volume == 0 ||
      !(rule.failure_ratio > 0 && rule.failure_ratio <= 1)) {
    return Answer<CountLaw>::refused(
        "a rule needs a streak and a volume of at least 1 and a ratio in (0, 1]");
  }
  const double worst = *std::max_element(turns.begin(), turns.end());
  const bool fires = rule.consecutive_failures <= horizon;
  double streaks = fires ? rule.consecutive_failures : 1;
  if (fires && worst > 0 && worst < 1) {  // longer ones are below what is left out
    streaks = std::min(streaks, std::ceil(-95 / real::ln(worst)) + 2);
  }
  WindowChain chain(rule, static_cast<std::size_t>(streaks), fires);
  CountLaw law;
  double updates = 0;
  for (std::uint64_t n = 1; n <= horizon && law.beyond > ALL_GONE; ++n) {
    updates += chain.rows();
    if (updates > MAX_WINDOW_UPDATES) break;
    law.ends.push_back(chain.step(n, turns[(n - 1) % turns.size()]));
    law.beyond = chain.alive();
  }
  law.dropped = chain.dropped();
  if (law.beyond <= ALL_GONE) law.tail = {1};
  return law;
}

std::uint64_t observations_before_aging(std::uint64_t window_ms, const Arrivals& arrivals) {
  const double in_window = arrivals.per_s * static_cast<double>(window_ms) / 1000;
  if (!arrivals.poisson) {
    const double last_ms = static_cast<double>(window_ms - 1);
    return static_cast<std::uint64_t>(std::min(1e15, std::floor(arrivals.per_s * last_ms / 1000 + 1e-9))) + 1;
  }
  return static_cast<std::uint64_t>(std::min(1e15, std::ceil(in_window + 9.5 * std::sqrt(in_window) + 40)));
}

}  // namespace halfopen::sim::exact
