// SPDX-License-Identifier: Apache-2.0
// Measured kernels as a table file that predictors learn from.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "omen/table.hpp"
#include "opencl/measured_run.hpp"

namespace omen::loadbalance {

// What was measured of one workload, as the tasks of this track name it: share, share_class,
// device, t_cpu_ms and t_gpu_ms of the devices alone, split_ms and gain.
Table target_row(std::int64_t workload_id, const MeasuredRun& measured);

// Adds one workload with its graph and targets to the file, which is made where it does not exist.
// OMEN_INVALID_DATA where the file holds tables of another kind.
void record_run(const std::filesystem::path& file, const std::map<std::string, Table>& tables,
                const MeasuredRun& measured);

}  // namespace omen::loadbalance
