// SPDX-License-Identifier: Apache-2.0
// Starts the ranks of a run, watches their signs of life, and says how it ended.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "run/run_job.hpp"

namespace omen::ensemble {

enum class Launcher { kMpirun, kSrun };
std::vector<std::string> launch_words(Launcher launcher, const RunJob& job,
                                      const std::filesystem::path& directory);

// Called twice a second with the mean step of the ranks that still train.
using Progress = std::function<void(double step)>;

// Waits for the end. OMEN_UNAVAILABLE with what happened where a rank failed, died or fell silent;
// all ranks have ended then. Whatever `progress` throws ends them, too.
void run_ranks(Launcher launcher, const RunJob& job, const std::filesystem::path& directory,
               const Progress& progress);

}  // namespace omen::ensemble
