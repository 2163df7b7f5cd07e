// SPDX-License-Identifier: Apache-2.0
// Labels of one job from its trace: shares of each resource, time, step and outcome.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "omen/telemetry/trace_outcome.hpp"
#include "sweep/perf_table.hpp"

namespace omen::driple {

struct TraceOptions {
  double memory_bytes = 0;  // of the GPU; 0: as the trace says
  double period_s = 0.35;   // between samples, where a trace carries no time
};

struct ResourceLabels {
  Resource resource = Resource::gpu_util;
  double idle = 0, burst = 0, peak = 0;
  std::string phases;  // what an ordered segmentation with hysteresis says
};

struct TraceLabels {
  std::vector<ResourceLabels> resources;
  std::optional<double> seconds;  // of the job, where the trace holds them
  double covered_s = 0;           // from the first sample to the last
  std::optional<double> step_s;
  telemetry::RunOutcome outcome;
};

// The first GPU and the whole machine's CPU, by two clusters with burst as the higher one. Peaks
// are samples above 90 %, of GPU memory above 90 % of what the GPU has; nothing is above an unknown
// size.
TraceLabels labels_of_trace(const std::filesystem::path& trace, const TraceOptions& options);

// GPU, model, batch, optimizer, epochs and dataset of a file named after its job; the model may
// hold underscores. Empty where the name has fewer parts.
std::vector<std::string> job_of_file(const std::filesystem::path& trace);

}  // namespace omen::driple
