// SPDX-License-Identifier: Apache-2.0
// Runs a training of somebody else until its marks say what its batches cost.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace omen::ensemble {

// Seconds of an image.
struct JobCosts {
  std::string source;  // what handed out the batches
  std::int64_t batches = 0, images = 0;
  double batch = 0;
  double prepare_cpu_s = 0, prepare_wall_s = 0, train_cpu_s = 0, train_wall_s = 0;
};

struct MarkedJob {
  std::vector<std::string> words;
  std::int64_t batches = 100;       // after which the job is ended; 0: it ends by itself
  std::filesystem::path directory;  // for the modules that Python finds, and what they write
  std::string ring;                 // where its readers look; empty: where they usually do
};

// OMEN_INVALID_DATA where the job ends without a batch that was timed, OMEN_UNAVAILABLE where it
// fails. `step` is called while it runs and may throw.
JobCosts run_marked_job(const MarkedJob& job, const std::function<void()>& step);

}  // namespace omen::ensemble
