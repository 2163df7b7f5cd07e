// SPDX-License-Identifier: Apache-2.0
// `omen driple simulate`: a queue of jobs on several GPUs under different policies.
#pragma once

#include <omen/plugin.hpp>
#include <string>
#include <vector>

namespace omen::driple {

struct SimulateOptions {
  std::string gpus = "v100,a100,h100", policy = "all";
  std::string predictor = "driple.step", model;
  double failure_s = 60;
  bool schedule = false;

  static std::vector<Option<SimulateOptions>> spec();
};

class SimulateCommand final : public Command {
 public:
  explicit SimulateCommand(SimulateOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  SimulateOptions options_;
};

Component simulate_component();

}  // namespace omen::driple
