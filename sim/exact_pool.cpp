#include "sim/exact_pool.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace halfopen::sim::exact {

namespace {

constexpr std::uint32_t MAX_ENDPOINTS = 65'536;

Bounds scaled(Bounds bounds, double by) { return {bounds.low * by, bounds.high * by}; }

double empty_share(double p, std::uint32_t n, double requests, double out_s, double per_s) {
  if (p >= 1) return 1;
  if (requests == FOREVER) return 0;
  const double trials = 1 / (1 - p);
  return erlang_b(n, out_s * trials * per_s / (trials + requests));
}

}  // namespace

double erlang_b(std::uint32_t n, double a) {
  double out = 1;
  for (std::uint32_t k = 1; k <= n; ++k) out = a * out / (k + a * out);
  return out;
}

Answer<PoolEmpty> pool_empty(const Ejection& one, double p, std::uint32_t endpoints, std::uint64_t eject_ms) {
  using Result = Answer<PoolEmpty>;
  if (endpoints == 0 || endpoints > MAX_ENDPOINTS)
    return Result::refused(
        fmt::format("a pool of {} endpoints is not one of 1 to {}", endpoints, MAX_ENDPOINTS));
  if (!(p >= 0 && p <= 1))
    return Result::refused(fmt::format("a failure probability of {} is not within 0 and 1", p));
  if (eject_ms == 0) return Result::refused("an ejection of 0 ms is none: at least 1 ms is needed");
  PoolEmpty out;
  out.endpoints = endpoints;
  const auto n = static_cast<double>(endpoints);
  out.per_s = one.arrivals.per_s * n;
  const double eject_s = static_cast<double>(eject_ms) / 1000;
  const Bounds requests = scaled(one.mean_s, one.arrivals.per_s);
  out.mean_requests = scaled(requests, n);
  out.mean_s = scaled(out.mean_requests, 1 / out.per_s);
  const Arrivals all{out.per_s, one.arrivals.poisson};
  const Answer<CountLaw> sum = sum_of(one.first_window, endpoints);
  if (sum) {
    const double at = time_quantile_s(*sum, all, 0.95).value_or(FOREVER);
    out.within_95_s = {at, at};
    const double gone = std::max(0.0, 1 - time_survival(*sum, all, eject_s));
    out.gone_before_return = {gone, gone};
  } else {
    out.no_quantile = sum.refusal;
    out.within_95_s = {0, FOREVER};
    out.gone_before_return = {0, 1};
  }
  const double most = empty_share(p, endpoints, requests.low, eject_s, out.per_s);
  const double least = empty_share(p, endpoints, requests.high, eject_s, out.per_s);
  out.empty_share = {least, most};
  out.emptied_per_hour = p >= 1 ? Bounds{} : scaled(out.empty_share, n / eject_s * 3600);
  return out;
}

}  // namespace halfopen::sim::exact
