// The timeline as JSON lines, for tools that read a stream: the meta object, each event, the summary, each
// expectation, told apart by "type". The event lines are the bytes that the fingerprint is made of.
#pragma once

#include <string>
#include <vector>

#include "sim/expectations.hpp"
#include "sim/timeline.hpp"

namespace halfopen::sim {

std::string timeline_jsonl(const Timeline& timeline, const std::vector<Judgement>& judgements);

}  // namespace halfopen::sim
