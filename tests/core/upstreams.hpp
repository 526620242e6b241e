// Small upstreams for tests: endpoints a, b, c ... on port 1, thresholds of two, everything out for 100 ms.
#pragma once

#include <string>
#include <vector>

#include "core/upstream.hpp"

namespace halfopen::testing {

inline EndpointConfig endpoint(const std::string& address, std::uint32_t weight = 1) {
  return {address, 1, weight};
}

inline HealthParams quick_health() {
  HealthParams health;
  health.consecutive_failures = 2;
  health.eject_ms = 100;
  health.half_open_probes = 1;
  return health;
}

inline BreakerParams quick_breaker() {
  BreakerParams breaker;
  breaker.consecutive_failures = 2;
  breaker.open_ms = 100;
  breaker.half_open_probes = 1;
  return breaker;
}

// "abc": three endpoints of weight 1, health and no breaker.
inline UpstreamConfig upstream_of(const std::string& addresses,
                                  Algorithm algorithm = Algorithm::round_robin) {
  UpstreamConfig config;
  config.name = "shop";
  config.load_balancer = algorithm;
  for (const char address : addresses) config.endpoints.push_back(endpoint(std::string(1, address)));
  config.health = quick_health();
  return config;
}

// The addresses of the next n picks, each reported at once with the same status.
template <class Upstream>
std::string serve(Upstream& upstream, std::uint64_t now, int n, std::uint16_t status = 200,
                  const PickInput& input = {}) {
  std::string served;
  for (int i = 0; i < n; ++i) {
    auto admission = upstream.admit(Instant{now}, AttemptKind::retry);
    if (!admission.allowed()) {
      served += '-';
      continue;
    }
    auto dispatch = admission.pick(Instant{now}, input);
    served += dispatch ? dispatch.endpoint().front() : '0';
    if (dispatch) dispatch.report(Instant{now}, Outcome::http(status));
  }
  return served;
}

template <class Upstream>
typename Upstream::Dispatch dispatch(Upstream& upstream, std::uint64_t now, const PickInput& input = {}) {
  return upstream.admit(Instant{now}, AttemptKind::retry).pick(Instant{now}, input);
}

// Fails one endpoint, by its tracker, until it is ejected.
template <class Upstream>
void eject(Upstream& upstream, std::size_t index, std::uint64_t now) {
  const auto tracker = upstream.endpoints()[index].tracker;
  for (int i = 0; i < 2; ++i) tracker->report(quick_health(), Instant{now}, true);
}

}  // namespace halfopen::testing
