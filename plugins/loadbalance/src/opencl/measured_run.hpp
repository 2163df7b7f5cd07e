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
  std::array<OpenClDevice, 2> devices;  // with their place and name
  double start_share = 0;
  std::vector<SplitSample> samples;
  std::array<double, 2> whole_ms{};
  double best_share = 0, best_ms = 0;    // what to use
  double split_share = 0, split_ms = 0;  // the best with work for both devices
  double single_ms = 0;                  // the better device alone, in turns with that split
  GainDoubt doubt = GainDoubt::kNone;

  double gain() const { return single_ms / split_ms; }
  Agreement agreement;
  double merge_ms = 0;

  // The fastest run of one device alone, of those that the search made.
  double alone_ms(int device) const;
};

// `shares` as of the profiler. OMEN_INVALID_DATA with the name of the argument where the kernel
// leaves its buffers; a driver that dies is an OMEN_INTERNAL.
MeasuredRun measure_run(const Run& run, const std::string& path, const SplitOptions& options,
                        const std::string& shares, double start_share);

}  // namespace omen::loadbalance
