// SPDX-License-Identifier: Apache-2.0
// The public measurements of language models as runs, with the figures of their GPUs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "llm/llm_model.hpp"

namespace omen::power::checks {

enum class RunSource {
  kBenchPower,       // LLM-Inference-Bench, with power
  kBenchLatency,     // the same without
  kBenchFirstToken,  // its runs of one token
  kSplitwise,        // whole requests
  kSplitwisePrompt,  // their prefill
};

struct PublicRun {
  MeasuredRun run;
  RunSource source = RunSource::kBenchPower;
  std::string shape, gpu;     // groups: total and active parameters to two digits; name of the GPU
  bool doubtful = false;      // the window of its power is
  bool whole_request = true;  // all tokens that were asked for came
};

// `directory`: of the data, OMEN_DATA. The figures of GPUs are those beside the measurements.
std::vector<PublicRun> public_runs(const std::filesystem::path& directory);
std::optional<std::filesystem::path> llm_data_directory();

}  // namespace omen::power::checks
