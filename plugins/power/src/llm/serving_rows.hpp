// SPDX-License-Identifier: Apache-2.0
// Rows of `workloads` as servings, with GPUs by name or by their figures.
#pragma once

#include <cstdint>
#include <omen/dataset.hpp>
#include <omen/run.hpp>
#include <string>
#include <vector>

#include "llm/llm_model.hpp"

namespace omen::power {

struct Precision {
  const char* name;
  const char* rate;  // figure of the registry that arithmetic runs at
  double bytes;      // of a weight, with its scales
};
// Nothing for a name that is not known.
const Precision* find_precision(const std::string& name);
std::vector<std::string> precision_names();

// Figures of the registry; OMEN_NOT_FOUND for unknown names, OMEN_INVALID_DATA where a needed
// figure was not published.
Gpu find_gpu(const std::string& name, const Precision& precision);

struct ServingRow {
  std::int64_t workload_id = 0;
  std::int32_t candidate_id = -1;
  std::int32_t group = 0;
  Serving serving;
  double requests_per_s = 0;  // 0: the batch is given
  double trust = 1;
  std::string refusal;  // why the row cannot be answered; empty: it can
};

// One row per workload, or per workload and candidate, whose columns stand above the workload's.
std::vector<ServingRow> read_servings(const Dataset& in, const Run& run);

// Rows that can be answered, with their targets time_s and power_w.
std::vector<MeasuredRun> read_measured_runs(const Dataset& in, const Run& run);

}  // namespace omen::power
