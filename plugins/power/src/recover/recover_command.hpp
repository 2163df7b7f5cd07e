// SPDX-License-Identifier: Apache-2.0
// `omen power recover`: accelerators for a network, searched and verified.
#pragma once

#include <omen/plugin.hpp>

namespace omen::power {

struct RecoverOptions {
  std::string goal = "power", hardware, profile = "tetris-65", surrogate, hold = "";
  double latency_ms = 0, area_mm2 = 0, power_w = 0, match_w = 0, caution = 0.25;
  bool gradient = false;
  int calls = 200, top = 5;

  static std::vector<Option<RecoverOptions>> spec();
};

class RecoverCommand final : public Command {
 public:
  explicit RecoverCommand(RecoverOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  RecoverOptions options_;
};

Component recover_component();

}  // namespace omen::power
