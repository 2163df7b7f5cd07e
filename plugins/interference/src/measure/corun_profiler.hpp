// SPDX-License-Identifier: Apache-2.0
// Profiler `interference.corun`: measures how fast two commands are beside each other.
#pragma once

#include <omen/plugin.hpp>

namespace omen::interference {

struct CorunProfilerOptions {
  double window_s = 5, warmup_s = 1, patience_s = 30;
  int repeats = 5;

  static auto spec() {
    using O = CorunProfilerOptions;
    return options(
        opt(&O::window_s, "window_s", "in which steps are counted").range(0.05, 3600).unit("s"),
        opt(&O::warmup_s, "warmup_s", "after the first steps, not counted")
            .range(0, 3600)
            .unit("s"),
        opt(&O::patience_s, "patience_s", "in which a command must finish its first step")
            .range(0.1, 3600)
            .unit("s"),
        opt(&O::repeats, "repeats", "turns of alone, alone and together").range(1, 1000));
  }
};

class CorunProfiler final : public Profiler {
 public:
  explicit CorunProfiler(CorunProfilerOptions options) : options_(std::move(options)) {}
  std::string probe() override;
  TableStream collect(const std::string& workload_json, const Run& run) override;

 private:
  CorunProfilerOptions options_;
};

Component corun_component();

}  // namespace omen::interference
