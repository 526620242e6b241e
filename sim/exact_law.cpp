#include "sim/exact_law.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "sim/exact_numbers.hpp"
#include "sim/real_math.hpp"

namespace halfopen::sim::exact {

namespace {

constexpr double NOTHING = 1e-15;

// The survival of every n up to known_to(): out[n] = P(N > n). From the far end, so that small ones stay
// exact.
std::vector<double> survivals(const CountLaw& law) {
  std::vector<double> out(law.ends.size() + 1);
  out.back() = law.beyond;
  for (std::size_t i = law.ends.size(); i > 0; --i) out[i - 1] = out[i] + law.ends[i - 1];
  return out;
}

// How a tail survives: whole rounds of its turns, and the first turns of the next.
struct Tail {
  explicit Tail(const CountLaw& law) : turns(law.tail) {
    for (const double h : turns) {
      ln_round += h < 1 ? ln_1p(-h) : -1e4;
      mean += h / static_cast<double>(turns.size());
    }
  }
  double survive(double more) const {
    if (turns.empty()) return 1;
    const auto period = static_cast<double>(turns.size());
    const double rounds = std::floor(more / period);
    double out = real::exp(std::max(-1e6, rounds * ln_round));
    const auto rest = static_cast<std::size_t>(more - rounds * period);
    for (std::size_t i = 0; i < rest; ++i) out *= 1 - turns[i];
    return out;
  }
  // Sum over j < count of survive(j).
  double sum_until(double count) const {
    if (turns.empty()) return count;
    const auto period = static_cast<double>(turns.size());
    const double rounds = std::floor(count / period);
    const auto rest = static_cast<std::size_t>(count - rounds * period);
    double whole = 0, part = 0, alive = 1;
    for (std::size_t i = 0; i < turns.size(); ++i) {
      if (i < rest) part += alive;
      whole += alive;
      alive *= 1 - turns[i];
    }
    const double all = ln_round < 0 ? whole * exp_m1(rounds * ln_round) / exp_m1(ln_round) : whole * rounds;
    return all + part * survive(rounds * period);
  }
  // Sum over j >= 0 of survive(j) x^j, where 1 - x is given.
  double sum(double one_less_x) const {
    double out = 0, alive = 1;
    for (const double h : turns) {
      out += alive;
      alive *= (1 - h) * (1 - one_less_x);
    }
    const double lost = turns.empty() || one_less_x >= 1
                            ? 1
                            : -exp_m1(ln_round + static_cast<double>(turns.size()) * ln_1p(-one_less_x));
    if (turns.empty()) return one_less_x > 0 ? 1 / one_less_x : FOREVER;
    return lost > 0 ? out / lost : FOREVER;
  }

