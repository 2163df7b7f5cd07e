// SPDX-License-Identifier: Apache-2.0
// `omen loadbalance convert`: a published checkpoint becomes a model of loadbalance.network.
#pragma once

#include <omen/plugin.hpp>
#include <string>
#include <vector>

namespace omen::loadbalance {

struct ConvertOptions {
  std::string vocabulary;
  static std::vector<Option<ConvertOptions>> spec();
};

class ConvertCommand final : public Command {
 public:
  explicit ConvertCommand(ConvertOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  ConvertOptions options_;
};

}  // namespace omen::loadbalance
