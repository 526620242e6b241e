// A sweep as a table, one row a run: run, replicate, seed, the parameters under their pointers, the metrics,
// expectations (how many) and held (how many of them), fingerprint and digest. As CSV (RFC 4180, lines end
// with \n, nothing measured is an empty field) or as JSON lines (nothing measured is null). A row is one line
// and its bytes depend on its run alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/sweep.hpp"

namespace halfopen::sim {

enum class RowFormat : std::uint8_t { csv, jsonl };

// With its line end; empty for JSON lines. `identity`: only the columns of row_identity.
std::string sweep_header(const SweepPlan& plan, RowFormat format, bool identity = false);

// run, replicate, seed and the parameters: the beginning of the run's row, without anything after it.
std::string row_identity(const Sweep& sweep, const SweepRun& run, std::uint64_t seed, RowFormat format);

// The same as a row of its own, with its line end: what --list is made of.
std::string list_row(const Sweep& sweep, const SweepRun& run, std::uint64_t seed, RowFormat format);

std::string sweep_row(const Sweep& sweep, const SweepRecord& record, RowFormat format);

// How far a table that was begun earlier has come.
struct SweepBegun {
  std::uint64_t rows = 0;  // whole ones; the first so many of `runs`
  std::size_t bytes = 0;   // header and whole rows; what is after them is a line that was torn
  std::string foreign;     // why this is no table of these runs, as a sentence; empty if it is one
};

// `runs` must have been prepared. Throws SweepChanged.
SweepBegun sweep_begun(Sweep& sweep, const SweepRuns& runs, RowFormat format, std::string_view table);

}  // namespace halfopen::sim
