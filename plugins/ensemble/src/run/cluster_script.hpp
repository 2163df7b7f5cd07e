// SPDX-License-Identifier: Apache-2.0
// Job files for clusters that start the same run there.
#pragma once

#include <string>

#include "run/run_job.hpp"
#include "run/run_options.hpp"

namespace omen::ensemble {

enum class Cluster { kSlurm, kPbs };

// A script for sbatch or qsub that runs `job`, made of `options`. Options that stand at their
// defaults are left out; shared memory is asked for on one host.
std::string cluster_script(Cluster cluster, const RunOptions& options, const RunJob& job,
                           const std::string& output);

}  // namespace omen::ensemble
