// What came in and what became of it, per bin: the sparklines in the account for a person, and the bins that
// its headline speaks of. Both read the same bins, so that they never name different numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "sim/text_chart.hpp"
#include "sim/timeline.hpp"

namespace halfopen::sim {

struct WorstBin {
  std::uint64_t failed = 0, ended = 0;
  Nanos from = 0, to = 0;
  double share() const { return static_cast<double>(failed) / static_cast<double>(ended); }
};

// The bin in which the largest share failed, if any did; of equal shares that of the most requests, of equal
// numbers the first.
std::optional<WorstBin> worst_bin(const Timeline& timeline);

// From the first bin with a fail-open pick to the end of the last.
struct Span {
  Nanos from = 0, to = 0;
};
std::optional<Span> fail_open_span(const Timeline& timeline);

std::string traffic_rows(const Timeline& timeline, const Chart& chart);

}  // namespace halfopen::sim