  const std::vector<double>& turns;
  double ln_round = 0, mean = 0;
};

double tail(const CountLaw& law, double n) {
  return law.beyond == 0 ? 0 : law.beyond * Tail(law).survive(n - law.known_to());
}

double poisson_survival(const CountLaw& law, const std::vector<double>& survive, double mean) {
  const double known = law.known_to();
  double out = 0;
  if (mean < 4 * known + 400) {
    const PoissonWeights weights = poisson_weights(mean);
    for (std::size_t i = 0; i < weights.weight.size(); ++i) {
      const std::size_t n = weights.first + i;
      if (n >= survive.size()) break;
      out += weights.weight[i] * survive[n];
    }
  }
  if (law.tail.empty()) return out + law.beyond * poisson_more_than(mean, known);
  const double h = Tail(law).mean;
  if (law.beyond == 0 || h >= 1) return out;
  const double exponent = -mean * h - known * ln_1p(-h);
  return out + law.beyond * real::exp(exponent) * poisson_more_than(mean * (1 - h), known);
}

}  // namespace

double survival(const CountLaw& law, double n) {
  if (n >= law.known_to()) return tail(law, n);
  double out = law.beyond;
  for (std::size_t i = law.ends.size(); static_cast<double>(i) > n; --i) out += law.ends[i - 1];
  return out;
}

double mean_count(const CountLaw& law) {
  double out = 0;
  for (std::size_t i = law.ends.size(); i > 0; --i) out += law.ends[i - 1] * static_cast<double>(i);
  if (law.beyond == 0) return out;
  if (law.tail.empty()) return law.complete() ? out + law.beyond * law.known_to() : FOREVER;
  return out + law.beyond * (law.known_to() + Tail(law).sum(0));
}

std::optional<double> count_quantile(const CountLaw& law, double level) {
  double ended = 0;
  for (std::size_t i = 0; i < law.ends.size(); ++i) {
    ended += law.ends[i];
    if (ended >= level) return static_cast<double>(i + 1);
  }
  const Tail left(law);
  if (!(left.mean > 0) || law.beyond <= 0) return std::nullopt;
  const auto period = static_cast<double>(law.tail.size());
  double more = 0;  // whole rounds that are certain not to be enough
  if (1 - level < law.beyond) more = std::floor(real::ln((1 - level) / law.beyond) / left.ln_round) * period;
  more = std::max(0.0, more - period);
  // Beyond 2^53 one more is none more, and a part of 10^16.
  while (more < 9e15 && law.beyond * left.survive(more) > 1 - level) ++more;
  return law.known_to() + std::max(1.0, more);
}

CountLaw written_out(CountLaw law) {
  if (law.tail.empty()) return law;
  std::size_t j = 0;
  while (law.beyond > NOTHING && law.ends.size() < MAX_SUPPORT) {
    const double h = law.tail[j];
    law.ends.push_back(law.beyond * h);
    law.beyond *= 1 - h;
    if (++j == law.tail.size()) j = 0;
  }
  std::rotate(law.tail.begin(), law.tail.begin() + static_cast<std::ptrdiff_t>(j), law.tail.end());
  return law;
}

Answer<CountLaw> sum_of(const CountLaw& law, std::uint32_t times) {
  if (times == 0) return Answer<CountLaw>::refused("a sum of no waiting times is no waiting time");
  if (!law.complete()) {
    return Answer<CountLaw>::refused(
        "the sum needs the whole law of one waiting time, and this one is known only until the first "
        "observation ages out");
  }
  const CountLaw whole = written_out(law);
  const std::vector<double>& one = whole.ends;
  if (whole.beyond > NOTHING) {
    return Answer<CountLaw>::refused(fmt::format(
        "the law of one waiting time has more than {} places, too many to add them up", MAX_SUPPORT));
  }
  if (one.size() > MAX_SUPPORT / times || one.size() * one.size() * times > 400'000'000) {
    return Answer<CountLaw>::refused(fmt::format(
        "the sum of {} waiting times of {} places each is too long to add up", times, one.size()));
  }
  CountLaw out;
  out.ends = one;
  out.beyond = 0;
  for (std::uint32_t i = 1; i < times; ++i) {
    std::vector<double> next(out.ends.size() + one.size(), 0.0);
    for (std::size_t a = 0; a < out.ends.size(); ++a) {
      if (out.ends[a] == 0) continue;
      for (std::size_t b = 0; b < one.size(); ++b) next[a + b + 1] += out.ends[a] * one[b];
    }
    out.ends = std::move(next);
  }
  return out;
}

InTime::InTime(const CountLaw& law, const Arrivals& arrivals)
    : law_(law), arrivals_(arrivals), survive_(survivals(law)) {}

double InTime::survival(double t_s) const {
  const double mean = arrivals_.per_s * t_s;
  if (arrivals_.poisson) return std::clamp(poisson_survival(law_, survive_, mean), 0.0, 1.0);
  const double n = std::floor(mean * (1 + 1e-12));
  return std::clamp(n < law_.known_to() ? survive_[static_cast<std::size_t>(n)] : tail(law_, n), 0.0, 1.0);
}

double time_survival(const CountLaw& law, const Arrivals& arrivals, double t_s) {
  return InTime(law, arrivals).survival(t_s);
}

double mean_time_s(const CountLaw& law, const Arrivals& arrivals) { return mean_count(law) / arrivals.per_s; }

std::optional<double> time_quantile_s(const CountLaw& law, const Arrivals& arrivals, double level) {
  const std::optional<double> count = count_quantile(law, level);
  if (!count) return std::nullopt;
  if (!arrivals.poisson) return *count / arrivals.per_s;
  const InTime in_time(law, arrivals);
  const double at = time_until([&](double t) { return in_time.survival(t); }, level, *count / arrivals.per_s);
  return at == FOREVER ? std::nullopt : std::optional(at);
}

double time_until(const std::function<double(double)>& survive, double level, double start_s) {
  double low = 0, high = start_s;
  while (survive(high) > 1 - level) {
    low = high;
    high *= 2;
    if (high > 1e18) return FOREVER;
  }
  for (int i = 0; i < 100 && high - low > 1e-10 * high; ++i) {
    const double middle = low + (high - low) / 2;
    (survive(middle) > 1 - level ? low : high) = middle;
  }
  return high;
}

// Regular: the sum of P(N > n) over the whole gaps within t, and the rest of the last. Poisson: the integral
// of P(n attempts by s) from 0 to t is P(more than n by t) / rate; where t is so long that all of `ends` are
// past, E of the geometric sum up to the Poisson number M, with E (1 - h)^M = exp(-mean h).
double mean_time_within_s(const CountLaw& law, const Arrivals& arrivals, double t_s) {
  const std::vector<double> survive = survivals(law);
  const double mean = arrivals.per_s * t_s, known = law.known_to();
  const Tail left(law);
  double out = 0;
  if (!arrivals.poisson) {
    const double whole = std::floor(mean), stepped = std::min(whole, known);
    for (std::size_t n = 0; static_cast<double>(n) < stepped; ++n) out += survive[n];
    const double more = whole - stepped;
    const double last =
        more > 0 || whole >= known ? tail(law, whole) : survive[static_cast<std::size_t>(whole)];
    return (out + law.beyond * left.sum_until(more) + (mean - whole) * last) / arrivals.per_s;
  }
  if (mean > 4 * known + 400) {
    for (std::size_t n = 0; n + 1 < survive.size(); ++n) out += survive[n];
    const double h = left.mean;
    double sum = mean - known;
    if (h > 0) sum = -exp_m1(std::max(-700.0, -mean * h - (h < 1 ? known * ln_1p(-h) : 0))) / h;
    return (out + law.beyond * sum) / arrivals.per_s;
  }
  const PoissonWeights weights = poisson_weights(mean);
  double more = 1;
  const std::size_t end = weights.first + weights.weight.size();
  for (std::size_t n = 0; n < end; ++n) {
    if (n >= weights.first) more -= weights.weight[n - weights.first];
    out += std::max(0.0, more) * (n < survive.size() ? survive[n] : tail(law, static_cast<double>(n)));
  }
  return out / arrivals.per_s;
}

double mean_time_killed_s(const CountLaw& law, const Arrivals& arrivals, double kill_per_s) {
  const double rate = arrivals.per_s;
  const double kill = arrivals.poisson ? kill_per_s / (rate + kill_per_s) : std::min(1.0, kill_per_s / rate);
  const std::vector<double> survive = survivals(law);
  double out = 0, alive = 1;
  for (std::size_t n = 0; n < law.ends.size(); ++n) {
    out += survive[n] * alive;
    alive *= 1 - kill;
  }
  if (law.beyond > 0 && (!law.tail.empty() || !law.complete()))
    out += law.beyond * alive * Tail(law).sum(kill);
  return out / (arrivals.poisson ? rate + kill_per_s : rate);
}

}  // namespace halfopen::sim::exact
