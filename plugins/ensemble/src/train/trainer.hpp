// SPDX-License-Identifier: Apache-2.0
// Trains one network batch by batch, keeps its history, and writes checkpoints and weights.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "stage/block.hpp"
#include "train/model_list.hpp"

namespace omen::ensemble {

enum class ModelState { kTraining, kFinished, kStoppedEarly, kDiverged };
const char* model_state_name(ModelState state);

struct TrainerSetup {
  std::int64_t batch = 64;
  std::int64_t channels = 3, side = 32, classes = 10;
  double weight_decay = 4e-5;
  std::int64_t patience = 0;  // epochs without a better validation; 0: never stops early
  std::string device = "cpu";
  // Of the ranks that divide each batch of this model.
  std::int64_t member = 0, members = 1;
  // Adds numbers over these ranks, in place; empty for one.
  std::function<void(float*, std::size_t)> sum;
};

// What a model has been through; kept in checkpoints.
struct ModelHistory {
  std::int64_t step = 0, epoch = 0;
  ModelState state = ModelState::kTraining;
  std::vector<double> losses;    // of every step
  std::vector<double> accuracy;  // of every validation
  std::int64_t best_epoch = 0;
};

class Trainer {
 public:
  // OMEN_NOT_FOUND and OMEN_INVALID_DATA where the network cannot be made.
  Trainer(const ModelChoice& model, TrainerSetup setup);
  ~Trainer();

  const ModelChoice& model() const noexcept { return model_; }
  const ModelHistory& history() const noexcept { return history_; }
  bool trains() const noexcept { return history_.state == ModelState::kTraining; }

  // One step on a batch: pixels as in a block. A loss that is no number ends this model alone.
  void train(float* pixels, const std::int32_t* labels);
  // Classes that the network sees in `count` samples.
  std::vector<std::int32_t> classify(float* pixels, std::int64_t count);
  // Ends an epoch; `accuracy` NaN: nothing was validated.
  void end_epoch(double accuracy, std::int64_t epochs);

  // Atomic. A checkpoint of another model, data or option is refused by `fingerprint`.
  void save_checkpoint(const std::filesystem::path& path, const std::string& fingerprint) const;
  // False where there is none that can be used; `why` says then what is wrong with it, if anything.
  bool load_checkpoint(const std::filesystem::path& path, const std::string& fingerprint,
                       std::string* why);
  // Weights and buffers as safetensors.
  void save_weights(const std::filesystem::path& path) const;

 private:
  struct Torch;

  ModelChoice model_;
  TrainerSetup setup_;
  ModelHistory history_;
  std::unique_ptr<Torch> torch_;
};

// LibTorch with one thread and with operators that repeat; for every process that trains.
void prepare_torch(unsigned threads);

}  // namespace omen::ensemble
