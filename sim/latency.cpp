#include "sim/latency.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace halfopen::sim {

namespace {

constexpr double Z_OF_P99 = 2.3263478740408408;  // the standard normal's 99th percentile

double draw(const FixedLatency& fixed, double) { return fixed.ms; }

double draw(const UniformLatency& uniform, double u) {
  return uniform.min_ms + u * (uniform.max_ms - uniform.min_ms);
}

double draw(const ExponentialLatency& exponential, double u) {
  return -exponential.mean_ms * real::ln(1.0 - u);
}

// u = 0 has no normal value; half of the smallest other draw stands for it.
double draw(const LognormalLatency& lognormal, double u) {
  const double z = real::inverse_normal(std::max(u, 0x1p-54));
  return real::exp(lognormal.mu + lognormal.sigma * z);
}

double draw(const ParetoLatency& pareto, double u) {
  return std::min(pareto.min_ms * real::pow(1.0 - u, -1.0 / pareto.alpha), pareto.max_ms);
}

double draw(const EmpiricalLatency& empirical, double u) {
  const std::vector<double>& ms = *empirical.ms;
  const auto place = static_cast<std::size_t>(u * static_cast<double>(ms.size()));
  return ms[std::min(place, ms.size() - 1)];
}

}  // namespace

double draw_other_ms(const Latency& latency, double u) {
  return std::visit([u](const auto& kind) { return draw(kind, u); }, latency);
}

LognormalLatency lognormal_of_percentiles(double p50_ms, double p99_ms) {
  return {real::ln(p50_ms), real::ln(p99_ms / p50_ms) / Z_OF_P99};
}

LognormalLatency lognormal_of_moments(double mean_ms, double sd_ms) {
  const double ratio = sd_ms / mean_ms;
  const double variance = real::ln(1.0 + ratio * ratio);
  return {real::ln(mean_ms) - variance / 2.0, std::sqrt(variance)};
}

}  // namespace halfopen::sim
