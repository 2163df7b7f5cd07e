// SPDX-License-Identifier: Apache-2.0
// Mini-batch training with early stopping, checkpoints that resume exactly, progress and cancel.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "omen/run.hpp"
#include "omen/torch/device.hpp"
#include "omen/torch/state_dict.hpp"

namespace omen::torch_kit {

/// Cuts `order` into consecutive batches of at most `batch_items` items and, where `batch_cost`
/// is above 0, at most that sum of `cost` (edges or nodes of each item, indexed by item). An item
/// that is more expensive than that makes a batch of its own.
std::vector<std::vector<std::int64_t>> plan_batches(const std::vector<std::int64_t>& order,
                                                    const std::vector<std::int64_t>& cost,
                                                    std::int64_t batch_items,
                                                    std::int64_t batch_cost);

struct AdamOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  bool decoupled_decay = false;  ///< decay the weights themselves, not through the gradient
};

/// Adam (arXiv:1412.6980) with LibTorch's fused step.
class Adam {
 public:
  Adam(std::vector<at::Tensor> parameters, const AdamOptions& options);

  /// One update by the present gradients; parameters without one stay as they are.
  void step(double learning_rate);
  void zero_grad();
  /// Scales all gradients so that their common norm is at most `limit` (0: no limit); returns the
  /// norm before.
  double clip_gradients(double limit);

  /// First moments, second moments and step counts, in this order for all parameters.
  std::vector<at::Tensor> state() const;
  void restore(const std::vector<at::Tensor>& state);

 private:
  AdamOptions options_;
  std::vector<at::Tensor> parameters_, first_, second_, steps_;
};

enum class Schedule { kConstant, kCosine };

struct TrainingOptions {
  std::int64_t max_epochs = 300;
  std::int64_t batch_items = 32;
  std::int64_t batch_cost = 0;  ///< see plan_batches
  bool shuffle = true;
  AdamOptions adam;
  Schedule schedule = Schedule::kConstant;  ///< kCosine falls to 0 at max_epochs
  std::int64_t warmup_epochs = 0;           ///< the rate grows linearly over the first epochs
  double clip_norm = 0;                     ///< 0: gradients are not clipped
  std::int64_t patience = 30;  ///< epochs without a better validation loss; 0: never stop early
  double min_delta = 0;        ///< what counts as better
  std::uint64_t seed = 0;
  unsigned threads = 0;            ///< 0: as LibTorch is set
  std::string state_dir;           ///< empty: no checkpoints
  double checkpoint_seconds = 30;  ///< time between checkpoints; 0: after every step
  std::string fingerprint;  ///< all else that decides the result, such as task hash and options
};

/// Any of them may be empty.
struct TrainingHooks {
  std::function<bool()> is_cancelled;
  std::function<void(double fraction, const std::string& stage)> progress;
  std::function<void(const char* name, std::int64_t step, double value)> metric;
  std::function<void(const std::string& message)> log;
};

/// Hooks that report to the host; `run` must outlive them.
inline TrainingHooks hooks_of(const Run& run) {
  TrainingHooks hooks;
  hooks.is_cancelled = [&run] { return run.cancelled(); };
  hooks.progress = [&run](double f, const std::string& stage) { run.progress(f, stage.c_str()); };
  hooks.metric = [&run](const char* n, std::int64_t s, double v) { run.metric(n, s, v); };
  return hooks;
}

/// Seed, threads and state directory of the call.
inline void apply(const Run& run, TrainingOptions& options) {
  options.seed = run.seed();
  options.threads = run.threads();
  options.state_dir = run.state_dir();
}

/// What is trained.
struct TrainingTask {
  StateDict state;
  std::int64_t items = 0;
  std::vector<std::int64_t> cost;  ///< empty, or one number per item for batch_cost
  /// Mean loss of these items, with its graph. Random numbers come from LibTorch's generator,
  /// which is seeded anew before every step.
  std::function<at::Tensor(const std::vector<std::int64_t>& items)> loss;
  /// Validation loss, lower is better; empty: no early stopping, the last weights are kept.
  std::function<double()> validate;
  /// Switches dropout and the like on and off; may be empty.
  std::function<void(bool training)> set_training;
};

struct TrainingResult {
  std::int64_t epochs = 0;      ///< epochs that were finished, also before a resume
  std::int64_t best_epoch = 0;  ///< the epoch whose weights are kept, from 1
  double best_loss = 0;         ///< its validation loss (training loss where there is none)
  bool stopped_early = false;
  bool resumed = false;
  std::vector<double> train_loss, valid_loss;  ///< by epoch
};

/// Trains in place and leaves the best weights in task.state. Metrics "train_loss" and
/// "valid_loss" are reported per epoch.
///
/// With a state_dir, a checkpoint is written atomically every checkpoint_seconds, on cancellation
/// and at the end. A later call with the same fingerprint, options and model goes on from there
/// and gives bit for bit the result of an uninterrupted run with as many threads; a checkpoint of
/// another training is reported to hooks.log and replaced.
///
/// Throws OMEN_CANCELLED after at most one step, OMEN_INVALID_DATA when a loss is not finite.
TrainingResult train(TrainingTask& task, const TrainingOptions& options,
                     const TrainingHooks& hooks = {});

}  // namespace omen::torch_kit
