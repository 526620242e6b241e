// Clients for tests: they come again at once, so that a story has no luck in it.
#pragma once

#include <cstdint>

#include "sim/scenario.hpp"
#include "tests/support/scenario_builder.hpp"

namespace halfopen::sim::testing {

// Comes again in the instant in which it was not served.
inline Client impatient(double timeout_ms, std::uint32_t retries) {
  Client client;
  client.timeout = ms(timeout_ms);
  client.retries = retries;
  client.backoff_base_ms = client.backoff_cap_ms = 0;
  return client;
}

inline Client persistent(std::uint32_t retries) {
  Client client = impatient(0, retries);
  client.timeout = NEVER;
  return client;
}

}  // namespace halfopen::sim::testing
