// SPDX-License-Identifier: Apache-2.0
// `omen loadbalance dataflow-test`: how well a data-flow model answers questions with known
// answers.
#pragma once

#include <omen/plugin.hpp>
#include <string>
#include <vector>

namespace omen::loadbalance {

struct DataflowTestOptions {
  std::int64_t steps = 0;

  static std::vector<Option<DataflowTestOptions>> spec();
};

class DataflowTestCommand final : public Command {
 public:
  explicit DataflowTestCommand(DataflowTestOptions options) : options_(options) {}
  // MODEL, a file or the name of an installed model, and DATA, a table file with node_targets.
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  DataflowTestOptions options_;
};

}  // namespace omen::loadbalance
