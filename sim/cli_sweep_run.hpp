// What `halfopen sweep` does, as plain values; cli_sweep.cpp knows its words.
#pragma once

#include <cstdint>
#include <string>

#include "sim/sweep.hpp"
#include "sim/sweep_rows.hpp"

namespace halfopen::sim {

struct SweepOptions {
  SweepPlan plan;  // without the text of its file
  RowFormat format = RowFormat::csv;
  std::string output;  // empty or "-": standard output
  bool force = false, list = false;
  unsigned jobs = 0;                             // 0: one for each processor
  std::uint64_t run = 0, shard = 1, shards = 1;  // run 0: all of them
};

// The exit status. Takes the plan away.
int command_sweep(SweepOptions& options);

}  // namespace halfopen::sim
