// SPDX-License-Identifier: Apache-2.0
// `omen interference simulate`: what packing by forecasts is worth on a trace of jobs.
#pragma once

#include <omen/plugin.hpp>

namespace omen::interference {

struct SimulateOptions {
  std::string speeds, gpu, method = "process";
  int gpus = 8;
  double load = 0.95, seen = 0.3, least_gain = 1.05;

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

}  // namespace omen::interference
