// SPDX-License-Identifier: Apache-2.0
// `omen interference measure`: all pairs of our loads on this machine, as a dataset.
#pragma once

#include <omen/plugin.hpp>

namespace omen::interference {

struct MeasureOptions {
  double window_s = 0.8, warmup_s = 0.2, patience_s = 60;
  int repeats = 5;
  std::string places = "two-cores,one-core";

  static std::vector<Option<MeasureOptions>> spec();
};

class MeasureCommand final : public Command {
 public:
  explicit MeasureCommand(MeasureOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  MeasureOptions options_;
};

Component measure_component();

}  // namespace omen::interference
