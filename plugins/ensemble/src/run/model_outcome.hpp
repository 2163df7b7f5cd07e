// SPDX-License-Identifier: Apache-2.0
// How the training of a model went, from its rank to the parent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/run_job.hpp"

namespace omen::ensemble {

struct ModelOutcome {
  std::string state;
  std::int64_t steps = 0, epochs = 0;
  std::vector<double> losses, accuracy;
};
void write_outcome(const RunJob& job, const ModelChoice& model, const ModelOutcome& outcome);
std::optional<ModelOutcome> read_outcome(const RunJob& job, const ModelChoice& model);

// Part of the validation samples that most models name rightly; of equal votes the lower class
// counts. Nothing where nothing was validated. Models that diverged do not vote.
std::optional<double> vote_accuracy(const RunJob& job);

}  // namespace omen::ensemble
