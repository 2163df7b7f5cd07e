// SPDX-License-Identifier: Apache-2.0
// Shares of the samples of profiled jobs in which a resource was idle, and at its peak.
#pragma once

#include <string>
#include <vector>

#include "profiled_jobs.hpp"
#include "step/use_model.hpp"
#include "sweep/perf_table.hpp"

namespace omen::driple::checks {

struct ProfiledUse {
  std::string gpu, model, optimizer, dataset;
  int batch = 0, epochs = 0;
  double idle = 0, peak = 0, steps = 0;
  // The measured step that it is a run of: setting, dataset and GPU in one word.
  std::string step() const { return model + std::to_string(batch) + optimizer + dataset + gpu; }
  UseRow row(const JobRow& job, double step_seconds) const;
};
// As ProfiledUse::step() names it.
std::string word_of(const ProfiledStep& step);

// Jobs that finished, from the published perf table with its clusters in order.
std::vector<ProfiledUse> read_use(Resource resource);

}  // namespace omen::driple::checks
