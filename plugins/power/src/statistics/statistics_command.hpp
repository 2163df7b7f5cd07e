// SPDX-License-Identifier: Apache-2.0
// `omen power statistics`: one page about a collection, and about where a model errs in it.
#pragma once

#include <omen/plugin.hpp>
#include <string>
#include <vector>

namespace omen::power {

struct StatisticsOptions {
  int clusters = 6;
  std::string predictor, model, predictions;

  static auto spec() {
    using O = StatisticsOptions;
    return options(
        opt(&O::clusters, "clusters", "of the accelerators").range(1, 100),
        opt(&O::predictor, "predictor", "predictor whose errors are shown, such as power.seq"),
        opt(&O::model, "model", "its model file; the bundled one by default").path(),
        opt(&O::predictions, "predictions",
            "table of answers to the rows, as omen predict --csv writes it")
            .path());
  }
};

class StatisticsCommand final : public Command {
 public:
  explicit StatisticsCommand(StatisticsOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  StatisticsOptions options_;
};

Component statistics_component();

}  // namespace omen::power
