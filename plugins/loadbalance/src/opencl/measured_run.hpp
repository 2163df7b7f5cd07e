// SPDX-License-Identifier: Apache-2.0
// A kernel measured by the profiler in a process of its own, as the commands read it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "omen/run.hpp"
#include "opencl/split_job.hpp"
#include "opencl/split_options.hpp"

namespace omen::loadbalance {

struct MeasuredRun {
  std::vector<SplitSample> samples;
  std::array<double, 2> whole_ms{};
  double best_share = 0, best_ms = 0;    // what to use
  double split_share = 0, split_ms = 0;  // the best with work for both devices
  Agreement agreement;
  double merge_ms = 0;

  // The fastest run of one device alone, of those that the search made.
  double alone_ms(int device) const;
};

// `shares` as of the profiler. A process that dies is an OMEN_INVALID_DATA that says why kernels
// do.
MeasuredRun measure_run(const Run& run, const std::string& path, const SplitOptions& options,
                        const std::string& shares, double start_share);

}  // namespace omen::loadbalance
