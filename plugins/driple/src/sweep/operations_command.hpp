// SPDX-License-Identifier: Apache-2.0
// `omen driple operations`: how often each kind of operation occurs in graphs, and how many each
// has.
#pragma once

#include <omen/plugin.hpp>
#include <string>
#include <vector>

namespace omen::driple {

struct OperationsOptions {
  std::string write;

  static std::vector<Option<OperationsOptions>> spec();
};

class OperationsCommand final : public Command {
 public:
  explicit OperationsCommand(OperationsOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  OperationsOptions options_;
};

}  // namespace omen::driple
