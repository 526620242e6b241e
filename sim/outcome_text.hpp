// How requests and the ends of attempts are called in everything that names single ones of them.
#pragma once

#include <string>

#include "core/outcome.hpp"
#include "sim/observer.hpp"

namespace halfopen::sim {

// "503", "reset", "connect timeout", "timeout"; "200, body broke off" for a body that did.
std::string outcome_text(const Outcome& outcome, bool body_broke);

// A probe's verdict, or the attempt's outcome.
std::string outcome_text(const Observation& seen);

// Whether it counts as a failure: of a probe its verdict, of an attempt its status, transport or body.
bool is_failure(const Observation& seen);

// "ok", "failed", "fast-failed", "abandoned".
const char* end_text(RequestEnd end) noexcept;

}  // namespace halfopen::sim
