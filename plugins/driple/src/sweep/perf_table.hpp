// SPDX-License-Identifier: Apache-2.0
// Perf tables: shares of idle, busy and peak samples of each resource, a few rows a job.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace omen::driple {

enum class Resource : std::uint8_t { gpu_mem_util, gpu_util, cpu_util, gpu_memory, net_rx, net_tx };
// As the published tables write it.
std::string_view word(Resource resource);

// What tells which of two unordered clusters is the high one.
enum class Evidence : std::uint8_t {
  measured,  // from a trace
  proven,    // samples above the peak threshold fit into one of them only
  likely,    // training keeps GPUs busy: the larger share
  unknown    // the file's own order
};
std::string_view word(Evidence evidence);

struct PerfRow {
  std::vector<std::string> job;  // values of PerfTable::job_columns
  Resource resource = Resource::gpu_util;
  double idle = 0, burst = 0, peak = 0;  // shares of samples; NaN where there is none
  double seconds = std::numeric_limits<double>::quiet_NaN();         // of the whole job
  double scaled_seconds = std::numeric_limits<double>::quiet_NaN();  // between 0 and 1
  double step_s = std::numeric_limits<double>::quiet_NaN();
  Evidence evidence = Evidence::measured;
  bool mended = false;  // columns or clusters were exchanged
  std::string outcome;  // of the job; "suspect" where its time says that it cannot have finished
};

enum class PerfSchema : std::uint8_t {
  single,      // GPU, Model, BatchSize, Optimizer, Epoch, Dataset and an execution time
  distributed  // GPU, Model, Data Set, Sync/Async, Hyper-Parameter, Job Name
};

struct PerfTable {
  std::vector<std::string> job_columns;
  std::vector<PerfRow> rows;
  bool headers_swapped = false;  // in the file that was read
  double least_seconds = 0, most_seconds = 0;

  // (t - least) / (most - least) over all rows; the two numbers stay with the table.
  void scale_seconds();
};

// Reads either published schema. In the single-GPU one the idle and active columns are exchanged
// and clusters have no order: both are recognised by the peak shares and mended, and runs whose
// throughput is impossible beside their neighbours are suspect. OMEN_INVALID_DATA with the line.
PerfTable parse_perf_csv(std::string_view text, const std::string& where);

// The published schema by the job's columns, with each share under its right name; jobs without
// samples have no row in it.
std::string perf_csv(const PerfTable& table);

// Columns of jobs in a schema.
const std::vector<std::string>& job_columns_of(PerfSchema schema);

}  // namespace omen::driple
