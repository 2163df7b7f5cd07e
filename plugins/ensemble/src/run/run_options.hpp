// SPDX-License-Identifier: Apache-2.0
// Options of a run, and the job that they describe.
#pragma once

#include <omen/plugin.hpp>

#include "run/launcher.hpp"
#include "run/run_job.hpp"

namespace omen::ensemble {

struct RunOptions {
  std::string design = "shared-memory", models = "tiny", data = "synthetic:1024";
  std::string pace = "coupled", recipe = "inception", damaged = "blank", optimiser = "sgd";
  std::string launcher = "mpirun", emit = "none";
  std::int64_t ranks = 0, preprocessors = 1, epochs = 1, batch = 64, block = 0, queue = 4;
  int workers = 1, size = 32, channels = 3;
  std::int64_t sample_queue = 64, patience = 0, checkpoint = 0;
  double validation = 0, learning_rate = 0.01, weight_decay = 4e-5, train_rate = 0;
  bool scaled_decode = false;

  static std::vector<Option<RunOptions>> spec();
};

// Checked; `data` is a path. OMEN_INVALID_ARGUMENT where options do not go together.
RunJob job_of(const RunOptions& options, std::uint64_t seed, const std::string& devices,
              const std::string& data);

// The path of the images: as named, or a file of `synthetic:COUNT[:WIDTHxHEIGHT]` that is made in
// `place` unless it is there.
std::string data_path(const std::string& data, const std::filesystem::path& place,
                      std::uint64_t seed, const Run& run);

Launcher launcher_of(const std::string& name);

}  // namespace omen::ensemble
