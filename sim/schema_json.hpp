// JSON Schemas (draft-07) of the files that people write and that we write, made from the one description of
// settings (core/param_table), of keys (scenario_keys) and of metrics. Editors complete and check with them.
#pragma once

#include <string>

namespace halfopen::sim {

// Of a scenario, with definitions for every object; two-space indented, with a line end.
std::string scenario_schema();

// Of a timeline, halfopen.timeline/1.
std::string timeline_schema();

}  // namespace halfopen::sim
