// SPDX-License-Identifier: Apache-2.0
// `omen driple convert`: a published state dictionary becomes a model of driple.gcn.
#pragma once

#include <omen/plugin.hpp>
#include <string>
#include <vector>

namespace omen::driple {

struct ConvertOptions {
  std::string operations;
  static std::vector<Option<ConvertOptions>> spec();
};

class ConvertCommand final : public Command {
 public:
  explicit ConvertCommand(ConvertOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  ConvertOptions options_;
};

}  // namespace omen::driple
