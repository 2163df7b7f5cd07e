// SPDX-License-Identifier: Apache-2.0
// `omen driple perf`: perf tables from traces, from a sweep, or from a published table.
#pragma once

#include <omen/plugin.hpp>
#include <string>
#include <vector>

namespace omen::driple {

struct PerfOptions {
  double memory_gib = 0;
  double period_s = 0.35;
  std::string write;

  static std::vector<Option<PerfOptions>> spec();
};

class PerfCommand final : public Command {
 public:
  explicit PerfCommand(PerfOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  PerfOptions options_;
};

}  // namespace omen::driple
