// SPDX-License-Identifier: Apache-2.0
// `omen driple sweep`: runs a grid of jobs under telemetry and makes a perf table of their traces.
#pragma once

#include <omen/plugin.hpp>
#include <string>
#include <vector>

#include "sweep/trace_labels.hpp"

namespace omen::driple {

struct SweepOptions {
  std::string into = "sweep";
  double interval_ms = 100;
  double tail_s = 5;
  double pause_s = 5;
  double memory_gib = 0;
  std::string nvml_library = "libnvidia-ml.so.1";

  static std::vector<Option<SweepOptions>> spec();
};

class SweepCommand final : public Command {
 public:
  explicit SweepCommand(SweepOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  SweepOptions options_;
};

// Rows of every run in a directory of a sweep. Runs that did not finish have their outcome.
PerfTable perf_of_sweep(const std::filesystem::path& directory, const TraceOptions& options);

}  // namespace omen::driple
