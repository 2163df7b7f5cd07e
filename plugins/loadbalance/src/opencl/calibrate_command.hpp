// SPDX-License-Identifier: Apache-2.0
// `omen loadbalance calibrate`: measures kernels of this project on the machine of the user and
// fits what loadbalance.cost corrects its predictions with.
#pragma once

#include "omen/plugin.hpp"

namespace omen::loadbalance {

struct CalibrateOptions {
  std::string on, predictor = "loadbalance.cost", model, file, record;
  int repeats = 3, kernels = 12;
  double kernel_timeout = 60;

  static auto spec() {
    using O = CalibrateOptions;
    return options(
        opt(&O::on, "on", "the two devices, P:D,P:D, as of omen loadbalance run"),
        opt(&O::kernels, "kernels", "how many of the twelve kernels are measured").range(1, 12),
        opt(&O::repeats, "repeats", "runs of each kernel; the median counts").range(1, 1000),
        opt(&O::predictor, "predictor", "whose times are corrected").advanced(),
        opt(&O::model, "model", "its model; empty: the default one").path().advanced(),
        opt(&O::file, "file", "where the correction is kept; empty: the user's configuration")
            .path(),
        opt(&O::record, "record",
            "table file (.omt) that gets graphs, features and measured times; omen train reads it")
            .path(),
        opt(&O::kernel_timeout, "kernel_timeout", "a launch that takes longer is given up")
            .range(0.1, 86400)
            .unit("s"));
  }
};

class CalibrateCommand final : public Command {
 public:
  explicit CalibrateCommand(CalibrateOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  CalibrateOptions options_;
};

}  // namespace omen::loadbalance
