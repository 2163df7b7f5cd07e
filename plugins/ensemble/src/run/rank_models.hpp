// SPDX-License-Identifier: Apache-2.0
// The models that one rank trains: none, one, or several in turn on each batch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "run/rank_files.hpp"
#include "run/run_job.hpp"
#include "train/trainer.hpp"
#include "transport/mpi.hpp"

namespace omen::ensemble {

// A batch somewhere in memory.
struct BatchView {
  float* pixels;
  const std::int32_t* labels;
  std::int64_t count;
};

class RankModels {
 public:
  // Everybody in `world` makes one at the same time.
  RankModels(const RunJob& job, const Group& world, std::int64_t classes, RankLog& log,
             StageClocks& clocks);

  // Reads checkpoints and agrees with the others on the epoch that starts first.
  std::int64_t resume(const Group& group, std::int64_t steps_per_epoch);
  std::int64_t first_epoch() const noexcept { return first_epoch_; }
  // The step inside of this epoch that any model needs first.
  std::int64_t first_step(std::int64_t epoch, std::int64_t steps_per_epoch) const;

  // One step of every model that has not been there yet; `begun`: when the wait for it began.
  void train(const BatchView& batch, std::int64_t step, double begun);
  void begin_validation(std::int64_t epoch);
  void validate(const BatchView& batch);
  // Accuracy of each model, NaN where it took no part.
  std::vector<double> validated() const;
  void end_epoch(std::int64_t epoch, const std::vector<double>& accuracy);

  bool training() const;
  // Whether this rank must stay: it trains, or is there for the others only.
  bool needed() const;
  double last_loss() const;
  std::int64_t checkpoints() const noexcept { return checkpoints_; }
  std::int64_t failed_checkpoints() const noexcept { return failed_checkpoints_; }
  // Weights and predictions of every model whose first member is here.
  void write_results() const;

 private:
  struct Place {
    std::unique_ptr<Trainer> trainer;
    std::shared_ptr<Group> members;
    std::int64_t member = 0;
    std::vector<std::int32_t> seen;  // classes of the last validation
    std::int64_t right = 0;
    bool validates = false;
  };

  void save(const Place& place);

  const RunJob& job_;
  RankLog& log_;
  StageClocks& clocks_;
  std::vector<Place> places_;
  std::vector<std::int32_t> labels_;
  std::int64_t first_epoch_ = 0, first_step_ = 0;
  std::int64_t checkpoints_ = 0, failed_checkpoints_ = 0;
};

}  // namespace omen::ensemble
