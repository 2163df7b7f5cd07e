// SPDX-License-Identifier: Apache-2.0
// The measured trainings of image networks on three GPUs, with graphs from the zoo.
#pragma once

#include <omen/opgraph/op_graph.hpp>
#include <string>
#include <vector>

#include "step/step_model.hpp"

namespace omen::driple::checks {

struct ProfiledStep {
  std::string gpu, model, optimizer, dataset;
  int batch = 0;
  double seconds = 0;
  opgraph::Job job;
  std::string setting() const { return model + std::to_string(batch) + optimizer; }
};
std::vector<ProfiledStep> read_steps();

// Whole runs; those that ran out of memory are among them.
struct ProfiledRun {
  std::string gpu, model, optimizer, dataset;
  int batch = 0, epochs = 0;
  double seconds = 0, steps = 0;
  bool out_of_memory = false;
  std::string setting() const { return model + std::to_string(batch) + optimizer; }
};
std::vector<ProfiledRun> read_runs();

opgraph::Job profiled_job(const std::string& model, int batch, const std::string& optimizer,
                          int classes);

// The efficiencies that the plugin ships.
OperatorModel shipped_operator_model();
std::vector<JobRow> job_rows(const std::vector<ProfiledStep>& steps,
                             const OperatorModel& operators);

}  // namespace omen::driple::checks
