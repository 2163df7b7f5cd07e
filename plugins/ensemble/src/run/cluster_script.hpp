// SPDX-License-Identifier: Apache-2.0
// Job files for clusters that start the same run there.
#pragma once

#include <string>

#include "run/run_options.hpp"

namespace omen::ensemble {

enum class Cluster { kSlurm, kPbs };

// A script for sbatch or qsub. Options that stand at their defaults are left out.
std::string cluster_script(Cluster cluster, const RunOptions& options, std::int64_t ranks,
                           std::uint64_t seed, const std::string& output);

}  // namespace omen::ensemble
