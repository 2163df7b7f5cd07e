// SPDX-License-Identifier: Apache-2.0
// What a finished run hands out: tables, files of the output directory, curves.
#pragma once

#include <filesystem>
#include <omen/plugin.hpp>

#include "run/run_job.hpp"

namespace omen::ensemble {

// Sums over the ranks of a run.
struct RunTotals {
  double run_s = 0;                     // the longest rank, after start-up
  double cpu_s = 0, startup_cpu_s = 0;  // of all ranks
  std::int64_t samples = 0;             // that arrived at all ranks
  std::int64_t checkpoints = 0, failed_checkpoints = 0, damaged = 0;
  std::int64_t host_ranks = 1;  // the most on one host
  double began = 0, ended = 0;  // Unix seconds of the ranks
};
RunTotals totals_of(const RunJob& job, const std::filesystem::path& directory);

// Tables `models` and `run`.
void put_tables(const RunJob& job, const RunTotals& totals, const TablesOut& out);
// run.json, rate.csv, steps, stages, queues, the trace of the machine, logs, weights and event
// files.
void write_output(const RunJob& job, const RunTotals& totals,
                  const std::filesystem::path& directory, const std::filesystem::path& output);
void put_curves(const RunJob& job, const Run& run);

}  // namespace omen::ensemble
