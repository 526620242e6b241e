// A run as Chrome trace events: opens in ui.perfetto.dev and in chrome://tracing. Upstreams are processes,
// endpoints and breakers their threads; requests are asynchronous slices; arrows lead from failures to the
// ejections that they caused.
#pragma once

#include <string>

#include "sim/timeline.hpp"
#include "sim/trace_recorder.hpp"

namespace halfopen::sim {

inline constexpr std::uint64_t DEFAULT_TRACE_REQUESTS = 20'000;

// `recorder` has listened to the run that left `timeline`. One JSON document, one event a line.
std::string timeline_trace(const Timeline& timeline, const TraceRecorder& recorder);

}  // namespace halfopen::sim
