// A probe's report as JSON, for `probe` and `watch`.
#pragma once

#include "core/prober/probe.hpp"
#include "sim/writer_parts.hpp"

namespace halfopen::sim {

// The members end, ok, status, detail, peer, look_up_ms, connect_ms, tls_ms, response_ms, total_ms: always
// all of them, in this order, null where there is nothing to tell. Times are rounded to whole microseconds.
void append_probe(ObjectWriter& object, const ProbeReport& report);

}  // namespace halfopen::sim
