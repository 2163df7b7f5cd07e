// SPDX-License-Identifier: Apache-2.0
// What the parent tells its ranks: everything of one run, as the file job.json of its directory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "rate/design.hpp"
#include "stage/block_maker.hpp"
#include "train/model_list.hpp"

namespace omen::ensemble {

struct RunJob {
  std::string data;  // path of the images
  Design design = Design::kSharedMemory;
  bool coupled = true;
  std::vector<ModelChoice> models;
  std::int64_t ranks = 1, preprocessors = 1;
  std::int64_t epochs = 1, batch = 64, block = 64;
  std::int64_t queue = 4;  // blocks that may wait for a trainer
  std::int64_t channels = 3, side = 32;
  PreprocessingOptions preprocessing;
  double valid_share = 0;
  std::int64_t patience = 0;
  std::int64_t checkpoint_steps = 0;  // 0: at the end of every epoch only
  double weight_decay = 4e-5;
  std::string devices = "cpu";
  bool sink = false;        // batches are dropped instead of trained on
  double train_rate = 0;    // images/s of an emulated accelerator; 0: really train
  std::string state;        // directory of checkpoints, weights and predictions
  std::string ring;         // file of the shared memory
  std::int64_t parent = 0;  // process that watches the ranks; 0: none
  std::string host;         // where that process runs
};

// job.json and back; OMEN_INVALID_DATA where it is no such file.
void write_job(const std::filesystem::path& directory, const RunJob& job);
RunJob read_job(const std::filesystem::path& directory);

// Which rank trains member `member` of model `model`: consecutive places, round and round.
std::int64_t rank_of(const RunJob& job, std::size_t model, std::int64_t member);
// Ranks that a run has at most use for: one for each member of each model.
std::int64_t places_of(const std::vector<ModelChoice>& models);

// All that decides the weights of a model; a checkpoint with another text is not used.
std::string model_fingerprint(const RunJob& job, const ModelChoice& model);

// Files of a model in RunJob::state.
std::filesystem::path checkpoint_file(const RunJob& job, const ModelChoice& model);
std::filesystem::path weights_file(const RunJob& job, const ModelChoice& model);
std::filesystem::path predictions_file(const RunJob& job, const ModelChoice& model);
std::filesystem::path labels_file(const RunJob& job);

}  // namespace omen::ensemble
