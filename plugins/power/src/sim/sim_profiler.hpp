// SPDX-License-Identifier: Apache-2.0
// Profiler `power.sim`: what the simulator counts while a network runs on an accelerator.
#pragma once

#include <omen/plugin.hpp>

#include "sim/sim_predictor.hpp"

namespace omen::power {

class SimProfiler final : public Profiler {
 public:
  explicit SimProfiler(SimPredictorOptions options) : options_(std::move(options)) {}
  std::string probe() override;
  TableStream collect(const std::string& workload_json, const Run& run) override;

 private:
  SimPredictorOptions options_;
};

Component sim_profiler_component();

}  // namespace omen::power
