// Waiting as a law: how many attempts until something happens, and how long that is. Every question of
// sim/exact.hpp about the first ejection, opening or verdict ends in one of these.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace halfopen::sim::exact {

// A value, or the sentence why there is none: a question without an exact answer, or a parameter out of
// range.
template <class T>
struct Answer {
  std::optional<T> value;
  std::string refusal;  // set if and only if there is no value

  Answer(T found) : value(std::move(found)) {}  // an answer is what a function returns
  static Answer refused(std::string why) {
    Answer out;
    out.refusal = std::move(why);
    return out;
  }
  explicit operator bool() const { return value.has_value(); }
  const T& operator*() const { return *value; }
  const T* operator->() const { return &*value; }

 private:
  Answer() = default;
};

// What lies in [low, high] for certain. Exact where both are equal up to rounding.
struct Bounds {
  double low = 0, high = 0;
  bool exact() const { return high - low <= 1e-9 * high || low == high; }
};

// When attempts come to the one whose question it is. Poisson: in a Poisson stream at `per_s`. Else evenly
// spaced, the first one gap after the beginning.
struct Arrivals {
  double per_s = 0;  // > 0
  bool poisson = true;
};

// The law of N >= 1, a number of attempts. `ends[i]` is P(N = i + 1). What is left after them, `beyond`, ends
// with chance tail[j % tail.size()] at the j-th attempt more: one number is a geometric tail, several are
// endpoints that take turns, none means that this law knows no more.
struct CountLaw {
  std::vector<double> ends;
  double beyond = 1;
  std::vector<double> tail;
  double dropped = 0;  // what was left out of `ends` because it is too small, at most

  double known_to() const { return static_cast<double>(ends.size()); }
  bool complete() const { return !tail.empty() || beyond <= COMPLETE; }
  static constexpr double COMPLETE = 1e-12;
};

inline constexpr double FOREVER = std::numeric_limits<double>::infinity();

// P(N > n), n >= 0. Where the law isn't known, what is known: at most P(N > known_to()).
double survival(const CountLaw& law, double n);
// E N; infinite where nothing says that it ends.
double mean_count(const CountLaw& law);
// The least n with P(N <= n) >= level, 0 < level < 1; none beyond what the law knows.
std::optional<double> count_quantile(const CountLaw& law, double level);

// The same law with as much of its tail among `ends` as there is, or until there are 200,000 of them: what is
// left then ends with a chance of about 10^-4 an attempt at most.
CountLaw written_out(CountLaw law);

// The law of the sum of `times` independent ones; refused where the law isn't complete or the sum has more
// than MAX_SUPPORT places.
inline constexpr std::size_t MAX_SUPPORT = 200'000;
Answer<CountLaw> sum_of(const CountLaw& law, std::uint32_t times);

// ---- in time ----------------------------------------------------------------------------------------------
// T, in seconds, is when the N-th attempt comes. Regular: T = N / rate. Poisson: P(T > t) = sum over n of
// P(n attempts by t) * P(N > n), because which attempts fail has nothing to do with when they come; a
// geometric tail S(m + j) = S(m) (1 - h)^j sums to S(m) (1 - h)^-m exp(-rate t h) P(Poisson(rate t (1 - h)) >
// m). A tail that takes turns has no such sum: there the turns' mean stands for each, an error below the
// chance of one round, which `written_out` makes small.

// P(T > t) for many t: what doesn't depend on t is worked out once. Keeps the law, which must outlive it.
class InTime {
 public:
  InTime(const CountLaw& law, const Arrivals& arrivals);
  double survival(double t_s) const;  // within [0, 1]

 private:
  const CountLaw& law_;
  Arrivals arrivals_;
  std::vector<double> survive_;
};

double time_survival(const CountLaw& law, const Arrivals& arrivals, double t_s);
double mean_time_s(const CountLaw& law, const Arrivals& arrivals);  // E N / rate (Wald)
// None beyond what the law knows.
std::optional<double> time_quantile_s(const CountLaw& law, const Arrivals& arrivals, double level);

// The least t with survive(t) <= 1 - level, by bisection to 1 part in 10^10; infinite beyond 10^18 s.
// `survive` does not increase; the search starts at start_s > 0.
double time_until(const std::function<double(double)>& survive, double level, double start_s);

// E of the time before min(T, t_s).
double mean_time_within_s(const CountLaw& law, const Arrivals& arrivals, double t_s);
// E of min(N, K) / rate where an independent clock ends it as well: Poisson arrivals, an exponential clock of
// that rate; regular ones, a coin an attempt of the same mean. What Harris' inequality needs.
double mean_time_killed_s(const CountLaw& law, const Arrivals& arrivals, double kill_per_s);

}  // namespace halfopen::sim::exact
