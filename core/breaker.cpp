#include "core/breaker.hpp"

namespace halfopen {

const char* to_string(BreakerState state) noexcept {
  switch (state) {
    case BreakerState::closed: return "closed";
    case BreakerState::open: return "open";
    case BreakerState::half_open: return "half_open";
  }
  return "";
}

template class BasicBreaker<Threads>;
template class BasicBreaker<Single>;

}  // namespace halfopen
