// SPDX-License-Identifier: Apache-2.0
// `omen loadbalance ablation`: every model of the study on the same folds, in one table.
#pragma once

#include <omen/plugin.hpp>
#include <string>
#include <vector>

namespace omen::loadbalance {

struct AblationOptions {
  std::int64_t folds = 10;
  std::int64_t epochs = 4;
  std::int64_t readout_epochs = 100;
  double dropout = 0;
  std::vector<std::string> only;

  static std::vector<Option<AblationOptions>> spec();
};

class AblationCommand final : public Command {
 public:
  explicit AblationCommand(AblationOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  AblationOptions options_;
};

Component ablation_component();

}  // namespace omen::loadbalance
