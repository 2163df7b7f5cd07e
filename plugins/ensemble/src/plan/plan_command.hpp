// SPDX-License-Identifier: Apache-2.0
// `omen ensemble plan`: every planner alone on a described ensemble, with its chart.
#pragma once

#include <omen/plugin.hpp>

#include "plan/schedule.hpp"

namespace omen::ensemble {

struct PlanCommandOptions {
  double checkpoint_s = -1, restart_s = -1, epoch_error = 0;
  double distance = 20, distance_share = 0.15, alpha = 0.8;
  std::int64_t accelerators = 0;
  int draws = 20;

  static std::vector<Option<PlanCommandOptions>> spec();
};

class PlanCommand final : public Command {
 public:
  explicit PlanCommand(PlanCommandOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  PlanCommandOptions options_;
};

Component plan_command_component();

}  // namespace omen::ensemble
