// SPDX-License-Identifier: Apache-2.0
// `omen interference probe`: what a new job suffers and inflicts beside loads of known kind.
#pragma once

#include <omen/plugin.hpp>

namespace omen::interference {

struct ProbeOptions {
  double window_s = 10, warmup_s = 1, patience_s = 30;
  int repeats = 3;
  std::string name;

  static auto spec() {
    using O = ProbeOptions;
    return options(
        opt(&O::window_s, "window_s", "in which steps are counted").range(0.05, 3600).unit("s"),
        opt(&O::warmup_s, "warmup_s", "after the first steps, not counted")
            .range(0, 3600)
            .unit("s"),
        opt(&O::patience_s, "patience_s", "in which the command must finish its first step")
            .range(0.1, 3600)
            .unit("s"),
        opt(&O::repeats, "repeats", "turns of alone, alone and together").range(1, 1000),
        opt(&O::name, "name", "of the job in its profile; else the command's"));
  }
};

class ProbeCommand final : public Command {
 public:
  explicit ProbeCommand(ProbeOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  ProbeOptions options_;
};

Component probe_component();

}  // namespace omen::interference
