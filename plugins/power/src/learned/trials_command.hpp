// SPDX-License-Identifier: Apache-2.0
// `omen power trials`: which sizes of a network err least, and whether more data would help.
#pragma once

#include <omen/plugin.hpp>
#include <string>
#include <vector>

namespace omen::power {

struct TrialsOptions {
  std::string question = "sizes", predictor = "power.seq";
  int trials = 12, epochs = 8, seeds = 1;
  double held = 0.2;

  static auto spec() {
    using O = TrialsOptions;
    return options(
        opt(&O::question, "question",
            "sizes: random widths and depths; data: errors over the amount of data")
            .choices("sizes", "data"),
        opt(&O::predictor, "predictor", "whose network is tried")
            .choices("power.seq", "power.flat"),
        opt(&O::trials, "trials", "sizes that are tried, the usual ones among them").range(1, 1000),
        opt(&O::epochs, "epochs", "passes over the rows; more over parts of them").range(1, 10000),
        opt(&O::seeds, "seeds", "starts of each training").range(1, 20),
        opt(&O::held, "held", "share of the networks that trainings are judged by")
            .range(0.05, 0.5));
  }
};

class TrialsCommand final : public Command {
 public:
  explicit TrialsCommand(TrialsOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  TrialsOptions options_;
};

Component trials_component();

}  // namespace omen::power
