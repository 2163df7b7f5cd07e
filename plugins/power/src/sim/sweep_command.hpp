// SPDX-License-Identifier: Apache-2.0
// `omen power sweep`: a network over many accelerators, with rooflines and sensitivities.
#pragma once

#include <omen/plugin.hpp>

namespace omen::power {

struct SweepOptions {
  std::string parameter = "rows,cols", hardware, profile = "tetris-65";

  static auto spec() {
    using O = SweepOptions;
    return options(
        opt(&O::parameter, "parameter", "one or two parameters, such as rows or rows,cols"),
        opt(&O::hardware, "hardware", "accelerator that the others are held at"),
        opt(&O::profile, "profile", "energies, as for power.sim"));
  }
};

class SweepCommand final : public Command {
 public:
  explicit SweepCommand(SweepOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  SweepOptions options_;
};

Component sweep_component();

}  // namespace omen::power
