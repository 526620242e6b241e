#include "core/endpoint_health.hpp"

namespace halfopen {

const char* to_string(HealthState state) noexcept {
  switch (state) {
    case HealthState::healthy: return "healthy";
    case HealthState::ejected: return "ejected";
    case HealthState::half_open: return "half_open";
  }
  return "";
}

template class BasicEndpointHealth<Threads>;
template class BasicEndpointHealth<Single>;

}  // namespace halfopen
