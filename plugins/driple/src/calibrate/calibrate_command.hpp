// SPDX-License-Identifier: Apache-2.0
// `omen driple calibrate`: a recorded run corrects the model of steps.
#pragma once

#include <omen/plugin.hpp>
#include <string>
#include <vector>

namespace omen::driple {

struct CalibrateOptions {
  std::string network, front_end, gpu, framework, framework_version, model, write;
  std::int64_t steps = 0;
  double period_s = 0.35;

  static std::vector<Option<CalibrateOptions>> spec();
};

class CalibrateCommand final : public Command {
 public:
  explicit CalibrateCommand(CalibrateOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  CalibrateOptions options_;
};

Component calibrate_component();

}  // namespace omen::driple
