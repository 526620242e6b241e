// The timeline as one JSON document, `halfopen.timeline/1`. One event, lane or column a line, so that two
// timelines can be compared with the tools that people already have.
#pragma once

#include <string>
#include <vector>

#include "sim/expectations.hpp"
#include "sim/timeline.hpp"
#include "sim/writer_parts.hpp"

namespace halfopen::sim {

std::string timeline_json(const Timeline& timeline, const std::vector<Judgement>& judgements);

// The same bytes without the value of meta.version: what golden timelines are compared by, because a release
// must not make every one of them differ.
std::string without_version(std::string_view json);

}  // namespace halfopen::sim
