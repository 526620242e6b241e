#include "sim/exact_probes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sim/exact_rule.hpp"

namespace halfopen::sim::exact {

namespace {

// A sleep: interval + uniform on 0 … steps - 1, in ms.
struct Sleep {
  explicit Sleep(const ProbeQuestion& q)
      : least(static_cast<double>(q.interval_ms)),
        steps(static_cast<double>(std::max<std::uint64_t>(1, q.jitter_ms))) {}
  double most() const { return least + steps - 1; }
  double mean() const { return least + (steps - 1) / 2; }
  double mean_square() const { return mean() * mean() + (steps * steps - 1) / 12; }
  // E max(0, y - S)
  double shortfall(double y) const {
    const double below = std::clamp(std::floor(y) - least + 1, 0.0, steps);
    return (below * (y - least) - below * (below - 1) / 2) / steps;
  }
  double least, steps;
};

double starts_within(const Sleep& sleep, double other_ms, double x) {
  if (x <= 0) return 0;
  return std::min(1.0, (x - sleep.shortfall(x - other_ms)) / (sleep.mean() + other_ms));
}

// The sum of `count` uniforms on 0 … steps - 1, by running sums.
std::vector<double> jitters(std::uint32_t count, std::size_t steps) {
  std::vector<double> out{1.0};
  for (std::uint32_t i = 0; i < count; ++i) {
    std::vector<double> next(out.size() + steps - 1, 0.0);
    double running = 0;
    for (std::size_t at = 0; at < next.size(); ++at) {
      if (at < out.size()) running += out[at];
      if (at >= steps) running -= out[at - steps];
      next[at] = running / static_cast<double>(steps);
    }
    out = std::move(next);
  }
  return out;
}

double exact_quantile_ms(const ProbeQuestion& q, const Sleep& sleep, const std::vector<double>& sums,
                         double level) {
  const double base = q.threshold * q.verdict_ms + (q.threshold - 1.0) * sleep.least;
  const auto by = [&](double t) {
    double out = 0;
    for (std::size_t k = 0; k < sums.size(); ++k) {
      out += sums[k] * starts_within(sleep, q.other_ms, t - base - static_cast<double>(k));
    }
    return out;
  };
  double low = base, high = base + static_cast<double>(sums.size()) + sleep.most() + q.other_ms;
  for (int i = 0; i < 60 && high - low > 1e-6; ++i) {
    const double middle = low + (high - low) / 2;
    (by(middle) < level ? low : high) = middle;
  }
  return high;
}

std::string out_of_range(const ProbeQuestion& q) {
  constexpr double MOST_MS = 1e12;
  if (q.interval_ms == 0) return "probes need an interval of at least 1 ms";
  if (q.threshold == 0) return "a threshold of 0 verdicts is no rule: at least 1 is needed";
  if (!(q.chance > 0 && q.chance <= 1))
    return fmt::format("a chance of {} that a probe has the verdict is not over 0 and at most 1", q.chance);
  const double jitter = static_cast<double>(q.jitter_ms), interval = static_cast<double>(q.interval_ms);
  for (const double ms : {q.verdict_ms, q.other_ms, jitter, interval}) {
    if (!(ms >= 0 && ms <= MOST_MS)) return fmt::format("{} ms is not within 0 and 10^12 ms", ms);
  }
  return "";
}

}  // namespace

Answer<ProbeWait> probe_wait(const ProbeQuestion& q) {
  if (std::string why = out_of_range(q); !why.empty()) return Answer<ProbeWait>::refused(std::move(why));
  Answer<CountLaw> probes = streak_law(q.threshold, {q.chance});
  if (!probes) return Answer<ProbeWait>::refused(probes.refusal);
  const Sleep sleep(q);
  ProbeWait out;
  out.mean_probes = streak_mean(q.threshold, q.chance);
  const double other = q.other_ms;
  const double first =
      (sleep.mean_square() / 2 + other * (other / 2 + sleep.mean())) / (sleep.mean() + other);
  const double n = out.mean_probes;
  out.mean_s =
      (first + (n - 1) * sleep.mean() + n * (q.chance * q.verdict_ms + (1 - q.chance) * other)) / 1000;
  out.least_s = (q.threshold * q.verdict_ms + (q.threshold - 1.0) * sleep.least) / 1000;
  const double most_wait = sleep.most() + other;
  out.most_s = q.chance < 1
                   ? FOREVER
                   : (most_wait + q.threshold * q.verdict_ms + (q.threshold - 1.0) * sleep.most()) / 1000;
  const std::uint64_t steps = std::max<std::uint64_t>(1, q.jitter_ms);
  if (q.chance >= 1 && (q.threshold - 1.0) * static_cast<double>(steps) <= MAX_PROBE_PLACES) {
    const std::vector<double> sums = jitters(q.threshold - 1, steps);
    const auto quantile = [&](double level) { return exact_quantile_ms(q, sleep, sums, level) / 1000; };
    out.median_s = {quantile(0.5), quantile(0.5)};
    out.within_95_s = {quantile(0.95), quantile(0.95)};
  } else {
    const auto bounds = [&](double level) -> Bounds {
      const std::optional<double> count = count_quantile(*probes, level);
      if (!count) return {out.least_s, FOREVER};
      const double quick = std::min(q.verdict_ms, other), slow = std::max(q.verdict_ms, other);
      return {((*count - 1) * (sleep.least + quick) + q.verdict_ms) / 1000,
              (most_wait + (*count - 1) * (sleep.most() + slow) + q.verdict_ms) / 1000};
    };
    out.median_s = bounds(0.5);
    out.within_95_s = bounds(0.95);
  }
  out.probes = *probes;
  return out;
}

}  // namespace halfopen::sim::exact
