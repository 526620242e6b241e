#include "core/prober/clocks.hpp"

#include <cstdint>

namespace halfopen {

using namespace std::chrono;

Instant system_now() noexcept {
  const auto since = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
  return Instant{since > 0 ? static_cast<std::uint64_t>(since) : 0};
}

nanoseconds steady_now() noexcept { return steady_clock::now().time_since_epoch(); }

}  // namespace halfopen
