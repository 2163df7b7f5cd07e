// SPDX-License-Identifier: Apache-2.0
// `omen power measure`: energy of a command, or of a recorded trace, by the protocol.
#pragma once

#include <omen/plugin.hpp>
#include <omen/telemetry/recording.hpp>
#include <string>
#include <vector>

#include "meter/protocol.hpp"

namespace omen::power {

struct MeasureOptions {
  double idle_s = 5, ramp_s = 1, least_window_s = 2, within = 0.05, tdp_w = 0, inferences = 1;
  double most_drift = 0.05, most_spread = 0.05, interval_ms = 100;
  std::int64_t least_runs = 3, most_runs = 10;
  std::string trace, source, describe;
  std::string power_column = "power_w", energy_column = "energy_j", time_column = "latency_s";
  std::string sys_root = "/sys", nvml_library = telemetry::kNvmlLibrary;

  static std::vector<Option<MeasureOptions>> spec();
};

class MeasureCommand final : public Command {
 public:
  explicit MeasureCommand(MeasureOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  MeasureOptions options_;
};

Component measure_component();

}  // namespace omen::power
