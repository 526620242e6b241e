#include "sim/exact_pool.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/exact_coins.hpp"
#include "sim/exact_cycle.hpp"
#include "sim/exact_numbers.hpp"
#include "sim/exact_onset.hpp"
#include "sim/real_math.hpp"

namespace halfopen::sim::exact {

namespace {

constexpr std::uint32_t MAX_ENDPOINTS = 65'536;
constexpr const char* BACK_BEFORE = "an ejected endpoint may be back before the last is out";
constexpr double LEVEL = 0.95;
constexpr double SPARE = 0.01;     // chance that R is met by fewer, all endpoints together
constexpr double AGAIN = 0.1;      // the largest c
constexpr double TOGETHER = 1e-3;  // part of the ratio rule in false ejections, at most
constexpr double RARE_PER_HOUR = 1e-12;
constexpr std::uint32_t LONGEST = 1'000'000;  // attempts that are followed one by one

std::string out_of_range(const PoolQuestion& pool) {
  if (pool.endpoints == 0 || pool.endpoints > MAX_ENDPOINTS)
    return fmt::format("a pool of {} endpoints is not one of 1 to {}", pool.endpoints, MAX_ENDPOINTS);
  if (pool.rule.eject_ms == 0) return "an ejection of 0 ms is none: at least 1 ms is needed";
  return "";
}

double eject_s(const PoolQuestion& pool) { return static_cast<double>(pool.rule.eject_ms) / 1000; }

// R: so many requests of an endpoint are too few for the ratio rule after the turn.
double too_few_for_ratio(const PoolQuestion& pool, const Arrivals& arrivals, double p, double before) {
  const HealthParams& rule = pool.rule;
  const double window_s = static_cast<double>(rule.window_ms) / 1000, spare = SPARE / 2 / pool.endpoints;
  double volume = static_cast<double>(even_volume(rule.window_ms, arrivals.per_s).fewest);
  if (arrivals.poisson) {
    // At every moment until eject_s: looked at 64 times a window, each look good until the next.
    const double looks = std::ceil(64 * eject_s(pool) / window_s) + 1;
    const double mean = arrivals.per_s * std::max(0.0, window_s * 63 / 64 - 0.001);
    volume = std::max(0.0, mean - std::sqrt(2 * mean * real::ln(looks / spare)));
  }
  const auto held = static_cast<std::uint64_t>(std::min(1e15, volume));
  const auto need =
      static_cast<double>(failures_needed(rule, std::max<std::uint64_t>(held, rule.failure_min_volume)));
  const double old = arrivals.per_s * window_s * before;
  const auto met = [&](double requests) {
    return chernoff([&](double theta) {
      return old * exp_m1(theta) + requests * ln_1p(p * exp_m1(theta)) - theta * need;
    });
  };
  double low = 0, high = std::ceil(std::max(need, 1.0) / std::max(p, 1e-12));
  while (high - low > 1) {
    const double middle = std::floor((low + high) / 2);
    (met(middle) <= spare ? low : high) = middle;
  }
  return low;
}

// min(N, at): what is left after at - 1 attempts ends with the next.
Answer<CountLaw> at_most(const CountLaw& law, double at) {
  if (survival(law, at) < CountLaw::COMPLETE) return law;
  if (at > MAX_SUPPORT) return Answer<CountLaw>::refused("the law of one endpoint's requests is too long");
  CountLaw out;
  const InTime survive(law, {1, false});
  double alive = 1;
  for (double n = 1; n < at; ++n) {
    const double next = survive.survival(n);
    out.ends.push_back(alive - next);
    alive = next;
  }
  out.beyond = alive;
  out.tail = {1};
  return out;
}

void add_last_out(PoolSick& out, const PoolQuestion& pool, const Ejection& one, double p, double before) {
  if (pool.endpoints == 1) {
    out.gone_before_return = {1, 1};
    const Answer<Onset> turn = onset(one, pool.rule, {p}, before);
    out.no_quantile = turn.refusal;
    if (turn) out.within_95_s = turn->within_95_s;
    return;
  }
  out.gone_before_return = {0, 1};
  if (!one.streak_known) {
    out.no_quantile = "a streak this long can't be followed";
    return;
  }
  // Not even the first of them is out in time, had it all the traffic.
  const bool hopeless = time_survival(one.streak, pool.arrivals, eject_s(pool)) > 1 - LEVEL;
  const Answer<CountLaw> latest =
      hopeless ? Answer<CountLaw>::refused(BACK_BEFORE) : sum_of(one.streak, pool.endpoints);
  if (!latest) {
    out.no_quantile = latest.refusal;
    return;
  }
  out.gone_before_return.low = 1 - time_survival(*latest, pool.arrivals, eject_s(pool));
  if (out.gone_before_return.low < LEVEL) {
    out.no_quantile = BACK_BEFORE;
    return;
  }
  out.within_95_s.high = time_quantile_s(*latest, pool.arrivals, LEVEL).value_or(FOREVER);
  const Answer<CountLaw> begun = streak_law(pool.rule.consecutive_failures, {p}, before);
  if (!begun) return;
  const Answer<CountLaw> first = at_most(*begun, too_few_for_ratio(pool, one.arrivals, p, before) + 1);
  const Answer<CountLaw> earliest =
      first ? sum_of(*first, pool.endpoints) : Answer<CountLaw>::refused(first.refusal);
  if (!earliest) return;
  const double gap_s = pool.arrivals.poisson ? 0 : 1 / pool.arrivals.per_s;  // the first may come at once
  const double low = time_quantile_s(*earliest, pool.arrivals, LEVEL - SPARE).value_or(FOREVER) - gap_s;
  out.within_95_s.low = std::min(out.within_95_s.high, low);
}

// A failing attempt meets the ratio rule with this chance at most, whatever the window holds.
double worst_ratio_chance(const HealthParams& rule, double p) {
  constexpr std::uint64_t LOOKED = 256;
  if (p >= rule.failure_ratio) return 1;
  double out = 0;
  const std::uint64_t first = rule.failure_min_volume, last = first + LOOKED;
  for (std::uint64_t n = first; n < last; ++n) {
    const std::uint64_t others_failing = failures_needed(rule, n) - 1;
    const double others = static_cast<double>(n) - 1;
    const double share = static_cast<double>(others_failing) / std::max(1.0, others);
    out = std::max(out, n > 20'000 ? real::exp(std::max(-700.0, -others * relative_entropy(share, p)))
                                   : binomial_at_least(n - 1, p, others_failing));
  }
  // Beyond: of n - 1 others, ratio * n - 1 fail.
  const double n = static_cast<double>(last), ratio = (rule.failure_ratio * n - 1) / (n - 1);
  return std::max(out, real::exp(std::max(-700.0, -(n - 1) * relative_entropy(ratio, p))));
}

// E N of a fresh endpoint, at any rate: no more than the streak's, no less than either of two. From the
// minimum volume on, any failure may be the one; and each failure meets the ratio with that chance at most.
Bounds fresh_requests(const HealthParams& rule, const Ejection& one, double p) {
  if (p <= 0) return {FOREVER, FOREVER};
  const double high = one.streak_known ? streak_mean(rule.consecutive_failures, p) : FOREVER;
  const double kill = p * worst_ratio_chance(rule, p);
  const double killed = mean_time_killed_s(one.streak, {1, false}, kill);
  if (!one.streak_known) return {1, high};
  const InTime alive(one.streak, {1, false});
  const auto volume = static_cast<double>(std::min(rule.failure_min_volume, LONGEST));
  double counted = 0;
  for (double n = 0; n < volume; ++n) counted += alive.survival(n);
  if (rule.failure_min_volume <= LONGEST) counted += alive.survival(volume - 1) * (1 - p) / p;
  return {std::min(high, std::max(killed, counted)), high};
}

Bounds fail_open_share(const PoolQuestion& pool, const Ejection& one, double p) {
  const double expected = pool.arrivals.per_s * eject_s(pool);
  if (pool.endpoints == 1) {
    const OutageAlone outage = outage_alone(pool.arrivals, p, pool.rule.eject_ms);
    const auto share = [&](double requests) {
      if (requests == FOREVER) return 0.0;
      if (p >= 1) requests = 0;  // never again
      return outage.fail_open / (outage.fail_open + outage.trials + requests);
    };
    const double per_s = one.arrivals.per_s;
    return {share(one.mean_s.high * per_s), share(one.mean_s.low * per_s)};
  }
  if (p >= 1) return {std::max(0.0, 1 - pool.endpoints / expected), 1};
  const double g = 1 / (1 - p), requests = fresh_requests(pool.rule, one, p).low;
  return {0, requests == FOREVER ? 0 : g / (g + requests)};
}

}  // namespace

double erlang_b(std::uint32_t n, double a) {
  double out = 1;
  for (std::uint32_t k = 1; k <= n; ++k) out = a * out / (k + a * out);
  return out;
}

Answer<PoolSick> pool_sick(const PoolQuestion& pool, const Ejection& one, double p, double before) {
  using Result = Answer<PoolSick>;
  if (std::string why = out_of_range(pool); !why.empty()) return Result::refused(std::move(why));
  if (!(before >= 0 && before <= p)) return Result::refused("it fails less often than before the turn");
  PoolSick out;
  add_last_out(out, pool, one, p, before);
  out.fail_open_share = fail_open_share(pool, one, p);
  return out;
}

Answer<PoolHealthy> pool_healthy(const PoolQuestion& pool, const Ejection& one, double p) {
  using Result = Answer<PoolHealthy>;
  if (std::string why = out_of_range(pool); !why.empty()) return Result::refused(std::move(why));
  const double rate = pool.arrivals.per_s, out_s = eject_s(pool);
  if (p >= 1) return Result::refused("what always fails is not healthy, and the pool never recovers");
  if (pool.endpoints == 1) {
    const OutageAlone outage = outage_alone(pool.arrivals, p, pool.rule.eject_ms);
    const auto per_hour = [&](double requests) {
      return requests == FOREVER
                 ? 0.0
                 : 3600 * rate * outage.spells / (outage.fail_open + outage.trials + requests);
    };
    return PoolHealthy{{per_hour(one.mean_s.high * rate), per_hour(one.mean_s.low * rate)}};
  }
  const Bounds requests = fresh_requests(pool.rule, one, p);
  const auto per_hour = [&](double in) {
    if (in == FOREVER) return 0.0;
    const double trials = 1 / (1 - p);
    return erlang_b(pool.endpoints, out_s * trials * rate / (trials + in)) * pool.endpoints / out_s * 3600;
  };
  const double most = per_hour(requests.low), least = per_hour(requests.high);
  if (requests.low < (1 - TOGETHER) * requests.high && most > RARE_PER_HOUR) {
    return Result::refused(
        "the ratio rule has a part in it, and its window depends on the traffic that the others leave");
  }
  const double again = p + 1 - time_survival(one.streak, pool.arrivals, out_s) +
                       p * worst_ratio_chance(pool.rule, p) * rate * out_s;
  if (again > AGAIN) {
    return Result::refused(
        fmt::format("once empty it fails open, and is likely to be empty again at once (a chance of up to "
                    "{:.0f} %)",
                    100 * std::min(1.0, again)));
  }
  return PoolHealthy{{least * (1 - again), most / (1 - again)}};
}

}  // namespace halfopen::sim::exact
