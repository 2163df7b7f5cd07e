// SPDX-License-Identifier: Apache-2.0
// The state of a training between two steps, as one file.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace omen::torch_kit {

struct Checkpoint {
  std::int64_t epoch = 0;  ///< finished epochs
  std::int64_t step = 0;   ///< finished steps of the next one
  std::int64_t items = 0;  ///< items in those steps
  double loss_sum = 0;     ///< over those items
  std::int64_t best_epoch = 0;
  double best_loss = std::numeric_limits<double>::infinity();
  bool stopped_early = false;
  std::vector<double> train_loss, valid_loss;
  std::vector<at::Tensor> model, best, optimiser;
};

std::filesystem::path checkpoint_path(const std::string& state_dir);

/// Replaces the file atomically.
void write_checkpoint(const std::filesystem::path& path, const std::string& fingerprint,
                      const Checkpoint& checkpoint);

/// False where there is no file or where it cannot be used, then with the reason in *why.
bool read_checkpoint(const std::filesystem::path& path, const std::string& fingerprint,
                     Checkpoint* out, std::string* why);

}  // namespace omen::torch_kit
