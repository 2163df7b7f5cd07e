// SPDX-License-Identifier: Apache-2.0
// `omen loadbalance run`: divides a kernel between two devices, and corrects the division from
// measured times.
#pragma once

#include "omen/plugin.hpp"
#include "opencl/split_options.hpp"

namespace omen::loadbalance {

struct RunOptions : SplitOptions {
  double share = -1;
  std::string predictor = "loadbalance.cost", model, emit = "none", record;
  bool sweep = false;

  static std::vector<Option<RunOptions>> spec() {
    using O = RunOptions;
    std::vector<Option<O>> all = split_options<O>();
    all.push_back(opt(&O::share, "share",
                      "percent of the work-groups for the first device to begin with; -1: what the "
                      "predictor says")
                      .range(-1, 100)
                      .unit("%"));
    all.push_back(opt(&O::predictor, "predictor", "who is asked for the share"));
    all.push_back(opt(&O::model, "model", "its model; empty: the default one").path());
    all.push_back(opt(&O::sweep, "sweep", "also measure every 5 % of the work"));
    all.push_back(opt(&O::emit, "emit", "c: print host code for the split instead of running it")
                      .choices("none", "c"));
    all.push_back(opt(&O::record, "record",
                      "table file (.omt) that gets graph, features and measured times of this run "
                      "as a further row; omen train reads it")
                      .path());
    return all;
  }
};

class RunCommand final : public Command {
 public:
  explicit RunCommand(RunOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  RunOptions options_;
};

}  // namespace omen::loadbalance
